import type { PersistentVolumeClaim, PersistentVolumeSource } from '../../api/generated/types.ts';
import { untypedKind } from '../../api/kind.ts';
import { persistentVolumeClaimKind } from '../../api/kinds/core/persistent-volume-claim.ts';
import { persistentVolumeKind } from '../../api/kinds/core/persistent-volume.ts';
import { volumeAttributesClassKind } from '../../api/kinds/storage/volume-attributes-class.ts';
import type { DriverCapabilities, ModifyOutcome } from '../../api/volumes/driver-capabilities.ts';
import type { Client } from '../../client/client.ts';
import { BackgroundCalls } from '../../client/controller/background-calls.ts';
import { confirmCurrent } from '../../client/controller/confirm.ts';
import { defineController } from '../../client/controller/define-controller.ts';
import { type Controller, source, Trigger } from '../../client/controller/loop.ts';
import { ObjectWriter } from '../../client/controller/object-writer.ts';
import type { RecordedEvents } from '../../client/events/event-dedup.ts';
import { keyOf } from '../../client/informers/cache.ts';
import type { Informers } from '../../client/informers/informers.ts';
import type { Log } from '../../world/world.ts';
import { type ChangingDrivers, driverSource } from '../volumes/driver-changes.ts';
import type { ModifierAction, ModifyAttempt, ModifyVolume } from './actions.ts';
import { decide, type ModifierSnapshot } from './decide.ts';
import { needsModification } from './modify-status.ts';

/** The drivers in this process. `modify` does not reject, and may be called again. */
export interface ModifyingDrivers extends ChangingDrivers {
  facts(name: string): DriverCapabilities | undefined;
  modify(driver: string, volume: PersistentVolumeSource, request: Pick<ModifyVolume, 'mutableParameters' | 'secret'>): Promise<ModifyOutcome>;
}

export interface ModifierOptions {
  readonly client: Client;
  readonly informers: Informers;
  readonly events: RecordedEvents;
  readonly drivers: ModifyingDrivers;
  readonly log: Log;
}

/** Bound claims whose VolumeAttributesClass is not the one that their volume has. Keys are 'namespace/name'. */
export function modifier({ client, informers, events, drivers, log }: ModifierOptions): Controller<string, ModifierSnapshot, ModifierAction> {
  const claims = informers.cache(persistentVolumeClaimKind);
  const volumes = informers.cache(persistentVolumeKind);
  const classes = informers.cache(volumeAttributesClassKind);
  const waiting = claims.addIndex((claim) => (isOfInterest(claim) ? [''] : []));
  const waitingKeys = () => waiting.get('').map(({ metadata }) => keyOf(metadata));
  const calls = new BackgroundCalls(log);
  /** An answer changes no object. */
  const trigger = new Trigger<string>();
  /** The drivers' answers, by the uid of the claim. */
  const attempts = new Map<string, ModifyAttempt>();
  const remember = ({ metadata }: PersistentVolumeClaim, attempt: ModifyAttempt | undefined): void => {
    if (attempt === undefined) attempts.delete(metadata.uid ?? '');
    else attempts.set(metadata.uid ?? '', attempt);
  };
  return defineController<string, ModifierSnapshot, ModifierAction>({
    name: 'modifier',
    parallelism: 16,
    sources: [
      trigger,
      source(persistentVolumeClaimKind, ({ before, after: claim }) => {
        if (claim === undefined && before !== undefined) remember(before, undefined);
        return claim !== undefined && isOfInterest(claim) ? [keyOf(claim.metadata)] : [];
      }),
      // The volume may come after its claim, or be linked to it only then.
      source(persistentVolumeKind, ({ after: volume }) => {
        const claim = claims.getKey(keyOf(volume?.spec.claimRef ?? {}));
        return claim !== undefined && isOfInterest(claim) ? [keyOf(claim.metadata)] : [];
      }),
      source(volumeAttributesClassKind, waitingKeys),
      driverSource(drivers, waitingKeys),
    ],
    snapshot(key) {
      const claim = claims.getKey(key);
      if (claim === undefined) return undefined;
      return {
        claim,
        volume: volumes.getKey(claim.spec.volumeName ?? ''),
        attributesClass: (name) => classes.getKey(name),
        driver: (name) => drivers.facts(name),
        attempt: attempts.get(claim.metadata.uid ?? ''),
        lastEvent: events.lastEvent,
      };
    },
    decide,
    writer: new ObjectWriter(client, [untypedKind(persistentVolumeClaimKind), untypedKind(persistentVolumeKind)]),
    events,
    actions: {
      async modifyVolume({ claim, driver, volume, target, mutableParameters, secret, failures }) {
        // The server must know the same target: a process that no longer leads must not ask for a class that is no longer wanted.
        const current = await confirmCurrent(client, persistentVolumeClaimKind, claim);
        if (current !== 'done') return current;
        return calls.start(claim.metadata.uid ?? '', async () => {
          const outcome = await drivers.modify(driver, volume, { mutableParameters, ...(secret === undefined ? {} : { secret }) });
          remember(claim, { type: 'answered', target, outcome, failures });
          trigger.fire(keyOf(claim.metadata));
        });
      },
      async rememberAttempt({ claim, attempt }) {
        remember(claim, attempt);
        return 'done';
      },
    },
  });
}

/** Most claims have the class that they want: they are not worth a pass. */
const isOfInterest = (claim: PersistentVolumeClaim): boolean => claim.status.phase === 'Bound' && needsModification(claim);
