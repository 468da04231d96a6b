import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { PersistentVolume } from '../api/generated/types.ts';
import { afterFailure, type CreateIntentSpec, newIntent, type VolumeIntent } from '../api/volumes/intent.ts';
import { audit, type DriverInventory } from './audit.ts';
import type { VolumeSnapshotContent } from '../api/kinds/snapshot/volume-snapshot.ts';
import type { DriverSnapshot, VolumeDriver } from './contract.ts';
import { SimulatedDirectories } from '../sim/drivers/simulated-directories.ts';
import { hostPathDriver } from './host-path/driver.ts';

const now = Date.parse('2026-01-01T12:00:00Z');
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const driver = hostPathDriver({ directories: new SimulatedDirectories(), sha256, cluster: 'here' });
const handle = driver.handleFor('pvc-1') ?? '';

const create: CreateIntentSpec = {
  operation: 'Create',
  driver: 'kubernetes.io/host-path',
  claimRef: { namespace: 'default', name: 'data', uid: '1' },
  request: { capacity: '1Gi', accessModes: ['ReadWriteOnce'], volumeMode: 'Filesystem', storageClassName: 'fast', reclaimPolicy: 'Delete' },
};
const aged = (intent: VolumeIntent, minutes: number): VolumeIntent => ({
  ...intent,
  metadata: { ...intent.metadata, creationTimestamp: new Date(now - minutes * 60_000).toISOString() },
});
const volume = (path: string): PersistentVolume => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name: 'pvc-1' },
  spec: { hostPath: { path } },
  status: {},
});
const look = (given: { intents?: VolumeIntent[]; volumes?: PersistentVolume[]; handles?: string[] }) => {
  const inventory = { driver, handles: given.handles ?? [handle], snapshots: undefined };
  return audit({ drivers: [{ before: inventory, after: inventory }], intents: given.intents ?? [], volumes: given.volumes ?? [], contents: [] }, now);
};

describe('an asset has an owner', () => {
  test('if it is in the source of a PV', () => expect(look({ volumes: [volume(handle)] })).toEqual([]));
  test('if it is being created, and the intent has no asset yet', () => expect(look({ intents: [aged(newIntent('pvc-1', create), 0)] })).toEqual([]));
  test('if it is being deleted, even after a forced removal of its PV', () => {
    const deletion = newIntent('other-name', {
      operation: 'Delete',
      driver: create.driver,
      volume: { name: 'other-name', uid: '2' },
      source: { hostPath: { path: handle } },
    });
    expect(look({ intents: [aged(deletion, 0)] })).toEqual([]);
  });
  test('otherwise it has none', () => {
    const none = [{ type: 'asset without owner', driver: create.driver, handle }];
    expect(look({})).toEqual(none);
    expect(look({ volumes: [volume('/tmp/hostpath_pv/another')], intents: [aged(newIntent('pvc-2', create), 0)] })).toEqual(none);
  });
});

describe('an intent makes progress', () => {
  const handles: string[] = [];
  test('for five minutes after its creation, or after its next attempt is due', () => {
    expect(look({ handles, intents: [aged(newIntent('pvc-1', create), 5)] })).toEqual([]);
    expect(look({ handles, intents: [aged(newIntent('pvc-1', create), 6)] })).toMatchObject([
      { type: 'intent unfinished', intent: 'pvc-1', operation: 'Create' },
    ]);
    const failing = aged(afterFailure(newIntent('pvc-1', create), { message: 'disk full', final: true }, now), 60);
    expect(look({ handles, intents: [failing] })).toEqual([]);
    const late = aged(afterFailure(newIntent('pvc-1', create), { message: 'disk full', final: true }, now - 6 * 60_000), 60);
    expect(look({ handles, intents: [late] })).toMatchObject([{ type: 'intent unfinished', message: 'disk full' }]);
  });
  test('while a scrub pod runs', () => {
    const scrub = newIntent('vol', { operation: 'Scrub', volume: { name: 'vol', uid: '3' } });
    expect(look({ handles, intents: [aged({ ...scrub, status: { phase: 'Running', podUID: '4' } }, 60)] })).toEqual([]);
    expect(look({ handles, intents: [aged(scrub, 60)] })).toMatchObject([{ type: 'intent unfinished', operation: 'Scrub' }]);
  });
  test('never, if its driver does not exist', () => {
    expect(look({ handles, intents: [aged(newIntent('pvc-1', { ...create, driver: 'gone.example.com' }), 0)] })).toEqual([
      { type: 'intent without driver', intent: 'pvc-1', driver: 'gone.example.com' },
    ]);
  });
  test('but an asset that the API refused is reported at once', () => {
    const asset = { handle, capacity: '1Gi', source: {} };
    const refused: VolumeIntent = { ...newIntent('pvc-1', create), status: { phase: 'Refused', asset, message: 'spec: Forbidden' } };
    expect(look({ intents: [aged(refused, 0)] })).toEqual([{ type: 'asset rejected', intent: 'pvc-1', handle, message: 'spec: Forbidden' }]);
  });
});

describe('a CSI driver', () => {
  const csi: VolumeDriver = {
    ...driver,
    capabilities: {
      ...driver.capabilities,
      name: 'csi.example.com',
      csi: { topology: false, clones: false, restores: true, modifies: false, reportsCapacity: false },
    },
    handleFor: () => undefined,
    handleOf: (source) => (source.csi?.driver === 'csi.example.com' ? source.csi.volumeHandle : undefined),
  };
  const persistent = (volumeHandle: string, deletionTimestamp?: string): PersistentVolume => ({
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: `pv-${volumeHandle}`, ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }) },
    spec: { csi: { driver: 'csi.example.com', volumeHandle } },
    status: {},
  });
  const taken = (snapshotHandle: string, sourceHandle = 'v1'): DriverSnapshot => ({
    handle: snapshotHandle,
    sourceHandle,
    creationTime: 0,
    readyToUse: true,
    sizeBytes: 0,
  });
  const content = (snapshotHandle: string | undefined, volumeHandle = 'v1'): VolumeSnapshotContent => ({
    apiVersion: 'snapshot.storage.k8s.io/v1',
    kind: 'VolumeSnapshotContent',
    metadata: { name: `content-${snapshotHandle ?? 'new'}` },
    spec: { deletionPolicy: 'Delete', driver: 'csi.example.com', source: { volumeHandle }, volumeSnapshotRef: {} },
    ...(snapshotHandle === undefined ? {} : { status: { snapshotHandle } }),
  });
  interface Given {
    readonly intents?: readonly VolumeIntent[];
    readonly volumes?: readonly PersistentVolume[];
    readonly contents?: readonly VolumeSnapshotContent[];
  }
  const compare = (before: Partial<DriverInventory>, given: Given, after: Partial<DriverInventory> = before) => {
    const inventory = (of: Partial<DriverInventory>) => ({ driver: csi, handles: undefined, snapshots: undefined, ...of });
    return audit({ drivers: [{ before: inventory(before), after: inventory(after) }], intents: [], volumes: [], contents: [], ...given }, now);
  };
  const ofCsi: CreateIntentSpec = { ...create, driver: 'csi.example.com' };

  test('has volumes that nothing owns, if they are in both lists', () => {
    expect(compare({ handles: ['v1', 'v2', 'v3'] }, { volumes: [persistent('v1')] }, { handles: ['v1', 'v3'] })).toEqual([
      { type: 'asset without owner', driver: 'csi.example.com', handle: 'v3' },
    ]);
  });
  test('may be creating one of them', () => {
    const intents = [aged(newIntent('pvc-9', ofCsi), 0)];
    expect(compare({ handles: ['v1'] }, { intents })).toEqual([{ type: 'asset without owner', driver: 'csi.example.com', handle: 'v1', perhaps: ['pvc-9'] }]);
  });
  test('has lost a volume that is in none of the lists, unless it is being deleted', () => {
    const deletion = newIntent('pv-v4', { operation: 'Delete', driver: 'csi.example.com', volume: { name: 'pv-v4', uid: '2' }, source: persistent('v4').spec });
    const volumes = [persistent('v1'), persistent('v2'), persistent('v3', '2026-01-01T11:59:00Z'), persistent('v4'), persistent('v5')];
    expect(compare({ handles: ['v1'] }, { volumes, intents: [aged(deletion, 0)] }, { handles: ['v5'] })).toEqual([
      { type: 'volume missing', driver: 'csi.example.com', handle: 'v2', volume: 'pv-v2' },
    ]);
  });
  test('that cannot list its volumes has lost none', () => {
    expect(compare({}, { volumes: [persistent('v1')], contents: [content('s1')] })).toEqual([]);
  });
  test('has snapshots that nothing owns, and has lost others', () => {
    expect(compare({ snapshots: [taken('s1'), taken('s2')] }, { contents: [content('s1'), content('s3')] })).toEqual([
      { type: 'snapshot without owner', driver: 'csi.example.com', handle: 's2', sourceHandle: 'v1' },
      { type: 'snapshot missing', driver: 'csi.example.com', handle: 's3', content: 'content-s3' },
    ]);
  });
  test('may be taking a snapshot of that volume', () => {
    expect(compare({ snapshots: [taken('s1')] }, { contents: [content(undefined)] })).toEqual([]);
    expect(compare({ snapshots: [taken('s1')] }, { contents: [content(undefined, 'v2')] })).toMatchObject([{ type: 'snapshot without owner' }]);
  });
});
