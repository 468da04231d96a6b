/** Properties of every small cluster: for all changes by users, all interleavings, and all crashes. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { pv, pvc, reservedFor, storageClass } from './objects.ts';
import { checkInvariants, stateOf } from './scenario.ts';
import { FakeCluster } from './fake-cluster.ts';
import { clearClaimRef, create, deleteClaim, endPod, setPolicy } from './steps.ts';

type Step = (world: FakeCluster) => void;

const volumeNames = ['v1', 'v2', 'v3'];
const claimNames = ['c1', 'c2', 'c3'];
const size = fc.constantFrom('1Gi', '2Gi', '3Gi');
const modes = fc.constantFrom<string[]>(['ReadWriteOnce'], ['ReadWriteOnce', 'ReadOnlyMany']);
const className = fc.constantFrom('static', 'static', 'dynamic', 'delayed', '');

const classes: readonly KubeObject[] = [
  storageClass('static'),
  storageClass('dynamic', { provisioner: 'kubernetes.io/host-path' }),
  storageClass('delayed', { provisioner: 'kubernetes.io/host-path', volumeBindingMode: 'WaitForFirstConsumer' }),
];

const volume = (name: string) =>
  fc
    .record({
      size,
      modes,
      className,
      policy: fc.constantFrom('Retain', 'Delete', 'Recycle'),
      reserved: fc.option(fc.constantFrom(...claimNames), { freq: 3, nil: undefined }),
    })
    .map(({ reserved, ...draft }) =>
      pv(name, draft.size, {
        spec: {
          accessModes: draft.modes,
          storageClassName: draft.className,
          persistentVolumeReclaimPolicy: draft.policy,
          ...(reserved === undefined ? {} : { claimRef: reservedFor(reserved) }),
        },
      }),
    );

const claim = (name: string) =>
  fc
    .record({ size, modes, className, wants: fc.option(fc.constantFrom(...volumeNames), { freq: 3, nil: undefined }) })
    .map(({ wants, ...draft }) =>
      pvc(name, draft.size, { spec: { accessModes: draft.modes, storageClassName: draft.className, ...(wants === undefined ? {} : { volumeName: wants }) } }),
    );

const objects = fc.tuple(...volumeNames.map(volume), ...claimNames.map(claim)).chain((all) => fc.shuffledSubarray<KubeObject>(all, { minLength: 2 }));

const ifThere =
  (kind: 'PersistentVolume' | 'Pod', name: string, step: Step): Step =>
  (world) => {
    if (world.server.get(kind, name, 'default') !== undefined) step(world);
  };

const meddling = fc.array(
  fc.oneof(
    fc.constantFrom(...claimNames).map(deleteClaim),
    fc.constantFrom(...volumeNames).map((name) => ifThere('PersistentVolume', name, clearClaimRef(name))),
    fc
      .tuple(fc.constantFrom(...volumeNames), fc.constantFrom('Retain', 'Delete', 'Recycle'))
      .map(([name, policy]) => ifThere('PersistentVolume', name, setPolicy(name, policy))),
    fc.constantFrom(...volumeNames).map((name) => ifThere('Pod', `recycler-for-${name}`, endPod(`recycler-for-${name}`, 'Succeeded'))),
    fc.constantFrom(...volumeNames).map((name) => ifThere('Pod', `recycler-for-${name}`, endPod(`recycler-for-${name}`, 'Failed'))),
    fc.constantFrom(...claimNames).chain((name) => claim(name).map((object) => create(object))),
  ),
  { maxLength: 5 },
);

const mode = fc.constantFrom('transaction' as const, 'plain' as const);

function play(world: FakeCluster, given: readonly KubeObject[], steps: readonly Step[], rest: (world: FakeCluster) => void): void {
  for (const object of [...classes, ...given]) world.server.create(object);
  rest(world);
  for (const step of steps) {
    step(world);
    rest(world);
  }
  world.settle();
}

/** The same numbers for the same seed. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

describe('every small world', () => {
  it('settles: deciding again gives nothing', () => {
    fc.assert(
      fc.property(mode, objects, meddling, (how, given, steps) => {
        const world = new FakeCluster({ mode: how });
        world.invariant = () => checkInvariants(world);
        play(world, given, steps, (it) => it.settle());
        expect(world.pending()).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });

  it('decides the same from the same', () => {
    fc.assert(
      fc.property(mode, objects, fc.nat(), (how, given, seed) => {
        const world = new FakeCluster({ mode: how });
        for (const object of [...classes, ...given]) world.server.create(object);
        world.runInterleaved(numbers(seed), 20);
        expect(world.copy().pending()).toEqual(world.pending());
      }),
      { numRuns: 100 },
    );
  });

  it('ends the same after crashes', () => {
    fc.assert(
      fc.property(mode, objects, meddling, fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 4 }), (how, given, steps, crashes) => {
        const [calm, dying] = [new FakeCluster({ mode: how }), new FakeCluster({ mode: how })];
        dying.crashBefore = new Set(crashes);
        dying.invariant = () => checkInvariants(dying);
        for (const world of [calm, dying]) play(world, given, steps, (it) => it.settle());
        expect(stateOf(dying)).toEqual(stateOf(calm));
      }),
      { numRuns: 300 },
    );
  });

  it('keeps its invariants and comes to rest, with every interleaving and every crash', () => {
    fc.assert(
      fc.property(mode, objects, meddling, fc.nat(), fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 4 }), (how, given, steps, seed, crashes) => {
        const world = new FakeCluster({ mode: how });
        const random = numbers(seed);
        world.crashBefore = new Set(crashes);
        world.invariant = () => checkInvariants(world);
        play(world, given, steps, (it) => it.runInterleaved(random, 60));
        expect(world.pending()).toEqual([]);
        for (const { status, metadata } of world.server.list('PersistentVolumeClaim')) expect(status.phase, metadata.name).not.toBe('Lost');
      }),
      { numRuns: 400 },
    );
  });
});
