import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { PersistentVolume } from '../api/generated/types.ts';
import { afterFailure, type CreateIntentSpec, newIntent, type VolumeIntent } from '../api/volumes/intent.ts';
import { audit } from './audit.ts';
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
const look = (given: { intents?: VolumeIntent[]; volumes?: PersistentVolume[]; handles?: string[] }) =>
  audit({ inventories: [{ driver, handles: given.handles ?? [handle] }], intents: given.intents ?? [], volumes: given.volumes ?? [] }, now);

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
