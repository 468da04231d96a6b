import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../api/object.ts';
import { decideProtection } from './decide.ts';

const finalizer = 'kubernetes.io/pvc-protection';
const object = (finalizers: readonly string[], going: boolean): KubeObject => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: {
    name: 'data',
    namespace: 'default',
    ...(finalizers.length === 0 ? {} : { finalizers: [...finalizers] }),
    ...(going ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
  },
});
/** 'confirm-unused', or the finalizers that an update leaves. */
const shown = (decision: ReturnType<typeof decideProtection>) =>
  decision.actions.map((action) => ('object' in action ? `${action.do} ${(action.object.metadata.finalizers ?? []).join(' ')}` : action.do));

describe('in-use protection', () => {
  test.each([
    ['a living object keeps its finalizer', [finalizer], false, [], []],
    ['one without it gets it', [], false, [], [`update ${finalizer}`]],
    ['one that goes keeps it while it is used', [finalizer], true, ['pod default/web'], []],
    ['one that goes and is unused loses it, after the server was asked', [finalizer], true, [], ['confirm-unused', 'update ']],
    ['one that goes never gets it back', ['example.com/other'], true, [], []],
  ])('%s', (_, finalizers, going, users, expected) =>
    expect(shown(decideProtection({ object: object(finalizers, going), users }, finalizer))).toEqual(expected),
  );

  test('who uses it is said', () => {
    const { reasons } = decideProtection({ object: object([finalizer], true), users: ['pod default/web'] }, finalizer);
    expect(reasons).toEqual([{ code: 'InUse', text: 'its deletion waits: pod default/web uses it' }]);
  });

  const worlds = fc.record({
    finalizers: fc.uniqueArray(fc.constantFrom(finalizer, 'example.com/a', 'example.com/b')),
    going: fc.boolean(),
    users: fc.array(fc.constantFrom('pod default/a', 'pod default/b')),
  });

  test('it settles, keeps what others put there, and decides the same from the same', () => {
    fc.assert(
      fc.property(worlds, ({ finalizers, going, users }) => {
        const before = object(finalizers, going);
        const decision = decideProtection({ object: before, users }, finalizer);
        expect(decideProtection({ object: before, users }, finalizer)).toEqual(decision);
        const last = decision.actions.at(-1);
        if (last === undefined || !('object' in last)) return;
        const others = (o: KubeObject) => (o.metadata.finalizers ?? []).filter((each) => each !== finalizer);
        expect(others(last.object)).toEqual(others(before));
        expect(decideProtection({ object: last.object, users }, finalizer).actions).toEqual([]);
      }),
    );
  });

  test('a crash before any action changes nothing that is decided next', () => {
    fc.assert(
      fc.property(worlds, ({ finalizers, going, users }) => {
        // The only action before the last one asks and changes nothing: after any prefix the world is as it was.
        const { actions } = decideProtection({ object: object(finalizers, going), users }, finalizer);
        expect(actions.slice(0, -1).every((action) => action.do === 'confirm-unused')).toBe(true);
      }),
    );
  });
});
