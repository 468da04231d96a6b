import { describe, expect, test } from 'vitest';
import type { PersistentVolumeClaim } from '../../generated/types.ts';
import { persistentVolumeClaimKind as kind } from './persistent-volume-claim.ts';
import { created, type Raw, refusal, row, statusRefusal, updated, updateRefusal } from '../try-kind.ts';

const claim = (spec: Raw = {}, metadata: Raw = {}): Raw => ({
  metadata: { name: 'data', ...metadata },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
});
const asking = (storage: string): Raw => ({ resources: { requests: { storage } } });
const bound = (spec: Raw = {}, status: Partial<PersistentVolumeClaim['status']> = {}): PersistentVolumeClaim => {
  const object = created(kind, claim({ storageClassName: 'fast', volumeName: 'vol', ...spec }));
  object.status = { phase: 'Bound', capacity: { storage: '1Gi' }, ...status };
  return object;
};
const immutable =
  'FieldValueForbidden spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';
const firstLine = (cause: string | undefined): string => cause?.split('\n')[0] ?? '';
const request = (storage: string) => (object: PersistentVolumeClaim) => {
  object.spec.resources = { requests: { storage } };
};

test('a new claim is Pending and asks for a file system', () => {
  const made = created(kind, { ...claim(), status: { phase: 'Bound', capacity: { storage: '9Gi' } } });
  expect(made.status).toEqual({ phase: 'Pending' });
  expect(made.spec.volumeMode).toBe('Filesystem');
});

describe('a claim is refused', () => {
  const cases: readonly (readonly [why: string, raw: Raw, ...causes: string[]])[] = [
    ['without access modes', claim({ accessModes: [] }), 'FieldValueRequired spec.accessModes: Required value: at least 1 access mode is required'],
    ['without a request', claim({ resources: undefined }), 'FieldValueRequired spec.resources[storage]: Required value'],
    ['with a negative request', claim(asking('-5')), 'FieldValueInvalid spec.resources[storage]: Invalid value: "-5": must be greater than zero'],
    ['with a request for nothing', claim(asking('0')), 'FieldValueInvalid spec.resources[storage]: Invalid value: "0": must be greater than zero'],
    [
      'with another mode beside the one for a single pod',
      claim({ accessModes: ['ReadWriteOncePod', 'ReadWriteOnce'] }),
      'FieldValueForbidden spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes',
    ],
    [
      'with an unknown mode',
      claim({ volumeMode: 'Tape' }),
      'FieldValueNotSupported spec.volumeMode: Unsupported value: "Tape": supported values: "Block", "Filesystem"',
    ],
    [
      'with a selector that selects nothing',
      claim({ selector: { matchExpressions: [{ key: 'a', operator: 'In' }] } }),
      "FieldValueRequired spec.selector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
    ],
    [
      'with a source without a name',
      claim({ dataSourceRef: { kind: 'Widget' } }),
      'FieldValueRequired spec.dataSource.name: Required value',
      'FieldValueInvalid spec.dataSource: Invalid value: "Widget": must be \'PersistentVolumeClaim\' when referencing the default apiGroup',
      'FieldValueRequired spec.dataSourceRef.name: Required value',
      'FieldValueInvalid spec.dataSourceRef: Invalid value: "Widget": must be \'PersistentVolumeClaim\' when referencing the default apiGroup',
    ],
    [
      'with two different sources',
      claim({ dataSource: { kind: 'PersistentVolumeClaim', name: 'a' }, dataSourceRef: { kind: 'PersistentVolumeClaim', name: 'b' } }),
      'FieldValueInvalid spec: Invalid value: {}: must match dataSourceRef',
    ],
  ];
  for (const [why, raw, ...causes] of cases) test(why, () => expect(refusal(kind, raw)).toEqual(causes));

  test.each(['Data', 'under_score', '-x', 'a'.repeat(254)])('with the name %s', (name) => {
    expect(refusal(kind, claim({}, { name }))).toEqual([expect.stringContaining(`FieldValueInvalid metadata.name: Invalid value: "${name}"`)]);
  });

  test('without a name', () => {
    expect(refusal(kind, claim({}, { name: '' }))).toEqual(['FieldValueRequired metadata.name: Required value: name or generateName is required']);
  });

  test('but not with limits below requests, nor with an unknown volumeMode', () => {
    expect(refusal(kind, claim({ resources: { requests: { storage: '2Gi' }, limits: { storage: '1Gi' } }, volumeName: 'No/Name' }))).toEqual([]);
  });
});

describe('the source of a claim is said twice', () => {
  const snapshot = { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: 's' };
  const other = { apiGroup: 'example.com', kind: 'Widget', name: 'w' };
  test('dataSource is copied to dataSourceRef, with a null for the group it has not', () => {
    const { spec } = created(kind, claim({ dataSource: { kind: 'PersistentVolumeClaim', name: 'a' } }));
    expect(spec.dataSourceRef).toEqual({ apiGroup: null, kind: 'PersistentVolumeClaim', name: 'a' });
  });
  test('dataSourceRef is copied to dataSource', () => {
    expect(created(kind, claim({ dataSourceRef: other })).spec.dataSource).toEqual(other);
  });
  test('a dataSource that is neither claim nor snapshot is dropped', () => {
    const { spec } = created(kind, claim({ dataSource: other }));
    expect([spec.dataSource, spec.dataSourceRef]).toEqual([undefined, undefined]);
    expect(created(kind, claim({ dataSource: snapshot })).spec.dataSource).toEqual(snapshot);
  });
  test('a source in another namespace stays, in dataSourceRef alone: an empty volume would look like lost data', () => {
    const { spec } = created(kind, claim({ dataSourceRef: { ...other, namespace: 'else' } }));
    expect([spec.dataSource, spec.dataSourceRef]).toEqual([undefined, { ...other, namespace: 'else' }]);
  });
  test('taking one of both away changes nothing', () => {
    const old = created(kind, claim({ dataSource: snapshot }));
    for (const field of ['dataSource', 'dataSourceRef'] as const) {
      expect(updated(kind, old, ({ spec }) => void delete spec[field]).spec).toEqual(old.spec);
    }
  });
  test('an unknown dataSource on a claim without any is dropped also on update', () => {
    expect(updated(kind, created(kind, claim()), ({ spec }) => void (spec.dataSource = other)).spec.dataSource).toBeUndefined();
  });
});

describe('the spec of a claim is fixed', () => {
  const old = created(kind, claim({ storageClassName: 'fast' }));
  const causes = (change: (object: PersistentVolumeClaim) => void): string[] => updateRefusal(kind, old, change).map(firstLine);

  test('and the message shows what differs', () => {
    expect(updateRefusal(kind, old, ({ spec }) => void (spec.storageClassName = 'slow'))).toEqual([
      [
        immutable,
        '@@ -10,7 +10,7 @@',
        '   }',
        '  },',
        '  "VolumeName": "",',
        '- "StorageClassName": "fast",',
        '+ "StorageClassName": "slow",',
        '  "VolumeMode": "Filesystem",',
        '  "DataSource": null,',
        '  "DataSourceRef": null,',
        '',
      ].join('\n'),
    ]);
  });

  test('its access modes, selector and mode too', () => {
    expect(causes(({ spec }) => void (spec.accessModes = ['ReadWriteMany']))).toEqual([immutable]);
    expect(causes(({ spec }) => void (spec.selector = { matchLabels: { a: 'b' } }))).toEqual([immutable]);
    expect(causes(({ spec }) => void (spec.volumeMode = 'Block'))).toEqual([
      immutable,
      'FieldValueInvalid volumeMode: Invalid value: "Block": field is immutable',
    ]);
  });

  test('its request as long as it is not bound', () => {
    expect(causes(request('2Gi'))).toEqual([immutable]);
    expect(causes(request('1073741824'))).toEqual([]);
  });

  test('its volume once it has one', () => {
    expect(causes(({ spec }) => void (spec.volumeName = 'vol'))).toEqual([]);
    expect(updateRefusal(kind, bound(), ({ spec }) => void (spec.volumeName = 'other')).map(firstLine)).toEqual([immutable]);
  });

  test('but metadata is not', () => {
    expect(causes(({ metadata }) => void (metadata.annotations = { note: 'x' }))).toEqual([]);
  });
});

describe('a bound claim can ask for more', () => {
  const grown = bound({ resources: { requests: { storage: '5Gi' } } });
  const tooSmall = 'FieldValueForbidden spec.resources.requests.storage: Forbidden: field can not be less than status.capacity';
  test.each([
    ['more', bound(), '2Gi', []],
    ['less than it asked for, but more than it has', grown, '2Gi', []],
    ['as much as it has', grown, '1Gi', [tooSmall]],
    ['less than it has', grown, '512Mi', [tooSmall]],
    ['less than it ever asked for', bound(), '512Mi', [tooSmall]],
  ])('%s', (_, old, storage, causes) => expect(updateRefusal(kind, old, request(storage))).toEqual(causes));

  test('but not for anything beside storage', () => {
    const change = (object: PersistentVolumeClaim): void => void (object.spec.resources = { requests: { storage: '1Gi', cpu: '1' } });
    expect(updateRefusal(kind, bound(), change).map(firstLine)).toEqual([immutable]);
  });
});

describe('the class of a claim', () => {
  const annotation = 'volume.beta.kubernetes.io/storage-class';
  test('can be set later, once, also when it is bound', () => {
    const old = bound({ storageClassName: undefined });
    expect(updateRefusal(kind, old, ({ spec }) => void (spec.storageClassName = 'fast'))).toEqual([]);
    expect(updateRefusal(kind, bound({ storageClassName: '' }), ({ spec }) => void (spec.storageClassName = 'fast')).map(firstLine)).toEqual([immutable]);
    expect(updateRefusal(kind, bound(), ({ spec }) => void delete spec.storageClassName).map(firstLine)).toEqual([immutable]);
  });
  test('can move from the annotation to the field, if it stays the same', () => {
    const old = created(kind, claim({}, { annotations: { [annotation]: 'fast' } }));
    const move = (name: string) => (object: PersistentVolumeClaim) => {
      delete object.metadata.annotations;
      object.spec.storageClassName = name;
    };
    expect(updateRefusal(kind, old, move('fast'))).toEqual([]);
    expect(updateRefusal(kind, old, move('slow')).map(firstLine)).toEqual([
      `FieldValueInvalid metadata.annotations.${annotation}: Invalid value: "": field is immutable`,
      immutable,
    ]);
  });
});

describe('the attributes class of a claim', () => {
  const old = bound({ volumeAttributesClassName: 'gold' }, { currentVolumeAttributesClassName: 'gold' });
  const set = (name: string | undefined) => (object: PersistentVolumeClaim) => {
    if (name === undefined) delete object.spec.volumeAttributesClassName;
    else object.spec.volumeAttributesClassName = name;
  };
  const forbidden = 'FieldValueForbidden spec.volumeAttributesClassName: Forbidden: update to';
  test('can be changed but not taken away once it was applied', () => {
    expect(updateRefusal(kind, old, set('iron'))).toEqual([]);
    expect(updateRefusal(kind, old, set(undefined))).toEqual([`${forbidden} nil is forbidden when status.currentVolumeAttributesClassName is not nil`]);
    expect(updateRefusal(kind, old, set(''))).toEqual([`${forbidden} empty string is forbidden when status.currentVolumeAttributesClassName is not nil`]);
  });
  test('cannot be changed before the claim is bound', () => {
    expect(updateRefusal(kind, created(kind, claim({ volumeAttributesClassName: 'gold' })), set('iron')).map(firstLine)).toEqual([immutable]);
  });
});

describe('the status of a claim is refused', () => {
  const cases: readonly (readonly [why: string, status: PersistentVolumeClaim['status'], ...causes: string[]])[] = [
    [
      'with a negative capacity',
      { capacity: { storage: '-1' } },
      'FieldValueInvalid status.capacity[storage]: Invalid value: -1: must be a valid resource quantity',
    ],
    [
      'with an unknown state of resizing',
      { allocatedResourceStatuses: { storage: 'Odd' } },
      'FieldValueNotSupported status.allocatedResourceStatuses: Unsupported value: "storage": supported values: "ControllerResizeInProgress", "ControllerResizeInfeasible", "NodeResizeInProgress", "NodeResizeInfeasible", "NodeResizePending"',
    ],
    [
      'with another resource of Kubernetes’ own',
      { allocatedResources: { cpu: '1' } },
      'FieldValueNotSupported status.allocatedResources: Unsupported value: "cpu": supported values: "storage"',
    ],
    [
      'with less than nothing allocated',
      { allocatedResources: { storage: '-1' } },
      'FieldValueInvalid status.allocatedResources[storage]: Invalid value: -1: must be a valid resource quantity',
    ],
  ];
  for (const [why, status, ...causes] of cases) {
    test(why, () => expect(statusRefusal(kind, bound(), (copy) => void (copy.status = status))).toEqual(causes));
  }
  test('but not with resources of others', () => {
    const status = { allocatedResources: { 'example.com/iops': '5' }, allocatedResourceStatuses: { 'example.com/iops': 'NodeResizePending' } };
    expect(statusRefusal(kind, bound(), (copy) => void (copy.status = status))).toEqual([]);
  });
});

test('clients are warned of fractions of bytes', () => {
  expect(kind.warnings?.(created(kind, claim({ resources: { requests: { storage: '1500m' }, limits: { storage: '0.1Gi' } } })), undefined)).toEqual([
    'spec.resources.requests[storage]: fractional byte value "1500m" is invalid, must be an integer',
    'spec.resources.limits[storage]: fractional byte value "107374182400m" is invalid, must be an integer',
  ]);
  // A thousand times as much is beyond an int64.
  expect(kind.warnings?.(created(kind, claim({ resources: { requests: { storage: '900Pi' } } })), undefined)).toEqual([]);
});

test('a row shows what a claim has, not what it asks for', () => {
  expect(row(kind, created(kind, claim(asking('5Gi'))))).toMatchObject({ Status: 'Pending', Volume: '', Capacity: '', 'Access Modes': '', StorageClass: '' });
  expect(row(kind, bound(asking('5Gi'), { accessModes: ['ReadWriteOnce'] }))).toEqual({
    Name: 'data',
    Status: 'Bound',
    Volume: 'vol',
    Capacity: '1Gi',
    'Access Modes': 'RWO',
    StorageClass: 'fast',
    VolumeAttributesClass: '<unset>',
    Age: '60m',
    VolumeMode: 'Filesystem',
  });
});
