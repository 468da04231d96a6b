import { describe, expect, test } from 'vitest';
import type { CSINode, StorageClass, VolumeAttachment } from '../generated/types.ts';
import type { Kind } from '../kind.ts';
import type { KubeObject } from '../object.ts';
import { csiDriverKind } from './storage/csi-driver.ts';
import { csiNodeKind } from './storage/csi-node.ts';
import { csiStorageCapacityKind } from './storage/csi-storage-capacity.ts';
import { storageClassKind } from './storage/storage-class.ts';
import { created, type Raw, refusal, row, statusRefusal, statusUpdated, updated, updateRefusal } from './try-kind.ts';
import { volumeAttachmentKind } from './storage/volume-attachment.ts';
import { volumeAttributesClassKind } from './storage/volume-attributes-class.ts';

type Case = readonly [why: string, raw: Raw, ...causes: (string | RegExp)[]];

function refuses<T extends KubeObject>(kind: Kind<T>, cases: readonly Case[]): void {
  for (const [why, raw, ...causes] of cases) {
    test(why, () => expect(refusal(kind, raw)).toEqual(causes.map((cause) => (typeof cause === 'string' ? cause : expect.stringMatching(cause)))));
  }
}

describe('a storage class', () => {
  const storageClass = (more: Raw = {}): Raw => ({ metadata: { name: 'fast' }, provisioner: 'Example.com/p', parameters: { a: 'b' }, ...more });
  const zones = (...values: string[]): Raw => ({ matchLabelExpressions: [{ key: 'zone', values }] });

  test('deletes and binds at once unless told otherwise, and says nothing of growth', () => {
    expect(created(storageClassKind, storageClass())).toMatchObject({ reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' });
    expect(created(storageClassKind, storageClass())).not.toHaveProperty('allowVolumeExpansion');
  });

  refuses(storageClassKind, [
    ['needs a provisioner', storageClass({ provisioner: '' }), 'FieldValueRequired provisioner: Required value'],
    [
      'needs a provisioner with a name',
      storageClass({ provisioner: 'No Name' }),
      /^FieldValueInvalid provisioner: Invalid value: "no name": name part must consist of/,
    ],
    [
      'has no other policies than two',
      storageClass({ reclaimPolicy: 'Recycle' }),
      'FieldValueNotSupported reclaimPolicy: Unsupported value: "Recycle": supported values: "Delete", "Retain"',
    ],
    [
      'binds in one of two ways',
      storageClass({ volumeBindingMode: 'Later' }),
      'FieldValueNotSupported volumeBindingMode: Unsupported value: "Later": supported values: "Immediate", "WaitForFirstConsumer"',
    ],
    ['has no empty parameters', storageClass({ parameters: { '': 'x' } }), 'FieldValueInvalid parameters: Invalid value: "": field can not be empty.'],
    [
      'has at most 512 parameters',
      storageClass({ parameters: Object.fromEntries(Array.from({ length: 513 }, (_, i) => [`k${i}`, ''])) }),
      'FieldValueTooLong parameters: Too long: may not be more than 512 bytes',
    ],
    [
      'has at most 256 KiB of parameters',
      storageClass({ parameters: { a: 'é'.repeat(131_072) } }),
      'FieldValueTooLong parameters: Too long: may not be more than 262144 bytes',
    ],
    [
      'lists values once, and keys once, in a topology',
      storageClass({
        allowedTopologies: [
          {
            matchLabelExpressions: [
              { key: 'zone', values: ['a', 'a'] },
              { key: 'zone', values: [] },
            ],
          },
        ],
      }),
      'FieldValueDuplicate allowedTopologies[0].matchLabelExpressions[0].values[1]: Duplicate value: "a"',
      'FieldValueRequired allowedTopologies[0].matchLabelExpressions[1].values: Required value',
      'FieldValueDuplicate allowedTopologies[0].matchLabelExpressions[1].key: Duplicate value: "zone"',
    ],
    [
      'lists topologies once, whatever their order',
      storageClass({ allowedTopologies: [zones('a', 'b'), zones('b', 'a')] }),
      'FieldValueDuplicate allowedTopologies[1].matchLabelExpressions: Duplicate value: ""',
    ],
    [
      'lists no empty topology',
      storageClass({ allowedTopologies: [{}, zones('a')] }),
      'FieldValueDuplicate allowedTopologies[0].matchLabelExpressions: Duplicate value: ""',
      'FieldValueDuplicate allowedTopologies[0].matchLabelExpressions: Duplicate value: ""',
    ],
  ]);

  const old = created(storageClassKind, storageClass());
  test.each<[string, (object: StorageClass) => void, string[]]>([
    ['parameters', (object) => void (object.parameters = { a: 'c' }), ['FieldValueInvalid parameters: Invalid value: {"a":"c"}: field is immutable']],
    ['all parameters', (object) => void delete object.parameters, ['FieldValueInvalid parameters: Invalid value: null: field is immutable']],
    ['its provisioner', (object) => void (object.provisioner = 'q'), ['FieldValueInvalid provisioner: Invalid value: "q": field is immutable']],
    ['its policy', (object) => void (object.reclaimPolicy = 'Retain'), ['FieldValueInvalid reclaimPolicy: Invalid value: "Retain": field is immutable']],
    [
      'how it binds',
      (object) => void (object.volumeBindingMode = 'WaitForFirstConsumer'),
      ['FieldValueInvalid volumeBindingMode: Invalid value: "WaitForFirstConsumer": field is immutable'],
    ],
    [
      'expansion, options and topologies',
      (object) => Object.assign(object, { allowVolumeExpansion: true, mountOptions: ['ro'], allowedTopologies: [zones('a')] }),
      [],
    ],
  ])('changes of %s', (_, change, causes) => expect(updateRefusal(storageClassKind, old, change)).toEqual(causes));

  test('is marked in a row if it is the default', () => {
    const made = created(
      storageClassKind,
      storageClass({ metadata: { name: 'fast', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } } }),
    );
    expect(row(storageClassKind, made)).toMatchObject({ Name: 'fast (default)', AllowVolumeExpansion: false });
  });

  test('warns of old labels', () => {
    const made = created(
      storageClassKind,
      storageClass({ allowedTopologies: [{ matchLabelExpressions: [{ key: 'beta.kubernetes.io/arch', values: ['x'] }] }] }),
    );
    expect(storageClassKind.warnings?.(made, undefined)).toEqual([
      'allowedTopologies[0].matchLabelExpressions[0].key: deprecated since v1.14; use "kubernetes.io/arch" instead',
    ]);
  });
});

describe('an attributes class', () => {
  const attributes = (more: Raw = {}): Raw => ({ metadata: { name: 'gold' }, driverName: 'driver', parameters: { tier: 'gold' }, ...more });
  refuses(volumeAttributesClassKind, [
    ['needs a driver', attributes({ driverName: '' }), 'FieldValueRequired driverName: Required value'],
    ['needs parameters', attributes({ parameters: {} }), 'FieldValueRequired parameters: Required value: must contain at least one key/value pair'],
  ]);
  test('cannot be changed', () => {
    const old = created(volumeAttributesClassKind, attributes());
    expect(updateRefusal(volumeAttributesClassKind, old, (object) => Object.assign(object, { parameters: { tier: 'x' }, driverName: 'y' }))).toEqual([
      'FieldValueForbidden driverName: Forbidden: updates to driverName are forbidden.',
      'FieldValueForbidden parameters: Forbidden: updates to parameters are forbidden.',
    ]);
  });
});

describe('an attachment', () => {
  const attachment = (spec: Raw = {}): Raw => ({
    metadata: { name: 'att' },
    spec: { attacher: 'driver', nodeName: 'n1', source: { persistentVolumeName: 'vol' }, ...spec },
  });
  const inline = (spec: Raw): Raw =>
    attachment({ source: { inlineVolumeSpec: { accessModes: ['ReadWriteOnce'], csi: { driver: 'd', volumeHandle: 'h' }, ...spec } } });
  const notInline = 'Forbidden: may not be specified in the context of inline volumes';
  const at = 'spec.source.inlineVolumeSpec';

  test('is not attached at first, whatever it says', () => {
    expect(created(volumeAttachmentKind, { ...attachment(), status: { attached: true } }).status).toEqual({ attached: false });
  });

  refuses(volumeAttachmentKind, [
    ['needs an attacher', attachment({ attacher: '' }), 'FieldValueRequired spec.attacher: Required value'],
    ['needs a node', attachment({ nodeName: undefined }), /^FieldValueInvalid spec.nodeName: Invalid value: "": a lowercase RFC 1123 subdomain/],
    [
      'needs a source',
      attachment({ source: {} }),
      'FieldValueRequired spec.source: Required value: must specify exactly one of inlineVolumeSpec and persistentVolumeName',
    ],
    [
      'needs a named source',
      attachment({ source: { persistentVolumeName: '' } }),
      'FieldValueRequired spec.source.persistentVolumeName: Required value: must specify non empty persistentVolumeName',
      /^FieldValueInvalid spec.source.persistentVolumeName: Invalid value: ""/,
    ],
    [
      'has one source only',
      attachment({ source: { persistentVolumeName: 'vol', inlineVolumeSpec: {} } }),
      'FieldValueForbidden spec.source: Forbidden: must specify exactly one of inlineVolumeSpec and persistentVolumeName',
    ],
    [
      'says little of an inline volume',
      inline({
        claimRef: {},
        capacity: { storage: '1Gi' },
        persistentVolumeReclaimPolicy: 'Delete',
        nodeAffinity: {},
        storageClassName: 'x',
        volumeMode: 'Block',
      }),
      `FieldValueForbidden ${at}.claimRef: ${notInline}`,
      `FieldValueForbidden ${at}.capacity: ${notInline}`,
      `FieldValueForbidden ${at}.persistentVolumeReclaimPolicy: Forbidden: may only be Retain in the context of inline volumes`,
      `FieldValueForbidden ${at}.nodeAffinity: ${notInline}`,
      `FieldValueForbidden ${at}.storageClassName: ${notInline}`,
      `FieldValueForbidden ${at}.volumeMode: Forbidden: may not specify volumeMode other than Filesystem in the context of inline volumes`,
    ],
    [
      'knows inline volumes of drivers only',
      inline({ csi: undefined, hostPath: { path: '/x' } }),
      `FieldValueRequired ${at}.csi: Required value: has to be specified in the context of inline volumes`,
    ],
  ]);

  const old = created(volumeAttachmentKind, attachment());
  test('cannot be changed', () => {
    expect(updateRefusal(volumeAttachmentKind, old, ({ spec }) => void (spec.nodeName = 'n2'))).toEqual([
      'FieldValueInvalid spec: Invalid value: {"Attacher":"driver","Source":{"PersistentVolumeName":"vol","InlineVolumeSpec":null},"NodeName":"n2"}: field is immutable',
    ]);
  });

  test('keeps its metadata when its status is written', () => {
    const change = (object: VolumeAttachment): void => {
      object.metadata.labels = { a: 'b' };
      object.status = { attached: true };
    };
    expect(statusUpdated(volumeAttachmentKind, old, change)).toMatchObject({ status: { attached: true } });
    expect(statusUpdated(volumeAttachmentKind, old, change).metadata).not.toHaveProperty('labels');
  });

  test('has errors of limited length and no negative codes', () => {
    const change = (object: VolumeAttachment): void => {
      object.status = {
        attached: false,
        attachError: { time: null, message: 'x'.repeat(1025), errorCode: -1 },
        attachmentMetadata: { a: 'x'.repeat(262_144) },
      };
    };
    expect(statusRefusal(volumeAttachmentKind, old, change)).toEqual([
      'FieldValueTooLong status.attachmentMetadata: Too long: may not be more than 262144 bytes',
      'FieldValueTooLong status.attachError.message: Too long: may not be more than 262144 bytes',
      'FieldValueInvalid status.attachError.errorCode: Invalid value: -1: must be between 0 and 2147483647, inclusive',
    ]);
  });
});

describe('a node lists its drivers', () => {
  const node = (...drivers: Raw[]): Raw => ({ metadata: { name: 'n1' }, spec: { drivers } });
  const one = { name: 'one.example.com', nodeID: 'n1', allocatable: { count: 4 } };

  test('and prints missing keys as null', () => {
    expect(created(csiNodeKind, node(one)).spec.drivers).toEqual([{ name: 'one.example.com', nodeID: 'n1', topologyKeys: null, allocatable: { count: 4 } }]);
  });

  refuses(csiNodeKind, [
    ['each once', node(one, one), 'FieldValueDuplicate spec.drivers[1].name: Duplicate value: "one.example.com"'],
    ['with a name', node({ name: 'no name', nodeID: 'n' }), /^FieldValueInvalid spec.drivers\[0\].name: Invalid value: "no name"/],
    ['with an id', node({ name: 'd' }), 'FieldValueRequired spec.drivers[0].nodeID: Required value'],
    [
      'with a short id',
      node({ name: 'd', nodeID: 'x'.repeat(257) }),
      `FieldValueInvalid spec.drivers[0].nodeID: Invalid value: "${'x'.repeat(257)}": must be 256 characters or less`,
    ],
    [
      'with a limit that is none below zero',
      node({ ...one, allocatable: { count: -1 } }),
      'FieldValueInvalid spec.drivers[0].allocatable.count: Invalid value: -1: must be greater than or equal to 0',
    ],
    [
      'with keys that are keys, each once',
      node({ ...one, topologyKeys: ['a', 'a', ''] }),
      'FieldValueDuplicate spec.drivers[0]: Duplicate value: "a"',
      'FieldValueRequired spec.drivers[0]: Required value',
      'FieldValueInvalid spec.drivers[0]: Invalid value: "": name part must be non-empty',
      /^FieldValueInvalid spec.drivers\[0\]: Invalid value: "": name part must consist of/,
    ],
  ]);

  const old = created(csiNodeKind, node(one));
  const first = ({ spec }: CSINode) => spec.drivers?.[0];
  test('which stay as they are', () => {
    const change = (object: CSINode): void => void Object.assign(first(object) ?? {}, { nodeID: 'n2' });
    expect(updateRefusal(csiNodeKind, old, change)).toEqual([
      'FieldValueInvalid spec.drivers: Invalid value: {"Name":"one.example.com","NodeID":"n2","TopologyKeys":null,"Allocatable":null}: field is immutable',
    ]);
  });
  test('except for how many volumes they attach; and others may come and go', () => {
    expect(updateRefusal(csiNodeKind, old, (object) => void Object.assign(first(object) ?? {}, { allocatable: { count: 5 } }))).toEqual([]);
    expect(updateRefusal(csiNodeKind, old, ({ spec }) => void spec.drivers?.push({ name: 'two', nodeID: 'n', topologyKeys: null }))).toEqual([]);
    expect(updateRefusal(csiNodeKind, old, ({ spec }) => void (spec.drivers = []))).toEqual([]);
  });
});

describe('a driver', () => {
  const driver = (spec: Raw = {}): Raw => ({ metadata: { name: 'driver' }, spec });

  test('gets its defaults', () => {
    expect(created(csiDriverKind, driver({ preventPodSchedulingIfMissing: true })).spec).toEqual({
      attachRequired: true,
      fsGroupPolicy: 'ReadWriteOnceWithFSType',
      podInfoOnMount: false,
      requiresRepublish: false,
      seLinuxMount: false,
      storageCapacity: false,
      volumeLifecycleModes: ['Persistent'],
    });
  });

  refuses(csiDriverKind, [
    [
      'has known values',
      driver({ fsGroupPolicy: 'Odd', volumeLifecycleModes: ['Persistent', 'Odd'], nodeAllocatableUpdatePeriodSeconds: 9 }),
      'FieldValueNotSupported spec.fsGroupPolicy: Unsupported value: "Odd": supported values: "File", "None", "ReadWriteOnceWithFSType"',
      'FieldValueNotSupported spec.volumeLifecycleModes: Unsupported value: "Odd": supported values: "Persistent", "Ephemeral"',
      'FieldValueInvalid spec.nodeAllocatableUpdatePeriodSeconds: Invalid value: 9: must be greater than or equal to 10 seconds',
    ],
    [
      'asks for one token per audience, for some time',
      driver({ tokenRequests: [{ audience: 'a', expirationSeconds: 599 }, { audience: 'a' }, { audience: 'b', expirationSeconds: 4294967297 }] }),
      'FieldValueInvalid spec.tokenRequests[0].expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes',
      'FieldValueDuplicate spec.tokenRequests[1].audience: Duplicate value: "a"',
      'FieldValueInvalid spec.tokenRequests[2].expirationSeconds: Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds',
    ],
    [
      'has tokens to put into secrets',
      driver({ serviceAccountTokenInSecrets: false }),
      'FieldValueInvalid spec.serviceAccountTokenInSecrets: Invalid value: false: serviceAccountTokenInSecrets is set but no tokenRequests are specified',
    ],
  ]);

  const old = created(csiDriverKind, driver());
  test('attaches and lives as it began', () => {
    expect(updateRefusal(csiDriverKind, old, ({ spec }) => Object.assign(spec, { attachRequired: false, volumeLifecycleModes: ['Ephemeral'] }))).toEqual([
      'FieldValueInvalid spec.attachedRequired: Invalid value: false: field is immutable',
      'FieldValueInvalid spec.volumeLifecycleModes: Invalid value: ["Ephemeral"]: field is immutable',
    ]);
  });
  test('changes in everything else, and counts it', () => {
    const change = { podInfoOnMount: true, requiresRepublish: true, storageCapacity: true, seLinuxMount: true, fsGroupPolicy: 'File' };
    expect(updateRefusal(csiDriverKind, old, ({ spec }) => Object.assign(spec, change))).toEqual([]);
    expect(old.metadata.generation).toBeUndefined();
    expect(updated(csiDriverKind, old, ({ spec }) => Object.assign(spec, change)).metadata.generation).toBe(1);
  });
  test('is warned that tokens may be logged', () => {
    const made = created(csiDriverKind, driver({ tokenRequests: [{ audience: 'a' }] }));
    expect(csiDriverKind.warnings?.(made, undefined)).toHaveLength(1);
    expect(csiDriverKind.warnings?.(made, made)).toEqual([]);
    expect(row(csiDriverKind, made).TokenRequests).toBe('a');
    expect(row(csiDriverKind, old).TokenRequests).toBe('<unset>');
  });
});

describe('a storage capacity', () => {
  const capacity = (more: Raw = {}): Raw => ({ metadata: { name: 'cap' }, storageClassName: 'fast', nodeTopology: { matchLabels: { zone: 'a' } }, ...more });
  refuses(csiStorageCapacityKind, [
    [
      'is of a class, at a place, and not negative',
      capacity({ storageClassName: '', nodeTopology: { matchExpressions: [{ key: 'a', operator: 'Odd' }] }, capacity: '-1' }),
      'FieldValueInvalid nodeTopology.matchExpressions[0].operator: Invalid value: "Odd": not a valid selector operator',
      /^FieldValueInvalid storageClassName: Invalid value: ""/,
      'FieldValueInvalid capacity: Invalid value: "-1": must be greater than or equal to 0',
    ],
  ]);
  test('changes only in its amount', () => {
    const old = created(csiStorageCapacityKind, capacity({ capacity: '1Gi' }));
    expect(updateRefusal(csiStorageCapacityKind, old, (object) => Object.assign(object, { capacity: '2Gi', maximumVolumeSize: '1Gi' }))).toEqual([]);
    expect(updateRefusal(csiStorageCapacityKind, old, (object) => Object.assign(object, { storageClassName: 'slow', nodeTopology: undefined }))).toEqual([
      'FieldValueInvalid nodeTopology: Invalid value: null: field is immutable',
      'FieldValueInvalid storageClassName: Invalid value: "slow": field is immutable',
    ]);
  });
});
