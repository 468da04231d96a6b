/** Audits the backends against the API: every asset has an owner, and every intent makes progress. */
import type { PersistentVolume } from '../api/generated/types.ts';
import type { IntentSpec } from '../api/kinds/mooring/volume-intent.ts';
import type { VolumeSnapshotContent } from '../api/kinds/snapshot/volume-snapshot.ts';
import { isFor, type VolumeIntent, volumeNameOf } from '../api/volumes/intent.ts';
import type { DriverSnapshot, VolumeDriver } from './contract.ts';

export type AuditFinding =
  /** `perhaps`: intents that may be about to own it: the driver has not answered them yet. */
  | { readonly type: 'asset without owner'; readonly driver: string; readonly handle: string; readonly perhaps?: readonly string[] }
  /** A PersistentVolume has a handle that its driver does not list. */
  | { readonly type: 'volume missing'; readonly driver: string; readonly handle: string; readonly volume: string }
  | { readonly type: 'snapshot without owner'; readonly driver: string; readonly handle: string; readonly sourceHandle: string }
  | { readonly type: 'snapshot missing'; readonly driver: string; readonly handle: string; readonly content: string }
  | { readonly type: 'asset rejected'; readonly intent: string; readonly handle: string; readonly message: string }
  | { readonly type: 'intent without driver'; readonly intent: string; readonly driver: string }
  | {
      readonly type: 'intent unfinished';
      readonly intent: string;
      readonly operation: IntentSpec['operation'];
      readonly since: number;
      readonly message: string;
    };

export interface DriverInventory {
  readonly driver: VolumeDriver;
  /** Undefined: the driver cannot list them. */
  readonly handles: readonly string[] | undefined;
  readonly snapshots: readonly DriverSnapshot[] | undefined;
}

/** What one driver listed at the start and at the end of the audit. */
export interface AuditedDriver {
  readonly before: DriverInventory;
  readonly after: DriverInventory;
}

export interface AuditSnapshot {
  readonly drivers: readonly AuditedDriver[];
  /** Read after the first listing of assets, and before `volumes`: an asset's owner changes from its intent to its PV. */
  readonly intents: readonly VolumeIntent[];
  readonly volumes: readonly PersistentVolume[];
  readonly contents: readonly VolumeSnapshotContent[];
}

export function audit(snapshot: AuditSnapshot, now: number): readonly AuditFinding[] {
  const { drivers, intents } = snapshot;
  const names = new Set(drivers.map(({ before }) => before.driver.capabilities.name));
  return [
    ...drivers.flatMap((each) => [...findingsAboutVolumes(each, snapshot), ...findingsAboutSnapshots(each, snapshot)]),
    ...intents.flatMap((intent) => findingAbout(intent, names, now) ?? []),
  ];
}

/** The handles in both lists: these existed all the time. */
export function lastingHandles({ before, after }: AuditedDriver): readonly string[] {
  const later = new Set(after.handles);
  return (before.handles ?? []).filter((handle) => later.has(handle));
}

function findingsAboutVolumes(audited: AuditedDriver, { intents, volumes }: AuditSnapshot): readonly AuditFinding[] {
  const { before, after } = audited;
  const { driver } = before;
  const { name, csi } = driver.capabilities;
  const owned = new Set(ownedHandles(driver, intents, volumes));
  // Only the answer of createVolume has the handle.
  const unanswered = intents.filter((intent) => isFor(intent, 'Create') && intent.spec.driver === name && intent.status.asset === undefined);
  const perhaps = csi === undefined ? [] : unanswered.map(volumeNameOf);
  const orphans = lastingHandles(audited)
    .filter((handle) => !owned.has(handle))
    .map((handle): AuditFinding => ({ type: 'asset without owner', driver: name, handle, ...(perhaps.length === 0 ? {} : { perhaps }) }));
  if (csi === undefined || before.handles === undefined) return orphans;
  const listed = new Set([...before.handles, ...(after.handles ?? [])]);
  const deleting = new Set(intents.flatMap((intent) => (isFor(intent, 'Delete') ? [driver.handleOf(intent.spec.source)] : [])));
  const missing = volumes.flatMap(({ metadata, spec }): AuditFinding[] => {
    const handle = driver.handleOf(spec);
    if (handle === undefined || metadata.deletionTimestamp !== undefined || listed.has(handle) || deleting.has(handle)) return [];
    return [{ type: 'volume missing', driver: name, handle, volume: metadata.name ?? '' }];
  });
  return [...orphans, ...missing];
}

function findingsAboutSnapshots({ before, after }: AuditedDriver, { contents }: AuditSnapshot): readonly AuditFinding[] {
  const driver = before.driver.capabilities.name;
  const own = contents.filter(({ spec }) => spec.driver === driver);
  const owned = new Set(own.flatMap(({ spec, status }) => [spec.source.snapshotHandle, status?.snapshotHandle]));
  const beingTaken = new Set(own.flatMap(({ spec, status }) => (status?.snapshotHandle === undefined ? [spec.source.volumeHandle] : [])));
  const [earlier, later] = [before, after].map(({ snapshots = [] }) => new Set(snapshots.map(({ handle }) => handle)));
  const orphans = (before.snapshots ?? [])
    .filter(({ handle, sourceHandle }) => later?.has(handle) === true && !owned.has(handle) && !beingTaken.has(sourceHandle))
    .map(({ handle, sourceHandle }): AuditFinding => ({ type: 'snapshot without owner', driver, handle, sourceHandle }));
  if (before.snapshots === undefined) return orphans;
  const missing = own.flatMap(({ metadata, status }): AuditFinding[] => {
    const handle = status?.snapshotHandle;
    if (handle === undefined || metadata.deletionTimestamp !== undefined || earlier?.has(handle) === true || later?.has(handle) === true) return [];
    return [{ type: 'snapshot missing', driver, handle, content: metadata.name ?? '' }];
  });
  return [...orphans, ...missing];
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

function findingAbout(intent: VolumeIntent, drivers: ReadonlySet<string>, now: number): AuditFinding | undefined {
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
