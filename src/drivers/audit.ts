/** Audits the backends against the API: every asset has an owner, and every intent makes progress. */
import type { PersistentVolume } from '../api/generated/types.ts';
import type { IntentSpec } from '../api/kinds/mooring/volume-intent.ts';
import { isFor, type VolumeIntent, volumeNameOf } from '../api/volumes/intent.ts';
import type { VolumeDriver } from './contract.ts';

export type AuditFinding =
  | { readonly type: 'asset without owner'; readonly driver: string; readonly handle: string }
  | { readonly type: 'asset rejected'; readonly intent: string; readonly handle: string; readonly message: string }
  | { readonly type: 'intent without driver'; readonly intent: string; readonly driver: string }
  | {
      readonly type: 'intent unfinished';
      readonly intent: string;
      readonly operation: IntentSpec['operation'];
      readonly since: number;
      readonly message: string;
    };

/** The assets of one driver that existed at the start and at the end of the audit. */
export interface DriverInventory {
  readonly driver: VolumeDriver;
  readonly handles: readonly string[];
}

export interface AuditSnapshot {
  readonly inventories: readonly DriverInventory[];
  /** Read after the first listing of assets, and before `volumes`: an asset's owner changes from its intent to its PV. */
  readonly intents: readonly VolumeIntent[];
  readonly volumes: readonly PersistentVolume[];
}

export function audit({ inventories, intents, volumes }: AuditSnapshot, now: number): readonly AuditFinding[] {
  const drivers = new Map(inventories.map(({ driver }) => [driver.capabilities.name, driver]));
  return [
    ...inventories.flatMap(({ driver, handles }) => {
      const owned = new Set(ownedHandles(driver, intents, volumes));
      return handles
        .filter((handle) => !owned.has(handle))
        .map((handle): AuditFinding => ({ type: 'asset without owner', driver: driver.capabilities.name, handle }));
    }),
    ...intents.flatMap((intent) => findingAbout(intent, drivers, now) ?? []),
  ];
}

function* ownedHandles(driver: VolumeDriver, intents: readonly VolumeIntent[], volumes: readonly PersistentVolume[]): Generator<string | undefined> {
  for (const { spec } of volumes) yield driver.handleOf(spec);
  for (const intent of intents) {
    yield intent.status.asset?.handle;
    if (isFor(intent, 'Delete')) yield driver.handleOf(intent.spec.source);
    else if (isFor(intent, 'Create') && intent.spec.driver === driver.capabilities.name) yield driver.handleFor(volumeNameOf(intent));
  }
}

/** A controller takes an intent's next step within this time of its due date. */
const overdueMs = 5 * 60_000;

function findingAbout(intent: VolumeIntent, drivers: ReadonlyMap<string, VolumeDriver>, now: number): AuditFinding | undefined {
  const name = volumeNameOf(intent);
  const { phase, asset, message = '' } = intent.status;
  if (phase === 'Refused' && asset !== undefined) return { type: 'asset rejected', intent: name, handle: asset.handle, message };
  const driver = intent.spec.operation === 'Scrub' ? undefined : intent.spec.driver;
  if (driver !== undefined && !drivers.has(driver)) return { type: 'intent without driver', intent: name, driver };
  // A scrub pod has a deadline of its own.
  if (phase === 'Running') return undefined;
  const since = Date.parse(intent.status.notBefore ?? intent.metadata.creationTimestamp ?? '');
  if (!(now - since > overdueMs)) return undefined;
  return { type: 'intent unfinished', intent: name, operation: intent.spec.operation, since, message };
}
