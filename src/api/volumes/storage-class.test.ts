import { describe, expect, it } from 'vitest';
import { pv, pvc, storageClass } from '../../../test/storage/objects.ts';
import { classNameOfVolume, classOfClaim, defaultClassOf } from './storage-class.ts';

const beta = (name: string) => ({ metadata: { annotations: { 'volume.beta.kubernetes.io/storage-class': name } } });
const unset = { spec: {} };
const without = (name: string) => {
  const claim = pvc(name, '1Gi', unset);
  delete claim.spec.storageClassName;
  return claim;
};

describe('the class of a claim', () => {
  it('is unset, none, or named', () => {
    expect(classOfClaim(without('a'))).toEqual({ type: 'unset' });
    expect(classOfClaim(pvc('a', '1Gi', { spec: { storageClassName: '' } }))).toEqual({ type: 'none' });
    expect(classOfClaim(pvc('a', '1Gi', { spec: { storageClassName: 'gold' } }))).toEqual({ type: 'named', name: 'gold' });
  });
  it('is what the old annotation says, if there is one', () => {
    expect(classOfClaim(pvc('a', '1Gi', beta('old')))).toEqual({ type: 'named', name: 'old' });
    expect(classOfClaim(pvc('a', '1Gi', beta('')))).toEqual({ type: 'none' });
    expect(classNameOfVolume(pv('a', '1Gi', beta('old')))).toBe('old');
  });
});

describe('the default class', () => {
  const marked = (name: string, creationTimestamp: string, key = 'storageclass.kubernetes.io/is-default-class') =>
    storageClass(name, { metadata: { creationTimestamp, annotations: { [key]: 'true' } } });

  it('is the newest of those that are marked, then the first by name', () => {
    const classes = [marked('old', '2025-01-01T00:00:00Z'), marked('b', '2025-02-01T00:00:00Z'), marked('a', '2025-02-01T00:00:00Z'), storageClass('other')];
    expect(defaultClassOf(classes)?.metadata.name).toBe('a');
    expect(defaultClassOf([storageClass('other')])).toBeUndefined();
  });
  it('may be marked by the old annotation, but only with "true"', () => {
    expect(defaultClassOf([marked('old', '', 'storageclass.beta.kubernetes.io/is-default-class')])?.metadata.name).toBe('old');
    expect(defaultClassOf([storageClass('no', { metadata: { annotations: { 'storageclass.kubernetes.io/is-default-class': 'yes' } } })])).toBeUndefined();
  });
});
