import type { Pod } from '../../api/generated/types.ts';
import { persistentVolumeClaimKind } from '../../api/kinds/persistent-volume-claim.ts';
import { podKind } from '../../api/kinds/workloads/pod.ts';
import { tellStanding } from '../../domain/volumes/decision.ts';
import { type Change, keyOf } from '../../machinery/cache.ts';
import type { Client, Result } from '../../machinery/client.ts';
import type { Informers } from '../../machinery/informers.ts';
import { type Controller, type Outcome, outcomeOf, source } from '../../machinery/loop.ts';
import type { Tellings } from '../../machinery/tellings.ts';
import type { Clock } from '../../world/world.ts';
import { type Action, type CreateClaim, failedBinding } from './actions.ts';
import { decideClaims, ephemeralVolumes, type Snapshot } from './decide.ts';

export interface EphemeralClaimsOptions {
  readonly client: Client;
  readonly informers: Informers;
  readonly tellings: Tellings;
  readonly clock: Clock;
}

/** Makes the claims of pods' generic ephemeral volumes. Keys are those of pods: 'namespace/name'. */
export function ephemeralClaims({ client, informers, tellings, clock }: EphemeralClaimsOptions): Controller<string, Snapshot, Action> {
  const pods = informers.cache(podKind);
  const claims = informers.cache(persistentVolumeClaimKind);
  const podsByClaim = pods.addIndex((pod) => ephemeralVolumes(pod).map(({ claimName }) => keyOf({ namespace: pod.metadata.namespace, name: claimName })));
  const failed = ({ pod, volume, claim }: CreateClaim, error: Error): void => {
    const event = failedBinding(pod, volume, `create PVC ${claim.metadata?.name ?? ''}: ${error.message}`);
    const { actions } = tellStanding(event, tellings.told(pod.metadata.uid ?? ''), clock.now());
    for (const action of actions) tellings.tell(action.event, action.rememberAs);
  };
  return {
    name: 'ephemeral-claims',
    sources: [
      source(podKind, wokenByPod),
      source(persistentVolumeClaimKind, ({ before }) => (before === undefined ? [] : podsByClaim.get(keyOf(before.metadata)).map(podKey))),
    ],
    snapshot(key) {
      const pod = pods.getKey(key);
      return pod === undefined ? undefined : { pod, claim: (name) => claims.get({ namespace: pod.metadata.namespace, name }), told: tellings.told };
    },
    decide: decideClaims,
    async perform(action) {
      if (action.do === 'create-claim') return created(await client.create(persistentVolumeClaimKind, action.claim), (error) => failed(action, error));
      tellings.tell(action.event, action.rememberAs);
      return 'done';
    },
    parallelism: 32,
  };
}

/** Its volumes never change: a pod is news only when it is new. */
function wokenByPod({ before, after }: Change<Pod>): readonly string[] {
  const isNew = after !== undefined && before?.metadata.uid !== after.metadata.uid;
  return isNew && ephemeralVolumes(after).length > 0 ? [podKey(after)] : [];
}

const podKey = ({ metadata }: Pod): string => keyOf(metadata);

function created(result: Result<unknown>, tell: (error: Error) => void): Outcome {
  if (result.ok) return 'done';
  switch (result.reason) {
    // The namespace goes, and the pod with it.
    case 'terminating':
    case 'notFound':
      return 'done';
    case 'forbidden':
    case 'invalid':
    case 'failed':
      tell(result.error);
      return outcomeOf(result);
    default:
      return outcomeOf(result);
  }
}
