import type { PersistentVolume, PersistentVolumeClaim } from '../../api/generated/types.ts';
import { untypedKind } from '../../api/kind.ts';
import { persistentVolumeClaimKind } from '../../api/kinds/core/persistent-volume-claim.ts';
import { persistentVolumeKind } from '../../api/kinds/core/persistent-volume.ts';
import { storageClassKind } from '../../api/kinds/storage/storage-class.ts';
import type { DriverCapabilities, ExpandOutcome } from '../../api/volumes/driver-capabilities.ts';
import { classNameOfVolume } from '../../api/volumes/storage-class.ts';
import { changedObject, keyOf } from '../../client/informers/cache.ts';
import type { Client } from '../../client/client.ts';
import { confirmCurrent } from '../../client/controller/confirm.ts';
import type { Informers } from '../../client/informers/informers.ts';
import { defineController } from '../../client/controller/define-controller.ts';
import { type Controller, source, Trigger } from '../../client/controller/loop.ts';
import { RecentMap } from '../../client/recent-map.ts';
import type { RecordedEvents } from '../../client/events/event-dedup.ts';
import { ObjectWriter } from '../../client/controller/object-writer.ts';
import type { Log } from '../../world/world.ts';
import { BackgroundCalls } from '../../client/controller/background-calls.ts';
import { type ChangingDrivers, driverSource } from '../volumes/driver-changes.ts';
import type { ExpandAttempt, ExpanderAction, ExpandVolume, RequestedSize } from './actions.ts';
import { needsExpansion, isFileSystemResizePending } from './amounts.ts';
import { decide, type ExpanderSnapshot } from './decide.ts';

/** The drivers in this process. `expand` does not reject, and may be called again. */
export interface ExpandingDrivers extends ChangingDrivers {
  facts(name: string): DriverCapabilities | undefined;
  expand(driver: string, volume: ExpandVolume['volume'], capacity: string): Promise<ExpandOutcome>;
}

export interface ExpanderOptions {
  readonly client: Client;
  readonly informers: Informers;
  readonly events: RecordedEvents;
  readonly drivers: ExpandingDrivers;
  readonly log: Log;
}

/** Bound claims that request more than they have. Keys are 'namespace/name'. */
export function expander({ client, informers, events, drivers, log }: ExpanderOptions): Controller<string, ExpanderSnapshot, ExpanderAction> {
  const claims = informers.cache(persistentVolumeClaimKind);
  const volumes = informers.cache(persistentVolumeKind);
  const classes = informers.cache(storageClassKind);
  const waiting = claims.addIndex((claim) => (claim.status.phase === 'Bound' && needsExpansion(claim) ? [claim.spec.storageClassName ?? ''] : []));
  const allWaiting = claims.addIndex((claim) => (claim.status.phase === 'Bound' && needsExpansion(claim) ? [''] : []));
  const calls = new BackgroundCalls(log);
  const requests = new RecentMap<string, RequestedSize>(rememberedRequests);
  const attempts = new ExpandAttempts();
  return defineController<string, ExpanderSnapshot, ExpanderAction>({
    name: 'expander',
    parallelism: 16,
    sources: [
      attempts.trigger,
      source(persistentVolumeClaimKind, ({ before, after: claim }) => {
        if (claim === undefined && before !== undefined) attempts.set(before, undefined);
        return claim !== undefined && isOfInterest(claim, volumes.getKey(claim.spec.volumeName ?? '')) ? [keyOf(claim.metadata)] : [];
      }),
      // The volume may come after its claim, or be linked to it only then.
      source(persistentVolumeKind, ({ after: volume }) => {
        const key = keyOf(volume?.spec.claimRef ?? {});
        return isOfInterest(claims.getKey(key), volume) ? [key] : [];
      }),
      driverSource(drivers, () => allWaiting.get('').map(({ metadata }) => keyOf(metadata))),
      // The class may opt in later.
      source(storageClassKind, (change) => waiting.get(changedObject(change).metadata.name).map(({ metadata }) => keyOf(metadata))),
    ],
    snapshot(key) {
      const claim = claims.getKey(key);
      if (claim === undefined) return undefined;
      const volume = volumes.getKey(claim.spec.volumeName ?? '');
      const storageClass = volume === undefined ? undefined : classes.getKey(classNameOfVolume(volume));
      const { uid } = claim.metadata;
      return { claim, volume, storageClass, lastRequest: requests.get(uid), attempt: attempts.get(claim), driver: (name) => drivers.facts(name) };
    },
    decide,
    writer: new ObjectWriter(client, [untypedKind(persistentVolumeClaimKind), untypedKind(persistentVolumeKind)]),
    events,
    actions: {
      async expandVolume({ claim, driver, volume, size, failures }) {
        // The server must know the same intention: a process that no longer leads must not ask for a size that is no longer wanted.
        const current = await confirmCurrent(client, persistentVolumeClaimKind, claim);
        if (current !== 'done') return current;
        const call = async () => {
          const outcome = await drivers.expand(driver, volume, size);
          attempts.set(claim, { type: 'answered', size, outcome, failures });
          attempts.trigger.fire(keyOf(claim.metadata));
        };
        if (drivers.facts(driver)?.csi !== undefined) return calls.start(claim.metadata.uid ?? '', call);
        await call();
        return 'done';
      },
      async remember({ claim, asked }) {
        requests.set(claim.metadata.uid ?? '', asked);
        return 'done';
      },
      async rememberAttempt({ claim, attempt }) {
        attempts.set(claim, attempt);
        return 'done';
      },
    },
  });
}

/** The drivers' answers, by claim. */
class ExpandAttempts {
  /** An answer changes no object. */
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

/** Most claims, most of the time, have what they request: they are not worth a pass. */
function isOfInterest(claim: PersistentVolumeClaim | undefined, volume: PersistentVolume | undefined): boolean {
  return claim?.status.phase === 'Bound' && (needsExpansion(claim) || (volume !== undefined && isFileSystemResizePending(volume)));
}

/** Beyond that, the claims that have waited longest may get their event once more. */
const rememberedRequests = 100_000;
