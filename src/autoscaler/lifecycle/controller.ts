import type { Node } from '../../api/generated/types.ts';
import { untypedKind } from '../../api/kind.ts';
import { nodeKind } from '../../api/kinds/core/node.ts';
import { type NodeClaim, nodeClaimKind } from '../../api/kinds/karpenter/node-claim.ts';
import type { Client } from '../../client/client.ts';
import { defineController } from '../../client/controller/define-controller.ts';
import { type Controller, type Outcome, source, Trigger } from '../../client/controller/loop.ts';
import { ObjectWriter } from '../../client/controller/object-writer.ts';
import type { RecordedEvents } from '../../client/events/event-dedup.ts';
import { changedObject } from '../../client/informers/cache.ts';
import type { Clock } from '../../world/world.ts';
import { isFailure } from '../cloud-provider.ts';
import type { ClusterState } from '../cluster-state.ts';
import type { LifecycleAction } from './actions.ts';
import { decideLifecycle, type LaunchAnswer, type LifecycleSnapshot } from './decide.ts';

export interface LifecycleOptions {
  readonly state: ClusterState;
  readonly client: Client;
  readonly events: RecordedEvents;
  readonly clock: Clock;
}

/** Follows each NodeClaim: its instance, its Node, and the end of both. */
export function nodeClaimLifecycle(options: LifecycleOptions): Controller<string, LifecycleSnapshot, LifecycleAction> {
  const { state, client, events } = options;
  const lifecycle = new Lifecycle(options);
  return defineController<string, LifecycleSnapshot, LifecycleAction>({
    name: 'nodeclaim-lifecycle',
    parallelism: 32,
    sources: [
      lifecycle.trigger,
      source(nodeClaimKind, (change) => lifecycle.claimChanged(changedObject(change), change.after === undefined)),
      source(nodeKind, ({ before, after }) => [before, after].flatMap((node) => (node === undefined ? [] : (state.claimOf(node)?.metadata.name ?? [])))),
    ],
    snapshot: (key) => lifecycle.snapshot(key),
    decide: decideLifecycle,
    writer: new ObjectWriter(client, [untypedKind(nodeClaimKind), untypedKind(nodeKind)]),
    events,
    actions: {
      launchInstance: ({ object }) => lifecycle.launch(object),
      terminateInstance: ({ object }) => lifecycle.terminate(object),
    },
  });
}

class Lifecycle {
  readonly trigger = new Trigger<string>();
  readonly #options: LifecycleOptions;
  /** By uid, until the claim is gone. */
  readonly #launches = new Map<string, LaunchAnswer>();
  readonly #terminations = new Map<string, 'terminating' | 'gone'>();

  constructor(options: LifecycleOptions) {
    this.#options = options;
  }

  claimChanged({ metadata: { name = '', uid = '' } }: NodeClaim, isGone: boolean): readonly string[] {
    if (isGone) {
      this.#launches.delete(uid);
      this.#terminations.delete(uid);
    }
    return [name];
  }

  snapshot(key: string): LifecycleSnapshot | undefined {
    const { state, events } = this.#options;
    const claim = state.claims.getKey(key);
    if (claim === undefined) return undefined;
    const { uid } = claim.metadata;
    const node: Node | undefined = state.nodeOf(claim);
    return { claim, node, launch: this.#launches.get(uid), instance: this.#terminations.get(uid) ?? 'unknown', lastEvent: events.lastEvent };
  }

  async launch(claim: NodeClaim): Promise<Outcome> {
    const { uid = '', name = '' } = claim.metadata;
    const outcome = await this.#options.state.provider.create(claim);
    this.#launches.set(uid, { outcome, at: this.#options.clock.now() });
    this.trigger.fire(name);
    return 'done';
  }

  async terminate(claim: NodeClaim): Promise<Outcome> {
    const { uid = '', name = '' } = claim.metadata;
    const answer = await this.#options.state.provider.delete(claim.status?.providerID ?? '');
    if (isFailure(answer)) return { retry: answer.failed };
    const before = this.#terminations.get(uid);
    this.#terminations.set(uid, answer);
    if (before !== answer && answer === 'gone') this.trigger.fire(name);
    return 'done';
  }
}
