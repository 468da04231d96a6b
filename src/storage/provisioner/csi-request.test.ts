import { describe, expect, it } from 'vitest';
import { pv, pvc, storageClass } from '../../../test/storage/objects.ts';
import type { PersistentVolume, PersistentVolumeClaim } from '../../api/generated/types.ts';
import { readClaim } from '../volumes/claim.ts';
import { readVolume } from '../volumes/volume.ts';
import { accessibilityOf, type AccessibilityRequest, type TopologySnapshot } from './accessibility.ts';
import { type CsiSnapshot, csiRequestOf } from './csi-request.ts';
import { driverParameters, secretsOf } from './secret-templates.ts';

const claim: PersistentVolumeClaim = {
  ...pvc('data', '1Gi'),
  metadata: { name: 'data', namespace: 'shop', uid: 'u1', annotations: { team: 'blue' } },
};
const subject = { volumeName: 'pvc-u1', claim };
const prefix = 'csi.storage.k8s.io/';

describe('secretsOf', () => {
  it('resolves templates, and falls back to the default secret', () => {
    const parameters = {
      [`${prefix}provisioner-secret-name`]: "${pvc.name}-${pvc.annotations['team']}",
      [`${prefix}provisioner-secret-namespace`]: '${pvc.namespace}',
      [`${prefix}secret-name`]: 'shared',
      [`${prefix}secret-namespace`]: 'kube-system',
    };
    const answer = secretsOf(parameters, subject);
    expect(answer).toMatchObject({
      ok: true,
      value: { provisioner: { namespace: 'shop', name: 'data-blue' }, nodeStage: { namespace: 'kube-system', name: 'shared' } },
    });
  });

  it.each([
    ['${pvc.name}', 'x', 'error resolving value "${pvc.name}": invalid tokens: ["pvc.name"]'],
    ['ns', "${pvc.annotations['none']}", 'error resolving value "${pvc.annotations[\'none\']}": invalid tokens: ["pvc.annotations[\'none\']"]'],
    ['Not_A_Namespace', 'x', '"Not_A_Namespace" is not a valid namespace name'],
    ['ns', '', 'value of either namespace or name is empty'],
  ])('refuses namespace %s, name %s', (namespace, name, message) => {
    const parameters = { [`${prefix}node-stage-secret-name`]: name, [`${prefix}node-stage-secret-namespace`]: namespace };
    expect(secretsOf(parameters, subject)).toMatchObject({ ok: false, message: expect.stringContaining(message) });
  });

  it('refuses a name without a namespace, and a parameter that is not known', () => {
    expect(secretsOf({ [`${prefix}secret-name`]: 'x' }, subject)).toMatchObject({ ok: false, message: expect.stringContaining('Both must be specified') });
    expect(driverParameters({ [`${prefix}typo`]: 'x' })).toMatchObject({ ok: false, message: expect.stringContaining('csi.storage.k8s.io/typo') });
    expect(driverParameters({ [`${prefix}fstype`]: 'x', kind: 'ssd' })).toEqual({ ok: true, value: { kind: 'ssd' } });
  });
});

const nodes: Readonly<Record<string, Readonly<Record<string, string>>>> = { n1: { zone: 'a' }, n2: { zone: 'b' }, n3: { zone: 'c' }, bare: {} };
const topology: TopologySnapshot = {
  topologyKeys: (_, node) => (nodes[node] === undefined ? undefined : ['zone']),
  anyTopologyKeys: () => ['zone'],
  labels: (node) => nodes[node],
  segments: () => ['c', 'a', 'b'].map((zone) => ({ zone })),
};
const zones = (...names: readonly string[]) => names.map((zone) => ({ segments: { zone } }));
const base: AccessibilityRequest = { driver: 'd', claimName: 'data', selectedNode: undefined, allowedTopologies: [], strict: false, immediate: true };
const allowed = [{ matchLabelExpressions: [{ key: 'zone', values: ['b', 'a'] }] }];

describe('accessibilityOf', () => {
  it.each([
    ['a selected node is preferred', { selectedNode: 'n2' }, zones('a', 'b', 'c'), zones('b', 'c', 'a')],
    ['strict: the selected node alone', { selectedNode: 'n2', strict: true }, zones('b'), zones('b')],
    ['the allowed topologies', { selectedNode: 'n2', allowedTopologies: allowed }, zones('a', 'b'), zones('b', 'a')],
  ])('%s', (_, given, requisite, preferred) => {
    expect(accessibilityOf({ ...base, ...given }, topology)).toEqual({ type: 'requirements', requirements: { requisite, preferred } });
  });

  it('immediate binding: the claims of a StatefulSet are spread', () => {
    const first = [0, 1, 2].map((i) => {
      const answer = accessibilityOf({ ...base, claimName: `data-web-${i}` }, topology);
      return answer.type === 'requirements' ? answer.requirements?.preferred[0]?.segments['zone'] : undefined;
    });
    expect(new Set(first).size).toBe(3);
  });

  it('without --immediate-topology nothing is required', () => {
    expect(accessibilityOf({ ...base, immediate: false }, topology)).toEqual({ type: 'requirements', requirements: undefined });
  });

  it.each([
    ['a node that is gone is selected again', { selectedNode: 'gone' }, true, 'csinode.storage.k8s.io "gone" not found'],
    ['a node without the labels', { selectedNode: 'bare' }, false, 'do not have all topology keys'],
    ['strict, and not allowed', { selectedNode: 'n3', strict: true, allowedTopologies: allowed }, false, 'is not in allowed topologies'],
  ])('%s', (_, given, reschedule, message) => {
    expect(accessibilityOf({ ...base, ...given }, topology)).toMatchObject({ type: 'refused', reschedule, message: expect.stringContaining(message) });
  });
});

describe('a clone', () => {
  const driver = 'd.example.com';
  const source: PersistentVolumeClaim = {
    ...pvc('source', '1Gi'),
    metadata: { name: 'source', namespace: 'shop', uid: 's1' },
    spec: { ...pvc('source', '1Gi').spec, volumeName: 'pv-s', storageClassName: 'fast' },
    status: { phase: 'Bound' },
  };
  const volume: PersistentVolume = {
    ...pv('pv-s', '1Gi'),
    spec: { csi: { driver, volumeHandle: 'h1' }, claimRef: { namespace: 'shop', name: 'source', uid: 's1' } },
    status: { phase: 'Bound' },
  };
  const wanted = (size: string): PersistentVolumeClaim => ({
    ...claim,
    spec: { ...pvc('data', size).spec, dataSource: { apiGroup: '', kind: 'PersistentVolumeClaim', name: 'source' } },
  });
  const capabilities = { topology: false, clones: true, restores: false, modifies: false, reportsCapacity: false };

  function ask(size: string, { from = source, clones = true }: { readonly from?: PersistentVolumeClaim; readonly clones?: boolean } = {}) {
    const snapshot: CsiSnapshot = { ...topology, claim: () => readClaim(from), attributesClass: () => undefined, csiDriver: () => undefined };
    const need = { claim: readClaim(wanted(size)), storageClass: storageClass('fast', { provisioner: driver }), driver };
    return csiRequestOf({ ...need, capabilities: { ...capabilities, clones }, volume: () => readVolume(volume) }, snapshot);
  }

  it('names the volume of its source', () => {
    expect(ask('1Gi')).toMatchObject({ type: 'request', request: { source: { type: 'volume', handle: 'h1' } }, sourceClaim: { name: 'source' } });
  });

  it('is refused, never empty', () => {
    expect(ask('1Mi')).toMatchObject({ type: 'refused', message: expect.stringContaining('must be greater than or equal in size') });
    expect(ask('1Gi', { clones: false })).toMatchObject({ type: 'refused', message: expect.stringContaining('CLONE_VOLUME capability is not reported') });
    expect(ask('1Gi', { from: { ...source, status: { phase: 'Pending' } } })).toMatchObject({
      type: 'refused',
      message: expect.stringContaining('must have a status of Bound'),
    });
    expect(ask('1Gi', { from: { ...source, metadata: { ...source.metadata, uid: 'other' } } })).toMatchObject({
      type: 'refused',
      message: expect.stringContaining('not bound to it'),
    });
  });
});

describe('the flags of external-provisioner', () => {
  const driver = 'd.example.com';
  const ask = (flags: string, accessModes: readonly string[] = ['ReadWriteOnce']) => {
    const object = { apiVersion: 'storage.k8s.io/v1', kind: 'CSIDriver', metadata: { name: driver, annotations: { 'mooring.dev/provisioner-flags': flags } } };
    const snapshot: CsiSnapshot = {
      ...topology,
      claim: () => undefined,
      attributesClass: () => undefined,
      csiDriver: () => ({ ...object, spec: {} }),
    };
    const capabilities = { topology: false, clones: false, restores: false, modifies: false, reportsCapacity: false };
    const wanted = readClaim({ ...claim, spec: { ...claim.spec, accessModes: [...accessModes] } });
    return csiRequestOf(
      { claim: wanted, storageClass: storageClass('fast', { provisioner: driver }), driver, capabilities, volume: () => undefined },
      snapshot,
    );
  };

  it('--controller-publish-readonly: a volume that is ReadOnlyMany alone is attached read-only, and no other', () => {
    const readOnly = { type: 'request', request: { csi: { readOnly: true } } };
    expect(ask('--controller-publish-readonly', ['ReadOnlyMany'])).toMatchObject(readOnly);
    expect(ask('--controller-publish-readonly', ['ReadOnlyMany', 'ReadWriteOnce'])).not.toMatchObject(readOnly);
    expect(ask('--controller-publish-readonly', ['ReadWriteOnce'])).not.toMatchObject(readOnly);
    expect(ask('', ['ReadOnlyMany'])).not.toMatchObject(readOnly);
  });

  it('--extra-create-metadata, --default-fstype', () => {
    const parameters = { [`${prefix}pvc/name`]: 'data', [`${prefix}pvc/namespace`]: 'shop', [`${prefix}pv/name`]: 'pvc-u1' };
    expect(ask('--extra-create-metadata --default-fstype=xfs')).toMatchObject({ type: 'request', request: { parameters, csi: { fsType: 'xfs' } } });
    expect(ask('--extra-create-metadata=false')).toMatchObject({ type: 'request', request: expect.not.objectContaining({ parameters: expect.anything() }) });
  });

  it('another word is refused', () => {
    expect(ask('--volume-name-prefix=x')).toMatchObject({ type: 'refused', message: expect.stringContaining('"--volume-name-prefix=x" is none of') });
  });
});
