import { describe, expect, test } from 'vitest';
import { causeMessage, type FieldError } from '../field-error.ts';
import type { ObjectMeta } from '../generated/types.ts';
import { validateObjectMeta, validateObjectMetaUpdate } from './metadata.ts';
import { nameIsDnsSubdomain } from './names.ts';

const rules = { namespaced: true, validateName: nameIsDnsSubdomain, qualifiedFinalizers: true };
const shown = (errors: readonly FieldError[]): string[] => errors.map((error) => `${error.field}: ${causeMessage(error)}`);
const metadata = (more: ObjectMeta = {}): ObjectMeta => ({ name: 'a', namespace: 'default', resourceVersion: '1', uid: 'u', ...more });
const owner = (more: object = {}) => ({ apiVersion: 'v1', kind: 'Pod', name: 'web', uid: 'u', ...more });
const immutable = 'field is immutable';

describe('metadata is refused', () => {
  const cases: readonly (readonly [why: string, metadata: ObjectMeta, ...causes: (string | RegExp)[]])[] = [
    ['without a name', metadata({ name: '' }), 'metadata.name: Required value: name or generateName is required'],
    ['without a namespace', metadata({ namespace: '' }), 'metadata.namespace: Required value'],
    ['with a namespace that is none', metadata({ namespace: 'a.b' }), 'metadata.namespace: Invalid value: "a.b": must not contain dots'],
    ['with a prefix that is none', metadata({ generateName: 'AA-' }), /^metadata.generateName: Invalid value: "AA-"/],
    ['with a negative generation', metadata({ generation: -1 }), 'metadata.generation: Invalid value: -1: must be greater than or equal to 0'],
    [
      'with labels that are none',
      metadata({ labels: { 'no key': 'no value' } }),
      /^metadata.labels: Invalid value: "no key": name part/,
      /^metadata.labels: Invalid value: "no value": a valid label/,
    ],
    [
      'with keys of annotations that are none, whatever their case',
      metadata({ annotations: { 'Example.COM/Key': '', 'a b': '' } }),
      /^metadata.annotations: Invalid value: "a b"/,
    ],
    [
      'with more annotations than fit',
      metadata({ annotations: { a: 'x'.repeat(256 * 1024) } }),
      'metadata.annotations: Too long: may not be more than 262144 bytes',
    ],
    [
      'with owners that are none',
      metadata({ ownerReferences: [owner({ apiVersion: 'a/b/c', kind: '', name: '', uid: '' })] }),
      'metadata.ownerReferences.apiVersion: Invalid value: "a/b/c": version must not be empty',
      'metadata.ownerReferences.kind: Invalid value: "": must not be empty',
      'metadata.ownerReferences.name: Invalid value: "": must not be empty',
      'metadata.ownerReferences.uid: Invalid value: "": must not be empty',
    ],
    [
      'owned by an event',
      metadata({ ownerReferences: [owner({ kind: 'Event' })] }),
      'metadata.ownerReferences: Invalid value: {"apiVersion":"v1","kind":"Event","name":"web","uid":"u"}: /v1, Kind=Event is disallowed from being an owner',
    ],
    [
      'with two who control',
      metadata({ ownerReferences: [owner({ controller: true }), owner({ name: 'b', controller: true })] }),
      /Only one reference can have Controller set to true. Found "true" in references for Pod\/web and Pod\/b$/,
    ],
    [
      'with finalizers that contradict, or have no domain',
      metadata({ finalizers: ['orphan', 'foregroundDeletion', 'mine'] }),
      'metadata.finalizers: Invalid value: ["orphan","foregroundDeletion","mine"]: finalizer orphan and foregroundDeletion cannot be both set',
      'metadata.finalizers[2]: Invalid value: "mine": name is neither a standard finalizer name nor is it fully qualified',
    ],
    [
      'with managed fields without a manager',
      metadata({ managedFields: [{ operation: 'Odd', fieldsType: 'V2', manager: `a\u0007${'x'.repeat(128)}` }] }),
      'metadata.managedFields[0].operation: Invalid value: "Odd": must be `Apply` or `Update`',
      'metadata.managedFields[0].fieldsType: Invalid value: "V2": must be `FieldsV1`',
      'metadata.managedFields[0].manager: Too long: may not be more than 128 bytes',
      /invalid character U\+0007 \(at position 1\)$/,
    ],
  ];
  for (const [why, given, ...causes] of cases) {
    test(why, () => {
      const expected = causes.map((cause) => (typeof cause === 'string' ? cause : expect.stringMatching(cause)));
      expect(shown(validateObjectMeta(given, rules))).toEqual(expected);
    });
  }

  test('in a namespace, if the kind has none', () => {
    expect(shown(validateObjectMeta(metadata(), { ...rules, namespaced: false }))).toEqual(['metadata.namespace: Forbidden: not allowed on this type']);
  });
});

describe('a change of metadata is refused', () => {
  const old = metadata({ creationTimestamp: '2026-01-01T00:00:00Z' });
  const cases: readonly (readonly [why: string, after: ObjectMeta, before: ObjectMeta, ...causes: string[]])[] = [
    ['without a version', { ...old, resourceVersion: '' }, old, 'metadata.resourceVersion: Invalid value: "": must be specified for an update'],
    [
      'of name and uid',
      { ...old, name: 'b', uid: 'v' },
      old,
      `metadata.name: Invalid value: "b": ${immutable}`,
      `metadata.uid: Invalid value: "v": ${immutable}`,
    ],
    [
      'of times',
      { ...old, creationTimestamp: '2027-01-01T00:00:00Z', deletionGracePeriodSeconds: 5 },
      old,
      `metadata.creationTimestamp: Invalid value: "2027-01-01T00:00:00Z": ${immutable}`,
      `metadata.deletionGracePeriodSeconds: Invalid value: 5: ${immutable}`,
    ],
    [
      'that adds a finalizer to what is being deleted',
      { ...old, deletionTimestamp: 'x', finalizers: ['example.com/b', 'example.com/a'] },
      { ...old, deletionTimestamp: 'x' },
      'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"example.com/a", "example.com/b"}',
    ],
    ['that decrements the generation', { ...old, generation: 1 }, { ...old, generation: 2 }, 'metadata.generation: Invalid value: 1: must not be decremented'],
  ];
  for (const [why, after, before, ...causes] of cases) test(why, () => expect(shown(validateObjectMetaUpdate(after, before, rules))).toEqual(causes));

  test('but not of labels, annotations, owners and finalizers', () => {
    const after = { ...old, labels: { a: 'b' }, annotations: { c: 'd' }, ownerReferences: [owner()], finalizers: ['example.com/f'] };
    expect(validateObjectMetaUpdate(after, old, rules)).toEqual([]);
  });
});
