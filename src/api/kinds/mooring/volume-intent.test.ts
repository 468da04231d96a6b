import { describe, expect, test } from 'vitest';
import { created, type Raw, refusal, row, updateRefusal } from '../try-kind.ts';
import { volumeIntentKind } from './volume-intent.ts';

const create = {
  operation: 'Create',
  driver: 'kubernetes.io/host-path',
  claimRef: { namespace: 'default', name: 'data', uid: '1' },
  request: {
    capacity: '1024Mi',
    accessModes: ['ReadWriteOnce'],
    volumeMode: 'Filesystem',
    storageClassName: 'fast',
    reclaimPolicy: 'Delete',
    source: { type: 'snapshot', handle: 'snap-1' },
  },
};
const intent = (spec: Raw, status?: Raw): Raw => ({ metadata: { name: 'pvc-1' }, spec, ...(status === undefined ? {} : { status }) });

test('what is kept: every field that controllers read, quantities and times in their one form', () => {
  const asset = { handle: '/tmp/x', capacity: '1024Mi', source: { hostPath: { path: '/tmp/x' } } };
  const status = { phase: 'Failing', attempts: 2, message: 'full', final: true, notBefore: '2026-03-01T12:00:00.500000Z', asset };
  const made = created(volumeIntentKind, intent(create, status));
  expect(made.spec).toEqual({ ...create, request: { ...create.request, capacity: '1Gi' } });
  expect(made.status).toEqual({ ...status, asset: { ...asset, capacity: '1Gi' } });
});

test('nothing done yet is Pending', () => {
  const made = created(volumeIntentKind, intent(create));
  expect(made.status.phase).toBe('Pending');
  expect(row(volumeIntentKind, made)).toEqual({ Name: 'pvc-1', Operation: 'Create', Phase: 'Pending', Attempts: 0, Message: '', Age: '60m' });
});

describe('what a controller could not read is refused', () => {
  test.each([
    [{ operation: 'Create' }, ['spec.driver', 'spec.claimRef', 'spec.request']],
    [{ operation: 'Delete', driver: 'd', source: {} }, ['spec.volume']],
    [{ operation: 'Scrub' }, ['spec.volume']],
  ])('%j', (spec, missing) => {
    expect(refusal(volumeIntentKind, intent(spec))).toEqual(missing.map((field) => `FieldValueRequired ${field}: Required value`));
  });

  test('unknown operations and phases', () => {
    const operations = 'FieldValueNotSupported spec.operation: Unsupported value: "constructor": supported values: "Create", "Delete", "Scrub"';
    expect(refusal(volumeIntentKind, intent({ operation: 'constructor' }))).toEqual([operations]);
    expect(refusal(volumeIntentKind, intent(create, { phase: 'Done' }))).toHaveLength(1);
  });
});

test('what was intended stays; what came of it changes', () => {
  const old = created(volumeIntentKind, intent(create));
  const change = (spec: typeof old.spec) => (object: typeof old) => {
    object.spec = spec;
  };
  expect(updateRefusal(volumeIntentKind, old, change({ ...old.spec, driver: 'other' } as typeof old.spec))).toHaveLength(1);
  expect(
    updateRefusal(volumeIntentKind, old, (object) => {
      object.status = { phase: 'Failing', attempts: 1 };
    }),
  ).toEqual([]);
});
