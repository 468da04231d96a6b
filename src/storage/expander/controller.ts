import type { PersistentVolume, PersistentVolumeClaim, PersistentVolumeSource } from '../../api/generated/types.ts';
import { untypedKind } from '../../api/kind.ts';
import { persistentVolumeClaimKind } from '../../api/kinds/core/persistent-volume-claim.ts';
import { persistentVolumeKind } from '../../api/kinds/core/persistent-volume.ts';
import { storageClassKind } from '../../api/kinds/storage/storage-class.ts';
import type { DriverCapabilities, ExpandOutcome } from '../../api/volumes/driver-capabilities.ts';
import { classNameOfVolume } from '../../api/volumes/storage-class.ts';
import { keyOf } from '../../client/informers/cache.ts';
import type { Client } from '../../client/client.ts';
import { confirmCurrent } from '../../client/controller/confirm.ts';
import type { Informers } from '../../client/informers/informers.ts';
import { Trigger, type Controller, type Outcome, source } from '../../client/controller/loop.ts';
import { RecentMap } from '../../client/recent-map.ts';
import type { EventRecorder } from '../../client/events/event-recorder.ts';
import { ObjectWriter } from '../../client/controller/object-writer.ts';
import type { ExpanderAction, RequestedSize, ExpandAttempt, ExpandVolume } from './actions.ts';
import { needsExpansion, isFileSystemResizePending } from './amounts.ts';
import { decide, type ExpanderSnapshot } from './decide.ts';

/** The drivers in this process. Expanding does not reject, and may be asked again. */
export interface ExpandingDrivers {
  facts(name: string): DriverCapabilities | undefined;
  expand(driver: string, source: PersistentVolumeSource, capacity: string): Promise<ExpandOutcome>;
}

export interface ExpanderOptions {
  readonly client: Client;
  readonly informers: Informers;
  readonly recorder: EventRecorder;
  readonly drivers: ExpandingDrivers;
}

/** Bound claims that ask for more than they have. Keys are 'namespace/name'. */
export function expander(options: ExpanderOptions): Controller<string, ExpanderSnapshot, ExpanderAction> {
  const { client, informers, recorder, drivers } = options;
  const claims = informers.cache(persistentVolumeClaimKind);
  const volumes = informers.cache(persistentVolumeKind);
  const classes = informers.cache(storageClassKind);
  const waiting = claims.addIndex((claim) => (claim.status.phase === 'Bound' && needsExpansion(claim) ? [claim.spec.storageClassName ?? ''] : []));
  const writer = new ObjectWriter(client, [untypedKind(persistentVolumeClaimKind), untypedKind(persistentVolumeKind)]);
  const asked = new RecentMap<string, RequestedSize>(remembered);
  const attempts = new ExpandAttempts();

  async function expandVolume({ claim, driver, source: volume, size, failures }: ExpandVolume): Promise<Outcome> {
    // What is intended must be what the server knows: somebody who no longer leads must not ask for what nobody wants any more.
    const current = await confirmCurrent(client, persistentVolumeClaimKind, claim);
    if (current !== 'done') return current;
    const outcome = await drivers.expand(driver, volume, size);
    attempts.set(claim, { type: 'answered', size, outcome, failures });
    attempts.trigger.fire(keyOf(claim.metadata));
    return 'done';
  }

  return {
    name: 'expander',
    parallelism: 16,
    sources: [
      attempts.trigger,
      source(persistentVolumeClaimKind, ({ before, after: claim }) => {
        if (claim === undefined && before !== undefined) attempts.set(before, undefined);
        return claim !== undefined && isOfInterest(claim, volumes.getKey(claim.spec.volumeName ?? '')) ? [keyOf(claim.metadata)] : [];
      }),
      // It may come after its claim, or be linked to it only then.
      source(persistentVolumeKind, ({ after: volume }) => {
        const key = keyOf(volume?.spec.claimRef ?? {});
        return isOfInterest(claims.getKey(key), volume) ? [key] : [];
      }),
      // It may opt in later.
      source(storageClassKind, ({ before, after }) => waiting.get((after ?? before)?.metadata.name ?? '').map(({ metadata }) => keyOf(metadata))),
    ],
    snapshot(key) {
      const claim = claims.getKey(key);
      if (claim === undefined) return undefined;
      const volume = volumes.getKey(claim.spec.volumeName ?? '');
      const storageClass = volume === undefined ? undefined : classes.getKey(classNameOfVolume(volume));
      return {
        claim,
        volume,
        storageClass,
        lastRequest: asked.get(claim.metadata.uid ?? ''),
        attempt: attempts.get(claim),
        driver: (name) => drivers.facts(name),
      };
    },
    decide,
    async perform(action): Promise<Outcome> {
      switch (action.do) {
        case 'create':
        case 'update':
        case 'updateStatus':
        case 'delete':
          return writer.perform(action);
        case 'expandVolume':
          return expandVolume(action);
        case 'tell': {
          const { about, ...report } = action.event;
          recorder.record(about, report);
          return 'done';
        }
        case 'remember':
          asked.set(action.claim.metadata.uid ?? '', action.asked);
          return 'done';
        case 'rememberAttempt':
          attempts.set(action.claim, action.attempt);
          return 'done';
      }
    },
  };
}

/** What came of asking drivers, by claim. */
class ExpandAttempts {
  /** For answers: no object changes because of them. */
  readonly trigger = new Trigger<string>();
  readonly #attempts = new Map<string, ExpandAttempt>();

  get({ metadata }: PersistentVolumeClaim): ExpandAttempt | undefined {
    return this.#attempts.get(metadata.uid ?? '');
  }

  set({ metadata }: PersistentVolumeClaim, attempt: ExpandAttempt | undefined): void {
    if (attempt === undefined) this.#attempts.delete(metadata.uid ?? '');
    else this.#attempts.set(metadata.uid ?? '', attempt);
  }
}

/** Most claims, most of the time, have what they ask for: they are not worth a pass. */
function isOfInterest(claim: PersistentVolumeClaim | undefined, volume: PersistentVolume | undefined): boolean {
  return claim?.status.phase === 'Bound' && (needsExpansion(claim) || (volume !== undefined && isFileSystemResizePending(volume)));
}

/** Beyond that, claims that have waited longest may be told once more. */
const remembered = 100_000;
