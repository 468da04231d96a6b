import { describe, expect, test } from 'vitest';
import { pvc } from '../../../test/storage/objects.ts';
import type { CSIDriver, PersistentVolumeClaimSpec } from '../../api/generated/types.ts';
import type { ReferenceGrant } from '../../api/kinds/data-source/reference-grant.ts';
import { readClaim } from '../volumes/claim.ts';
import { foreignSourceRefusal } from './data-source-rules.ts';

const driverWith = (flags?: string): CSIDriver => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'CSIDriver',
  metadata: { name: 'd', ...(flags === undefined ? {} : { annotations: { 'mooring.dev/provisioner-flags': flags } }) },
  spec: {},
});
const enabled = driverWith('--feature-gates=CrossNamespaceVolumeDataSource=true');
const grant = (from: Partial<ReferenceGrant['spec']['from'][number]> = {}, to: Partial<ReferenceGrant['spec']['to'][number]> = {}): ReferenceGrant => ({
  apiVersion: 'gateway.networking.k8s.io/v1beta1',
  kind: 'ReferenceGrant',
  metadata: { name: 'g', namespace: 'elsewhere' },
  spec: {
    from: [{ group: '', kind: 'PersistentVolumeClaim', namespace: 'default', ...from }],
    to: [{ group: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', ...to }],
  },
});
const source = { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: 's', namespace: 'elsewhere' };
interface Given {
  readonly driver?: CSIDriver;
  readonly spec?: Partial<PersistentVolumeClaimSpec>;
}
const refusal = (grants: readonly ReferenceGrant[], { driver = enabled, spec = { dataSourceRef: source } }: Given = {}) =>
  foreignSourceRefusal(readClaim(pvc('data', '1Gi', { metadata: { name: 'data', namespace: 'default' }, spec })), {
    object: driver,
    rules: { isRegistered: () => false, grants: (namespace) => grants.filter(({ metadata }) => metadata.namespace === namespace) },
  });

describe('a source of another namespace', () => {
  test('is refused unless the feature is enabled for the driver', () => {
    const disabled = 'dataSourceRef namespace specified but the CrossNamespaceVolumeDataSource feature is disabled';
    expect(refusal([grant()], { driver: driverWith() })).toContain(disabled);
    expect(refusal([grant()], { driver: driverWith('--feature-gates=CrossNamespaceVolumeDataSource=false') })).toContain(disabled);
    expect(refusal([grant()], { driver: driverWith('--feature-gates=Topology=true') })).toContain('"--feature-gates=Topology=true" is none of');
  });

  test.each<[string, readonly ReferenceGrant[]]>([
    ['without a grant', []],
    ['for claims of another namespace', [grant({ namespace: 'third' })]],
    ['for another kind of objects that refer', [grant({ kind: 'Gateway' })]],
    ['for a core object', [grant({}, { group: '' })]],
    ['for another kind', [grant({}, { kind: 'Backup' })]],
    ['for another name', [grant({}, { name: 'other' })]],
    ['in another namespace', [{ ...grant(), metadata: { name: 'g', namespace: 'third' } }]],
    ['whose parts are in two grants', [grant({ namespace: 'third' }), grant({}, { name: 'other' })]],
  ])('is refused %s', (_, grants) => {
    expect(refusal(grants)).toBe(
      "accessing elsewhere/s of VolumeSnapshot dataSource from default/data isn't allowed: no ReferenceGrant in namespace elsewhere allows it",
    );
  });

  test('may be used with a grant of its kind or of its name', () => {
    expect(refusal([grant()])).toBeUndefined();
    expect(refusal([grant({}, { name: 's' })])).toBeUndefined();
    const claim = { ...source, apiGroup: null, kind: 'PersistentVolumeClaim' };
    expect(refusal([grant({}, { group: '', kind: 'PersistentVolumeClaim' })], { spec: { dataSourceRef: claim } })).toBeUndefined();
  });
});

test('a source of its own namespace needs no grant', () => {
  expect(refusal([], { spec: { dataSourceRef: { ...source, namespace: 'default' } } })).toBeUndefined();
  expect(refusal([], { spec: {} })).toBeUndefined();
});
