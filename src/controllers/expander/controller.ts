import type { PersistentVolume, PersistentVolumeClaim } from '../../api/generated/types.ts';
import { persistentVolumeClaimKind } from '../../api/kinds/persistent-volume-claim.ts';
import { persistentVolumeKind } from '../../api/kinds/persistent-volume.ts';
import { keyOf } from '../../machinery/cache.ts';
import type { Client } from '../../machinery/client.ts';
import type { Informers } from '../../machinery/informers.ts';
import { type Controller, type Outcome, outcomeOf, source } from '../../machinery/loop.ts';
import { RecentMap } from '../../machinery/recent-map.ts';
import type { Recorder } from '../../machinery/recorder.ts';
import type { Action, Asked } from './actions.ts';
import { asksForMore, decide, isHalfGrown, type Snapshot } from './decide.ts';

export interface ExpanderOptions {
  readonly client: Client;
  readonly informers: Informers;
  readonly recorder: Recorder;
}

/** Bound claims that ask for more than they have. Keys are 'namespace/name'. */
export function expander({ client, informers, recorder }: ExpanderOptions): Controller<string, Snapshot, Action> {
  const claims = informers.cache(persistentVolumeClaimKind);
  const volumes = informers.cache(persistentVolumeKind);
  const asked = new RecentMap<string, Asked>(remembered);
  return {
    name: 'expander',
    parallelism: 16,
    sources: [
      source(persistentVolumeClaimKind, ({ after: claim }) =>
        claim !== undefined && isOfInterest(claim, volumes.getKey(claim.spec.volumeName ?? '')) ? [keyOf(claim.metadata)] : [],
      ),
      // It may come after its claim, or be linked to it only then.
      source(persistentVolumeKind, ({ after: volume }) => {
        const key = keyOf(volume?.spec.claimRef ?? {});
        return isOfInterest(claims.getKey(key), volume) ? [key] : [];
      }),
    ],
    snapshot(key) {
      const claim = claims.getKey(key);
      if (claim === undefined) return undefined;
      return { claim, volume: volumes.getKey(claim.spec.volumeName ?? ''), asked: asked.get(claim.metadata.uid ?? '') };
    },
    decide,
    async perform(action): Promise<Outcome> {
      switch (action.do) {
        case 'annotate':
          return outcomeOf(await client.updateStatus(persistentVolumeClaimKind, action.claim));
        case 'tell':
          recorder.record(action.claim, { type: 'Normal', reason: 'ExternalExpanding', message: action.message });
          return 'done';
        case 'remember':
          asked.set(action.claim.metadata.uid ?? '', action.asked);
          return 'done';
      }
    },
  };
}

/** Most claims, most of the time, have what they ask for: they are not worth a pass. */
function isOfInterest(claim: PersistentVolumeClaim | undefined, volume: PersistentVolume | undefined): boolean {
  return claim?.status.phase === 'Bound' && (asksForMore(claim) || (volume !== undefined && isHalfGrown(volume)));
}

/** Beyond that, claims that have waited longest may be told once more. */
const remembered = 100_000;
