import fc from 'fast-check';
import { expect, test } from 'vitest';
import { pv, pvc, uidOf } from '../../../test/storage/objects.ts';
import { annotations } from '../../api/volumes/annotations.ts';
import { readClaim } from '../volumes/claim.ts';
import { readVolume } from '../volumes/volume.ts';
import { areSettled, decideClaim, decideVolume, type BinderSnapshot } from './decide.ts';

/** Mostly bound to each other; each field may say something else. */
const mostly = <T>(usual: T, ...others: readonly T[]) =>
  fc.oneof({ weight: 6, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constantFrom(...others) });

const pairs = fc.record({
  mode: fc.constantFrom('transaction' as const, 'plain' as const),
  pointer: mostly({ namespace: 'default', name: 'data', uid: uidOf('pvc', 'data') }, { namespace: 'default', name: 'data', uid: '' }, undefined, {
    namespace: 'default',
    name: 'data',
    uid: 'another',
  }),
  volumeName: mostly<string | undefined>('vol', 'other', undefined),
  completed: mostly<Readonly<Record<string, string>>>({ [annotations.bindCompleted]: 'yes' }, { [annotations.bindCompleted]: '' }, {}),
  volumePhase: mostly('Bound', 'Available', 'Released'),
  claimPhase: mostly('Bound', 'Pending', 'Lost'),
  size: mostly<Readonly<Record<string, string>>>({ storage: '1Gi' }, {}),
  offered: mostly<string[]>(['ReadWriteOnce'], ['ReadWriteMany']),
  shown: mostly<string[] | undefined>(['ReadWriteOnce'], undefined),
  annotated: fc.boolean(),
});

test('nothing is decided about a volume and a claim that are settled', () => {
  fc.assert(
    fc.property(pairs, (drawn) => {
      const claim = readClaim(
        pvc('data', '1Gi', {
          metadata: { annotations: drawn.completed },
          spec: drawn.volumeName === undefined ? {} : { volumeName: drawn.volumeName },
          status: { phase: drawn.claimPhase, ...(drawn.shown === undefined ? {} : { accessModes: drawn.shown }) },
        }),
      );
      const volume = readVolume(
        pv('vol', '1Gi', {
          metadata: drawn.annotated ? { annotations: { [annotations.boundByController]: 'yes' } } : {},
          spec: { capacity: drawn.size, accessModes: drawn.offered, ...(drawn.pointer === undefined ? {} : { claimRef: drawn.pointer }) },
          status: { phase: drawn.volumePhase },
        }),
      );
      if (drawn === usual) expect(areSettled(volume, claim)).toBe(true);
      if (!areSettled(volume, claim)) return;
      const snapshot: BinderSnapshot = {
        mode: drawn.mode,
        lastEvent: () => undefined,
        volume: (name) => (name === 'vol' ? volume : undefined),
        claim: (key) => (key === claim.key ? claim : undefined),
        ownerOf: () => undefined,
        class: () => undefined,
        defaultClass: () => undefined,
        bestFit: () => undefined,
        offeredTo: () => undefined,
        podsToSchedule: () => [],
      };
      for (const decision of [decideClaim(claim, snapshot, 0), decideVolume(volume, snapshot, 0)]) {
        expect(decision.actions).toEqual([]);
        expect(decision.again).toBeUndefined();
      }
    }),
    { examples: [[usual]] },
  );
});

const usual = {
  mode: 'transaction' as const,
  pointer: { namespace: 'default', name: 'data', uid: uidOf('pvc', 'data') },
  volumeName: 'vol',
  completed: { [annotations.bindCompleted]: 'yes' },
  volumePhase: 'Bound',
  claimPhase: 'Bound',
  size: { storage: '1Gi' },
  offered: ['ReadWriteOnce'],
  shown: ['ReadWriteOnce'],
  annotated: true,
};
