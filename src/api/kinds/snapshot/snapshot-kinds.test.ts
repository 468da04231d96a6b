import { beforeAll, describe, expect, test } from 'vitest';
import { loadCel } from '../../cel/environment.ts';
import { created, type Raw, refusal, row, statusRefusal, updateRefusal } from '../try-kind.ts';
import { volumeGroupSnapshotClassKind, volumeGroupSnapshotContentKind, volumeGroupSnapshotKind } from './volume-group-snapshot.ts';
import { volumeSnapshotClassKind, volumeSnapshotContentKind, volumeSnapshotKind } from './volume-snapshot.ts';

beforeAll(async () => {
  await loadCel();
});

const snapshot = (spec: Raw): Raw => ({ metadata: { name: 'before' }, spec });
const ofClaim = snapshot({ source: { persistentVolumeClaimName: 'data' }, volumeSnapshotClassName: 'fast' });
const contentSpec = {
  deletionPolicy: 'Delete',
  driver: 'd.example.com',
  source: { volumeHandle: 'v-1' },
  volumeSnapshotRef: { name: 'before', namespace: 'default' },
};
const content = (spec: Raw): Raw => ({ metadata: { name: 'content' }, spec: { ...contentSpec, ...spec } });

describe('VolumeSnapshot', () => {
  test.each([
    [{ persistentVolumeClaimName: 'data', volumeSnapshotContentName: 'content' }, 'spec.source'],
    [{}, 'spec.source'],
  ])('exactly one source: %j', (source, field) => {
    const [cause] = refusal(volumeSnapshotKind, snapshot({ source }));
    expect(cause).toContain(field);
    expect(cause).toContain('exactly one of volumeSnapshotContentName and persistentVolumeClaimName must be set');
  });

  test('an empty class is refused', () => {
    expect(refusal(volumeSnapshotKind, snapshot({ source: { persistentVolumeClaimName: 'data' }, volumeSnapshotClassName: '' }))).toEqual([
      'FieldValueInvalid spec.volumeSnapshotClassName: Invalid value: "": volumeSnapshotClassName must not be the empty string when set',
    ]);
  });

  test('its source stays', () => {
    const old = created(volumeSnapshotKind, ofClaim);
    const to = (source: (typeof old)['spec']['source']) => (object: typeof old) => {
      object.spec = { ...object.spec, source };
    };
    expect(updateRefusal(volumeSnapshotKind, old, to({ persistentVolumeClaimName: 'other' }))).toEqual([
      'FieldValueInvalid spec.source.persistentVolumeClaimName: Invalid value: "other": persistentVolumeClaimName is immutable',
    ]);
    const [kept] = updateRefusal(volumeSnapshotKind, old, to({ volumeSnapshotContentName: 'content' }));
    expect(kept).toContain('persistentVolumeClaimName is required once set');
  });

  test('what is printed', () => {
    const ready = created(volumeSnapshotKind, ofClaim);
    ready.status = { readyToUse: true, restoreSize: '1Gi', boundVolumeSnapshotContentName: 'snapcontent-1', creationTime: '2026-03-01T11:30:00Z' };
    expect(row(volumeSnapshotKind, ready)).toEqual({
      Name: 'before',
      ReadyToUse: true,
      SourcePVC: 'data',
      SourceSnapshotContent: null,
      RestoreSize: '1Gi',
      SnapshotClass: 'fast',
      SnapshotContent: 'snapcontent-1',
      CreationTime: '30m',
      Age: '60m',
    });
  });

  test('a restoreSize that is no quantity is refused', () => {
    const old = created(volumeSnapshotKind, ofClaim);
    const wrong = statusRefusal(volumeSnapshotKind, old, (object) => {
      object.status = { restoreSize: 'much' };
    });
    expect(wrong).toHaveLength(1);
    expect(wrong[0]).toContain('status.restoreSize');
  });
});

describe('VolumeSnapshotContent', () => {
  test('what it cannot be without', () => {
    expect(refusal(volumeSnapshotContentKind, { metadata: { name: 'content' }, spec: { source: { volumeHandle: 'v-1' } } })).toEqual([
      'FieldValueRequired spec.deletionPolicy: Required value',
      'FieldValueRequired spec.driver: Required value',
      'FieldValueRequired spec.volumeSnapshotRef: Required value',
      expect.stringContaining('some validation rules were not checked'),
    ]);
  });

  test('unknown policies, two sources, a reference without a namespace', () => {
    expect(refusal(volumeSnapshotContentKind, content({ deletionPolicy: 'Keep' }))[0]).toContain('supported values: "Delete", "Retain"');
    expect(refusal(volumeSnapshotContentKind, content({ source: { volumeHandle: 'v', snapshotHandle: 's' } }))[0]).toContain('exactly one of volumeHandle');
    expect(refusal(volumeSnapshotContentKind, content({ volumeSnapshotRef: { name: 'before' } }))[0]).toContain(
      'both spec.volumeSnapshotRef.name and spec.volumeSnapshotRef.namespace must be set',
    );
  });

  test('its handle and its volume mode stay', () => {
    const old = created(volumeSnapshotContentKind, content({ sourceVolumeMode: 'Block' }));
    const to = (changed: Partial<(typeof old)['spec']>) => (object: typeof old) => {
      object.spec = { ...object.spec, ...changed };
    };
    expect(updateRefusal(volumeSnapshotContentKind, old, to({ source: { volumeHandle: 'v-2' } }))[0]).toContain('volumeHandle is immutable');
    expect(updateRefusal(volumeSnapshotContentKind, old, to({ sourceVolumeMode: 'Filesystem' }))[0]).toContain('sourceVolumeMode is immutable');
    expect(updateRefusal(volumeSnapshotContentKind, old, to({ deletionPolicy: 'Retain' }))).toEqual([]);
  });

  test('nanoseconds since 1970 are kept', () => {
    const old = created(volumeSnapshotContentKind, content({}));
    const set = (object: typeof old) => {
      object.status = { creationTime: 1_794_900_000_123_000_000, restoreSize: 1 };
    };
    expect(statusRefusal(volumeSnapshotContentKind, old, set)).toEqual([]);
  });
});

test('a class names a driver and a policy', () => {
  expect(refusal(volumeSnapshotClassKind, { metadata: { name: 'fast' } })).toEqual([
    'FieldValueRequired deletionPolicy: Required value',
    'FieldValueRequired driver: Required value',
  ]);
});

describe('group snapshots', () => {
  test('exactly one source', () => {
    const both = { selector: { matchLabels: { app: 'db' } }, volumeGroupSnapshotContentName: 'content' };
    expect(refusal(volumeGroupSnapshotKind, snapshot({ source: both }))[0]).toContain('exactly one of selector and volumeGroupSnapshotContentName');
    expect(refusal(volumeGroupSnapshotKind, snapshot({ source: { selector: { matchLabels: { app: 'db' } } } }))).toEqual([]);
  });

  test('a bound one stays bound to its content', () => {
    const old = created(volumeGroupSnapshotKind, snapshot({ source: { volumeGroupSnapshotContentName: 'content' } }));
    old.status = { boundVolumeGroupSnapshotContentName: 'content' };
    const moved = statusRefusal(volumeGroupSnapshotKind, old, (object) => {
      object.status = { boundVolumeGroupSnapshotContentName: 'other' };
    });
    expect(moved[0]).toContain('boundVolumeGroupSnapshotContentName is immutable once set');
  });

  test('a content and a class keep their driver', () => {
    const groupContent = created(volumeGroupSnapshotContentKind, {
      metadata: { name: 'content' },
      spec: { deletionPolicy: 'Delete', driver: 'd', source: { volumeHandles: ['a'] }, volumeGroupSnapshotRef: { name: 'x', namespace: 'default' } },
    });
    const driver = updateRefusal(volumeGroupSnapshotContentKind, groupContent, (object) => {
      object.spec = { ...object.spec, driver: 'other' };
    });
    expect(driver[0]).toContain('driver is immutable once set');
    const groupClass = created(volumeGroupSnapshotClassKind, { metadata: { name: 'fast' }, driver: 'd', deletionPolicy: 'Delete', parameters: { a: '1' } });
    const parameters = updateRefusal(volumeGroupSnapshotClassKind, groupClass, (object) => {
      object.parameters = { a: '2' };
    });
    expect(parameters[0]).toContain('parameters are immutable once set');
  });
});
