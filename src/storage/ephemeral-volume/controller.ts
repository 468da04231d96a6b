import type { Pod } from '../../api/generated/types.ts';
import { persistentVolumeClaimKind } from '../../api/kinds/core/persistent-volume-claim.ts';
import { podKind } from '../../api/kinds/pod/pod.ts';
import { recordIfChanged } from '../../client/decision.ts';
import { type Change, keyOf } from '../../client/informers/cache.ts';
import type { Client, Result } from '../../client/client.ts';
import type { Informers } from '../../client/informers/informers.ts';
import { defineController } from '../../client/controller/define-controller.ts';
import { type Controller, type Outcome, outcomeOf, source } from '../../client/controller/loop.ts';
import type { RecordedEvents } from '../../client/events/event-dedup.ts';
import type { Clock } from '../../world/world.ts';
import { type EphemeralVolumeAction, type CreateClaim, failedBinding } from './actions.ts';
import { decideClaims, ephemeralVolumes, type EphemeralVolumeSnapshot } from './decide.ts';

export interface EphemeralVolumeOptions {
  readonly client: Client;
  readonly informers: Informers;
  readonly events: RecordedEvents;
  readonly clock: Clock;
}

/** Creates the claims of pods' generic ephemeral volumes. Keys are those of pods: 'namespace/name'. */
export function ephemeralVolumeController({
  client,
  informers,
  events,
  clock,
}: EphemeralVolumeOptions): Controller<string, EphemeralVolumeSnapshot, EphemeralVolumeAction> {
  const pods = informers.cache(podKind);
  const claims = informers.cache(persistentVolumeClaimKind);
  const podsByClaim = pods.addIndex((pod) => ephemeralVolumes(pod).map(({ claimName }) => keyOf({ namespace: pod.metadata.namespace, name: claimName })));
  const failed = ({ pod, volume, claim }: CreateClaim, error: Error): void => {
    const event = failedBinding(pod, volume, `create PVC ${claim.metadata?.name ?? ''}: ${error.message}`);
    const { actions } = recordIfChanged(event, events.lastEvent(pod.metadata.uid), clock.now());
    for (const action of actions) events.record(action.event, action.rememberAs);
  };
  return defineController<string, EphemeralVolumeSnapshot, EphemeralVolumeAction>({
    name: 'ephemeral-claims',
    sources: [
      source(podKind, keysForPodChange),
      source(persistentVolumeClaimKind, ({ before }) => (before === undefined ? [] : podsByClaim.get(keyOf(before.metadata)).map(podKey))),
    ],
    snapshot(key) {
      const pod = pods.getKey(key);
      return pod === undefined ? undefined : { pod, claim: (name) => claims.get({ namespace: pod.metadata.namespace, name }), lastEvent: events.lastEvent };
    },
    decide: decideClaims,
    events,
    actions: {
      'create-claim': async (action) => created(await client.create(persistentVolumeClaimKind, action.claim), (error) => failed(action, error)),
    },
    parallelism: 32,
  });
}

/** A pod's volumes never change: only a new pod is enqueued. */
function keysForPodChange({ before, after }: Change<Pod>): readonly string[] {
  const isNew = after !== undefined && before?.metadata.uid !== after.metadata.uid;
  return isNew && ephemeralVolumes(after).length > 0 ? [podKey(after)] : [];
}

const podKey = ({ metadata }: Pod): string => keyOf(metadata);

function created(result: Result<unknown>, onRefused: (error: Error) => void): Outcome {
  if (result.ok) return 'done';
  switch (result.reason) {
    // The namespace is terminating, and the pod with it.
    case 'terminating':
    case 'notFound':
      return 'done';
    case 'forbidden':
    case 'invalid':
    case 'failed':
      onRefused(result.error);
      return outcomeOf(result);
    default:
      return outcomeOf(result);
  }
}
