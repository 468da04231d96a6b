import type { OwnerReference } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { eachOnce, type Kind } from '../../../api/kind.ts';
import type { KubeObject } from '../../../api/object.ts';
import type { Client } from '../../../client/client.ts';
import type { DefinedKinds } from '../../../client/controller/defined-kinds.ts';
import { defineController } from '../../../client/controller/define-controller.ts';
import { type Controller, type Source, source, Trigger } from '../../../client/controller/loop.ts';
import type { EventRecorder } from '../../../client/events/event-recorder.ts';
import type { Clock } from '../../../world/world.ts';
import { type GarbageCollectorAction, garbageCollectorHandlers, kindsByName, type OwnerLookup } from './actions.ts';
import { decideGarbage, type GarbageCollectorSnapshot } from './decide.ts';
import { OwnerGraph } from './graph.ts';

export interface GarbageCollectorOptions {
  readonly clock: Clock;
  readonly client: Client;
  /** The built-in kinds. */
  readonly kinds: readonly Kind[];
  /** The kinds of CustomResourceDefinitions, which come and go. */
  readonly definedKinds: DefinedKinds;
  readonly recorder: Pick<EventRecorder, 'record'>;
}

/** Deletes objects whose owners are gone, and finishes foreground deletion and orphaning. Keys are uids. */
export function garbageCollector({
  clock,
  client,
  kinds,
  definedKinds,
  recorder,
}: GarbageCollectorOptions): Controller<string, GarbageCollectorSnapshot, GarbageCollectorAction> {
  const described = kindsByName(kinds);
  const kindOf: OwnerLookup['kindOf'] = (of) => described(of) ?? definedKinds.find(of);
  const graph = new OwnerGraph(kindOf);
  const answered = new Trigger<string>();

  const follow = (kind: Kind): Source<string> =>
    source(kind, (change) => {
      const { toEnqueue, misplaced } = graph.change(change);
      for (const { dependent, reference } of misplaced) recorder.record(dependent, misplacedReport(dependent, reference));
      return toEnqueue;
    });

  /** A new kind is served: objects that name owners of this kind can be decided now. */
  const ownedBy = (kind: Kind): Source<string> => ({
    subscribe(_, add) {
      for (const uid of graph.ownedBy(kind)) add(uid);
      return () => undefined;
    },
  });

  return defineController({
    name: 'garbage-collector',
    sources: [answered, ...eachOnce(kinds).filter(isCollected).map(follow), definedKinds.each((kind) => both(follow(kind), ownedBy(kind)))],
    snapshot: (uid) => graph.snapshot(uid),
    decide: decideGarbage,
    actions: garbageCollectorHandlers(client, {
      kindOf,
      lookedUp: (owner, exists, dependent) => {
        graph.lookedUp(owner, exists, clock.now());
        answered.fire(dependent);
      },
    }),
    parallelism: 20,
  });
}

const both = (a: Source<string>, b: Source<string>): Source<string> => ({
  subscribe(informers, add) {
    const [endA, endB] = [a.subscribe(informers, add), b.subscribe(informers, add)];
    return () => {
      endA();
      endB();
    };
  },
});

/** As in Kubernetes: kinds that can be deleted, listed and watched, except Events, which are many and own nothing. */
function isCollected(kind: Kind): boolean {
  return kind.plural !== 'events' && (['delete', 'list', 'watch'] as const).every((verb) => kind.verbs.includes(verb));
}

function misplacedReport({ metadata }: Stored<KubeObject>, { apiVersion, kind, name, uid }: OwnerReference): Parameters<EventRecorder['record']>[1] {
  const namespace = metadata.namespace ?? '';
  const message = `ownerRef [${apiVersion}/${kind}, namespace: ${namespace}, name: ${name}, uid: ${uid}] does not exist in namespace ${JSON.stringify(namespace)}`;
  return { type: 'Warning', reason: 'OwnerRefInvalidNamespace', message };
}
