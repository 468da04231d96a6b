import { describe, expect, test } from 'vitest';
import type { Taint, Toleration } from './generated/types.ts';
import { isSameTaint, tolerationsFor, toleratesTaint } from './taints.ts';

const taint = (more: Partial<Taint> = {}): Taint => ({ key: 'k', value: 'v', effect: 'NoExecute', ...more });

describe('a taint with key, value and effect', () => {
  test.each<[string, Toleration, boolean]>([
    ['the same key and value', { key: 'k', value: 'v' }, true],
    ['the same, said in full', { key: 'k', operator: 'Equal', value: 'v', effect: 'NoExecute' }, true],
    ['another value', { key: 'k', value: 'w' }, false],
    ['no value', { key: 'k' }, false],
    ['another key', { key: 'l', value: 'v' }, false],
    ['another effect', { key: 'k', value: 'v', effect: 'NoSchedule' }, false],
    ['whatever value the key has', { key: 'k', operator: 'Exists' }, true],
    ['whatever value another key has', { key: 'l', operator: 'Exists' }, false],
    ['everything', { operator: 'Exists' }, true],
    ['everything of another effect', { operator: 'Exists', effect: 'NoSchedule' }, false],
    ['the value of any key', { value: 'v' }, true],
    ['larger values, which is not enabled', { key: 'k', operator: 'Gt', value: '1' }, false],
    ['something by an unknown operator', { key: 'k', operator: 'In', value: 'v' }, false],
  ])('is tolerated by one that tolerates %s, or not', (_, toleration, expected) => expect(toleratesTaint(toleration, taint())).toBe(expected));

  test('and no value at all is tolerated without one', () => {
    expect(toleratesTaint({ key: 'k' }, { key: 'k', effect: 'NoSchedule' })).toBe(true);
  });

  test('is the same as one of another value, but not as one of another effect', () => {
    expect(isSameTaint(taint(), taint({ value: 'other', timeAdded: '2026-01-01T00:00:00Z' }))).toBe(true);
    expect(isSameTaint(taint(), taint({ effect: 'NoSchedule' }))).toBe(false);
    expect(isSameTaint(taint(), taint({ key: 'other' }))).toBe(false);
  });
});

test('several taints are tolerated by the first fitting toleration of each, or not at all', () => {
  const forever: Toleration = { key: 'a', operator: 'Exists' };
  const minute: Toleration = { operator: 'Exists', tolerationSeconds: 60 };
  const taints = [taint({ key: 'b' }), taint({ key: 'a' })];
  expect(tolerationsFor(taints, [forever, minute])).toEqual([minute, forever]);
  expect(tolerationsFor(taints, [minute, forever])).toEqual([minute, minute]);
  expect(tolerationsFor(taints, [forever])).toBeUndefined();
  expect(tolerationsFor(taints, [])).toBeUndefined();
  expect(tolerationsFor([], [])).toEqual([]);
});
