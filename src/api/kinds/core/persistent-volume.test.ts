import { describe, expect, test } from 'vitest';
import type { PersistentVolume } from '../../generated/types.ts';
import { persistentVolumeKind as kind } from './persistent-volume.ts';
import { created, NOW, type Raw, refusal, row, statusRefusal, statusUpdated, updated, updateRefusal } from '../try-kind.ts';

const volume = (spec: Raw = {}, metadata: Raw = {}): Raw => ({
  metadata: { name: 'vol', ...metadata },
  spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/tmp/vol' }, ...spec },
});
const withSource = (source: Raw): Raw => volume({ hostPath: undefined, ...source });
const inDomain = 'a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters';

test('a new volume is Pending, retained, a file system, and has its time of transition', () => {
  const made = created(kind, { ...volume(), status: { phase: 'Failed', message: 'x' } });
  expect(made.status).toEqual({ phase: 'Pending', lastPhaseTransitionTime: '2026-03-01T12:00:00Z' });
  expect(made.spec).toMatchObject({ persistentVolumeReclaimPolicy: 'Retain', volumeMode: 'Filesystem', hostPath: { path: '/tmp/vol', type: '' } });
});

test('sources get their defaults', () => {
  const { spec } = created(
    kind,
    withSource({ rbd: { monitors: ['m'], image: 'i' }, iscsi: {}, azureDisk: { diskName: 'd', diskURI: 'u' }, scaleIO: { gateway: 'g', system: 's' } }),
  );
  expect(spec.rbd).toMatchObject({ pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' });
  expect(spec.iscsi).toMatchObject({ iscsiInterface: 'default' });
  expect(spec.azureDisk).toMatchObject({ cachingMode: 'ReadWrite', fsType: 'ext4', readOnly: false, kind: 'Shared' });
  expect(spec.scaleIO).toMatchObject({ storageMode: 'ThinProvisioned', fsType: 'xfs' });
});

test('amounts finer than thousandths are rounded up', () => {
  expect(created(kind, volume({ capacity: { storage: '0.0001' } })).spec.capacity).toEqual({ storage: '1m' });
});

describe('a volume is refused', () => {
  const cases: readonly (readonly [why: string, raw: Raw, ...causes: string[]])[] = [
    ['without a source', volume({ hostPath: undefined }), 'FieldValueRequired spec: Required value: must specify a volume type'],
    [
      'with a second source',
      volume({ nfs: { server: 's', path: '/p' }, cephfs: { monitors: ['m'] } }),
      'FieldValueForbidden spec.nfs: Forbidden: may not specify more than 1 volume type',
      'FieldValueForbidden spec.cephFS: Forbidden: may not specify more than 1 volume type',
    ],
    [
      'without capacity',
      volume({ capacity: undefined }),
      'FieldValueRequired spec.capacity: Required value',
      'FieldValueNotSupported spec.capacity: Unsupported value: null: supported values: "storage"',
    ],
    [
      'with more than storage',
      volume({ capacity: { storage: '1Gi', cpu: '1' } }),
      'FieldValueNotSupported spec.capacity: Unsupported value: {"cpu":"1","storage":"1Gi"}: supported values: "storage"',
    ],
    [
      'with a negative capacity',
      volume({ capacity: { storage: '-1Gi' } }),
      'FieldValueInvalid spec.capacity[storage]: Invalid value: -1073741824: must be a valid resource quantity',
      'FieldValueInvalid spec.capacity[storage]: Invalid value: "-1Gi": must be greater than zero',
    ],
    [
      'with no capacity at all',
      volume({ capacity: { storage: '0' } }),
      'FieldValueInvalid spec.capacity[storage]: Invalid value: "0": must be greater than zero',
    ],
    ['without access modes', volume({ accessModes: [] }), 'FieldValueRequired spec.accessModes: Required value'],
    [
      'with an unknown access mode',
      volume({ accessModes: ['ReadMaybe'] }),
      'FieldValueNotSupported spec.accessModes: Unsupported value: "ReadMaybe": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"',
    ],
    [
      'with a mode beside the one for a single pod',
      volume({ accessModes: ['ReadWriteOncePod', 'ReadWriteOnce'] }),
      'FieldValueForbidden spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes',
    ],
    [
      'with an unknown policy',
      volume({ persistentVolumeReclaimPolicy: 'Burn' }),
      'FieldValueNotSupported spec.persistentVolumeReclaimPolicy: Unsupported value: "Burn": supported values: "Delete", "Recycle", "Retain"',
    ],
    [
      'with an unknown mode',
      volume({ volumeMode: 'Tape' }),
      'FieldValueNotSupported spec.volumeMode: Unsupported value: "Tape": supported values: "Block", "Filesystem"',
    ],
    [
      'if it would recycle the root of a node',
      volume({ hostPath: { path: '/tmp/..//.' }, persistentVolumeReclaimPolicy: 'Recycle' }),
      `FieldValueInvalid spec.hostPath.path: Invalid value: "/tmp/..//.": must not contain '..'`,
      `FieldValueForbidden spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount of '/'`,
    ],
    [
      'with an attributes class but no driver',
      volume({ volumeAttributesClassName: '' }),
      'FieldValueRequired spec.volumeAttributesClassName: Required value: an empty string is disallowed',
      'FieldValueRequired spec.csi: Required value: has to be specified when using volumeAttributesClassName',
    ],
    [
      'with an affinity that requires nothing',
      volume({ nodeAffinity: {} }),
      'FieldValueRequired spec.nodeAffinity.required: Required value: must specify required node constraints',
    ],
    [
      'with an affinity without terms',
      volume({ nodeAffinity: { required: { nodeSelectorTerms: [] } } }),
      'FieldValueRequired spec.nodeAffinity.required.nodeSelectorTerms: Required value: must have at least one node selector term',
    ],
    [
      'with mount options by annotation on a source that has none',
      volume({}, { annotations: { 'volume.beta.kubernetes.io/mount-options': 'ro' } }),
      'FieldValueForbidden metadata.annotations.volume.beta.kubernetes.io/mount-options: Forbidden: may not specify mount options for this volume type',
    ],
  ];
  for (const [why, raw, ...causes] of cases) test(why, () => expect(refusal(kind, raw)).toEqual(causes));

  test('with a class that is no name', () => {
    expect(refusal(kind, volume({ storageClassName: 'No_Class' }))).toEqual([
      expect.stringContaining(`FieldValueInvalid spec.storageClassName: Invalid value: "No_Class": ${inDomain}`),
    ]);
  });
});

describe('a source is refused', () => {
  const required = (...fields: string[]): string[] => fields.map((field) => `FieldValueRequired spec.${field}: Required value`);
  const cases: readonly (readonly [source: Raw, causes: string[]])[] = [
    [{ hostPath: {} }, required('hostPath.path')],
    [
      { hostPath: { path: '/x', type: 'Odd' } },
      [
        'FieldValueNotSupported spec.hostPath.type: Unsupported value: "Odd": supported values: "", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"',
      ],
    ],
    [
      { gcePersistentDisk: { partition: 256 } },
      [...required('persistentDisk.pdName'), 'FieldValueInvalid spec.persistentDisk.partition: Invalid value: 256: must be between 1 and 255, inclusive'],
    ],
    [{ awsElasticBlockStore: {} }, required('awsElasticBlockStore.volumeID')],
    [
      { glusterfs: { endpointsNamespace: '' } },
      [
        ...required('glusterfs.endpoints', 'glusterfs.path'),
        'FieldValueInvalid spec.glusterfs.endpointsNamespace: Invalid value: "": if the endpointnamespace is set, it must be a valid namespace name',
      ],
    ],
    [{ flocker: {} }, ['FieldValueRequired spec.flocker: Required value: one of datasetName and datasetUUID is required']],
    [
      { flocker: { datasetName: 'a/b', datasetUUID: 'u' } },
      [
        'FieldValueInvalid spec.flocker: Invalid value: "resource": datasetName and datasetUUID can not be specified simultaneously',
        `FieldValueInvalid spec.flocker.datasetName: Invalid value: "a/b": must not contain '/'`,
      ],
    ],
    [{ nfs: {} }, [...required('nfs.server', 'nfs.path'), 'FieldValueInvalid spec.nfs.path: Invalid value: "": must be an absolute path']],
    [{ rbd: {} }, required('rbd.monitors', 'rbd.image')],
    [
      { quobyte: { registry: 'host', tenant: 't' } },
      [
        'FieldValueInvalid spec.quobyte.registry: Invalid value: "host": must be a host:port pair or multiple pairs separated by commas',
        ...required('quobyte.volume'),
      ],
    ],
    [{ cephfs: {} }, required('cephfs.monitors')],
    [
      { iscsi: { targetPortal: 'p', iqn: 'odd', lun: 256, chapAuthSession: true } },
      [
        'FieldValueInvalid spec.iscsi.iqn: Invalid value: "odd": must be valid format',
        'FieldValueInvalid spec.iscsi.lun: Invalid value: 256: must be between 0 and 255, inclusive',
        ...required('iscsi.secretRef'),
      ],
    ],
    [
      { iscsi: { targetPortal: 'p'.repeat(61), iqn: 'iqn.2001-04.com.example:a', initiatorName: 'eui.1', secretRef: {} } },
      [
        `FieldValueInvalid spec.iscsi.targetportal: Invalid value: "${'p'.repeat(61)}": Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.`,
        ...required('iscsi.secretRef.name'),
        'FieldValueInvalid spec.iscsi.initiatorname: Invalid value: "eui.1": must be valid format',
      ],
    ],
    [{ cinder: { secretRef: {} } }, required('cinder.volumeID', 'cinder.secretRef.name', 'cinder.secretRef.namespace')],
    [
      { fc: { targetWWNs: ['a'], wwids: ['b'] } },
      [
        'FieldValueInvalid spec.fc.targetWWNs: Invalid value: ["a"]: targetWWNs and wwids can not be specified simultaneously',
        'FieldValueRequired spec.fc.lun: Required value: lun is required if targetWWNs is specified',
      ],
    ],
    [
      { flexVolume: { options: { 'X.Kubernetes.io/a': 'b', k8s: 'c' } } },
      [
        ...required('flexVolume.driver'),
        'FieldValueInvalid spec.flexVolume.options[X.Kubernetes.io/a]: Invalid value: "X.Kubernetes.io/a": kubernetes.io and k8s.io namespaces are reserved',
      ],
    ],
    [{ azureFile: { secretNamespace: '' } }, required('azureFile.secretName', 'azureFile.shareName', 'azureFile.secretNamespace')],
    [{ vsphereVolume: {} }, required('vsphereVolume.volumePath')],
    [{ photonPersistentDisk: {} }, required('photonPersistentDisk.pdID')],
    [{ portworxVolume: {} }, required('portworxVolume.volumeID')],
    [
      { azureDisk: { diskName: 'd', diskURI: 'x', kind: 'Managed', cachingMode: 'Odd' } },
      [
        'FieldValueNotSupported spec.azureDisk.cachingMode: Unsupported value: "Odd": supported values: "None", "ReadOnly", "ReadWrite"',
        'FieldValueNotSupported spec.azureDisk.diskURI: Unsupported value: "x": supported values: "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"',
      ],
    ],
    [{ scaleIO: {} }, required('scaleIO.gateway', 'scaleIO.system', 'scaleIO.volumeName')],
    [{ local: {} }, [...required('local.path'), 'FieldValueRequired spec.nodeAffinity: Required value: Local volume requires node affinity']],
    [{ storageos: { secretRef: {} } }, required('storageos.volumeName', 'storageos.secretRef.name', 'storageos.secretRef.namespace')],
    [
      { csi: { nodeStageSecretRef: {}, nodePublishSecretRef: {} } },
      required('csi.driver', 'csi.volumeHandle', 'csi.nodePublishSecretRef.name', 'csi.nodePublishSecretRef.namespace'),
    ],
    [{ csi: { driver: 'd'.repeat(64), volumeHandle: 'h' } }, ['FieldValueTooLong spec.csi.driver: Too long: may not be more than 63 bytes']],
  ];
  test.each(cases)('%j', (source, causes) => expect(refusal(kind, withSource(source))).toEqual(causes));

  test('drivers may have capitals in their names', () => {
    expect(refusal(kind, withSource({ csi: { driver: 'Disk.Example.com', volumeHandle: 'h' } }))).toEqual([]);
  });

  test('a flexVolume is tolerated beside another source', () => {
    expect(refusal(kind, volume({ flexVolume: { driver: 'd' } }))).toEqual([]);
  });
});

describe('a change is refused', () => {
  const old = created(kind, volume());
  const affine = created(
    kind,
    volume({
      nodeAffinity: {
        required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'failure-domain.beta.kubernetes.io/zone', operator: 'In', values: ['a'] }] }] },
      },
    }),
  );
  const zoneKey = (object: PersistentVolume, key: string): void => {
    const requirement = object.spec.nodeAffinity?.required?.nodeSelectorTerms?.[0]?.matchExpressions?.[0];
    if (requirement) requirement.key = key;
  };

  test('of the source, with what differs', () => {
    const [cause, ...others] = updateRefusal(kind, old, ({ spec }) => {
      spec.hostPath = { path: '/tmp/other', type: '' };
    });
    expect(others).toEqual([]);
    expect(cause).toBe(
      [
        'FieldValueForbidden spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation',
        '@@ -2,7 +2,7 @@',
        '  "GCEPersistentDisk": null,',
        '  "AWSElasticBlockStore": null,',
        '  "HostPath": {',
        '-  "Path": "/tmp/vol",',
        '+  "Path": "/tmp/other",',
        '   "Type": ""',
        '  },',
        '  "Glusterfs": null,',
        '',
      ].join('\n'),
    );
  });

  test('of the mode, without spec in the field', () => {
    expect(updateRefusal(kind, old, ({ spec }) => void (spec.volumeMode = 'Block'))).toEqual([
      'FieldValueInvalid volumeMode: Invalid value: "Block": field is immutable',
    ]);
  });

  test('twice for what is wrong by itself', () => {
    const cause = 'FieldValueRequired spec.accessModes: Required value';
    expect(updateRefusal(kind, old, ({ spec }) => void (spec.accessModes = []))).toEqual([cause, cause]);
  });

  test('of an affinity that is there', () => {
    expect(updateRefusal(kind, affine, (object) => zoneKey(object, 'zone'))).toEqual([
      'FieldValueInvalid nodeAffinity: Invalid value: {"Required":{"NodeSelectorTerms":[{"MatchExpressions":[{"Key":"zone","Operator":"In","Values":["a"]}],"MatchFields":null}]}}: field is immutable, except for updating from beta label to GA',
    ]);
    expect(updateRefusal(kind, affine, ({ spec }) => void delete spec.nodeAffinity)).toHaveLength(1);
  });

  test('that takes the attributes class away', () => {
    const classy = created(kind, withSource({ csi: { driver: 'd', volumeHandle: 'h' }, volumeAttributesClassName: 'gold' }));
    expect(updateRefusal(kind, classy, ({ spec }) => void delete spec.volumeAttributesClassName)).toEqual([
      'FieldValueForbidden spec.volumeAttributesClassName: Forbidden: update from non-nil value to nil is forbidden',
    ]);
    expect(updateRefusal(kind, classy, ({ spec }) => void (spec.volumeAttributesClassName = 'iron'))).toEqual([]);
  });

  test('but not of anything else', () => {
    const change = ({ spec, metadata }: PersistentVolume): void => {
      metadata.labels = { a: 'b' };
      spec.persistentVolumeReclaimPolicy = 'Delete';
      spec.mountOptions = ['ro'];
      spec.accessModes = ['ReadOnlyMany'];
      spec.capacity = { storage: '2Gi' };
      spec.claimRef = { namespace: 'default', name: 'data' };
      spec.storageClassName = 'fast';
      spec.nodeAffinity = { required: { nodeSelectorTerms: [{}] } };
    };
    expect(updateRefusal(kind, old, change)).toEqual([]);
  });

  test('and not of a beta label to its successor, nor of a secret for growing that was missing', () => {
    expect(updateRefusal(kind, affine, (object) => zoneKey(object, 'topology.kubernetes.io/zone'))).toEqual([]);
    const csi = created(kind, withSource({ csi: { driver: 'd', volumeHandle: 'h' } }));
    const withSecret = updated(kind, csi, ({ spec }) => {
      if (spec.csi) spec.csi.controllerExpandSecretRef = { name: 's', namespace: 'n' };
    });
    expect(updateRefusal(kind, csi, (object) => void (object.spec = withSecret.spec))).toEqual([]);
    expect(updateRefusal(kind, withSecret, ({ spec }) => void delete spec.csi?.controllerExpandSecretRef)).toHaveLength(1);
  });
});

describe('the time of the last phase', () => {
  const old = created(kind, volume());
  old.status = { phase: 'Available', lastPhaseTransitionTime: '2026-01-01T00:00:00Z' };
  test.each([
    ['is kept while the phase stays', { phase: 'Available' }, '2026-01-01T00:00:00Z'],
    ['is now when the phase changes', { phase: 'Bound' }, new Date(NOW).toISOString().replace('.000', '')],
    ['is now when the phase changes and the old one was sent', { phase: 'Bound', lastPhaseTransitionTime: '2026-01-01T00:00:00Z' }, '2026-03-01T12:00:00Z'],
    ['is what the client says', { phase: 'Bound', lastPhaseTransitionTime: '2026-02-02T00:00:00Z' }, '2026-02-02T00:00:00Z'],
  ])('%s', (_, status, time) => {
    const object = statusUpdated(kind, old, (copy) => void (copy.status = status));
    expect(object.status.lastPhaseTransitionTime).toBe(time);
    expect(statusRefusal(kind, old, (copy) => void (copy.status = status))).toEqual([]);
  });
});

test('clients are warned of what is old', () => {
  const raw = withSource({
    glusterfs: { endpoints: 'e', path: 'p' },
    persistentVolumeReclaimPolicy: 'Recycle',
    nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'beta.kubernetes.io/os', operator: 'Exists' }] }] } },
  });
  expect(
    kind.warnings?.(created(kind, { ...raw, metadata: { name: 'vol', annotations: { 'volume.beta.kubernetes.io/storage-class': 'x' } } }), undefined),
  ).toEqual([
    'metadata.annotations[volume.beta.kubernetes.io/storage-class]: deprecated since v1.8; use "storageClassName" attribute instead',
    'spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.',
    'spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0].key: beta.kubernetes.io/os is deprecated since v1.14; use "kubernetes.io/os" instead',
    'spec.glusterfs: deprecated in v1.25, non-functional in v1.26+',
  ]);
});

test('a row shows the volume and its claim', () => {
  const object = created(kind, volume({ claimRef: { namespace: 'default', name: 'data' }, storageClassName: 'fast' }));
  object.status = { phase: 'Bound', reason: 'Because' };
  expect(row(kind, object)).toEqual({
    Name: 'vol',
    Capacity: '1Gi',
    'Access Modes': 'RWO',
    'Reclaim Policy': 'Retain',
    Status: 'Bound',
    Claim: 'default/data',
    StorageClass: 'fast',
    VolumeAttributesClass: '<unset>',
    Reason: 'Because',
    Age: '60m',
    VolumeMode: 'Filesystem',
  });
  object.metadata.deletionTimestamp = '2026-03-01T11:59:00Z';
  expect(row(kind, object).Status).toBe('Terminating');
});
