/** Volumes that a driver of this process makes larger: every way it can go, and every moment at which the process can die. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { pv, pvc, storageClass, uidOf } from '../../../test/storage/objects.ts';
import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from '../../api/generated/types.ts';
import { compareQuantities } from '../../api/quantity.ts';
import type { DriverCapabilities, ExpandOutcome } from '../../api/volumes/driver-capabilities.ts';
import type { ExpanderAction, RequestedSize, ExpandAttempt } from './actions.ts';
import { decide, type ExpanderSnapshot } from './decide.ts';

const facts: DriverCapabilities = {
  name: 'csi.example.com',
  provisions: true,
  deletes: true,
  mountOptions: true,
  block: true,
  expands: 'always',
  attaches: false,
};

interface Options {
  readonly facts?: DriverCapabilities;
  readonly storageClass?: StorageClass;
  readonly nodeExpansionRequired?: boolean;
  /** The backend has no room for more. */
  readonly limit?: string;
  /** What the next calls fail with; `unknown` has its effect all the same. */
  readonly failures?: readonly ('final' | 'unknown')[];
}

/** One claim, its volume, and a backend; effects happen one after the other, and before each of them the process may die. */
class SmallWorld {
  claim: PersistentVolumeClaim;
  volume: PersistentVolume;
  /** What the backend really has. */
  size = '1Gi';
  calls = 0;
  /** The sizes that the backend was asked for, in order. */
  readonly sizes: string[] = [];
  now = Date.parse('2025-06-01T00:00:00Z');
  readonly events: string[] = [];
  readonly #options: Options;
  readonly #failures: ('final' | 'unknown')[];
  #asked: RequestedSize | undefined;
  #attempt: ExpandAttempt | undefined;
  effects = 0;
  crashBefore = 0;

  constructor(request: string, options: Options = {}) {
    this.#options = options;
    this.#failures = [...(options.failures ?? [])];
    const name = (options.facts ?? facts).name;
    const source = name.startsWith('kubernetes.io/') ? {} : { csi: { driver: name, volumeHandle: 'h' } };
    this.claim = pvc('data', request, { spec: { volumeName: 'vol' }, status: { phase: 'Bound', capacity: { storage: '1Gi' } } });
    const claimRef = { namespace: 'default', name: 'data', uid: uidOf('pvc', 'data') };
    this.volume = pv('vol', '1Gi', { spec: { claimRef, ...source }, status: { phase: 'Bound' } });
  }

  snapshot(): ExpanderSnapshot {
    const { claim, volume } = this;
    const known = this.#options.facts ?? facts;
    const driver = (name: string) => (name === known.name ? known : undefined);
    return { claim, volume, lastRequest: this.#asked, attempt: this.#attempt, storageClass: this.#options.storageClass, driver };
  }

  /** Until nothing is left to do within the next hour. */
  settle(horizonMs = 3_600_000): this {
    const end = this.now + horizonMs;
    for (let round = 0; round < 200; round++) {
      const { actions, again } = decide(this.snapshot(), this.now);
      if (actions.length === 0 && (again === undefined || again > end)) return this;
      if (actions.length === 0) this.now = again ?? end;
      for (const action of actions) if (!this.#perform(action)) break;
    }
    throw new Error('it does not settle');
  }

  /** False: the process died. Its memory is gone. */
  #perform(action: ExpanderAction): boolean {
    if (action.do !== 'recordEvent' && action.do !== 'remember' && action.do !== 'rememberAttempt' && ++this.effects === this.crashBefore) {
      this.#asked = undefined;
      this.#attempt = undefined;
      return false;
    }
    switch (action.do) {
      case 'updateStatus':
        this.claim = action.object as PersistentVolumeClaim;
        return true;
      case 'update':
        this.volume = action.object;
        return true;
      case 'expandVolume':
        this.#attempt = { type: 'answered', size: action.size, outcome: this.#expand(action.size), failures: action.failures };
        return true;
      case 'recordEvent':
        this.events.push(`${action.event.type} ${action.event.reason}: ${action.event.message}`);
        return true;
      case 'remember':
        this.#asked = action.asked;
        return true;
      case 'rememberAttempt':
        this.#attempt = action.attempt;
        return true;
      default:
        throw new Error(`unexpected action ${action.do}`);
    }
  }

  #expand(size: string): ExpandOutcome {
    // What is asked of the backend stands in the claim's status before.
    expect(this.claim.status.allocatedResources?.['storage']).toBe(size);
    this.calls++;
    this.sizes.push(size);
    const failure = this.#failures.shift();
    if (failure === 'final') return { type: 'failed', message: 'broken', final: true, infeasible: false };
    const { limit, nodeExpansionRequired = false } = this.#options;
    if (limit !== undefined && compareQuantities(size, limit) > 0) return { type: 'failed', message: `at most ${limit}`, final: true, infeasible: true };
    if (compareQuantities(size, this.size) > 0) this.size = size;
    if (failure === 'unknown') return { type: 'failed', message: 'timed out', final: false, infeasible: false };
    return { type: 'expanded', capacity: this.size, nodeExpansionRequired };
  }

  ask(storage: string): this {
    this.claim = { ...this.claim, spec: { ...this.claim.spec, resources: { requests: { storage } } } };
    return this;
  }

  /** A node has grown the file system, as the kubelet reports it. */
  nodeGrows(): this {
    const { allocatedResourceStatuses: _, conditions: __, ...status } = this.claim.status;
    this.claim = { ...this.claim, status: { ...status, capacity: { storage: this.volume.spec.capacity?.['storage'] ?? '' } } };
    return this;
  }

  get shows(): string {
    const { status, metadata } = this.claim;
    const conditions = (status.conditions ?? []).map(({ type, message }) => (message === undefined ? type : `${type}: ${message}`));
    return [
      `pvc ${status.capacity?.['storage'] ?? ''} of ${this.claim.spec.resources.requests?.['storage'] ?? ''}`,
      ...(status.allocatedResources === undefined ? [] : [`allocated ${status.allocatedResources['storage'] ?? ''}`]),
      ...(status.allocatedResourceStatuses === undefined ? [] : [status.allocatedResourceStatuses['storage'] ?? '']),
      ...conditions,
      `pv ${this.volume.spec.capacity?.['storage'] ?? ''}`,
      ...Object.entries({ ...metadata.annotations, ...this.volume.metadata.annotations }).map(([key, value]) => `${key}=${value}`),
    ].join('; ');
  }
}

const done = 'pvc 2Gi of 2Gi; allocated 2Gi; pv 2Gi; volume.kubernetes.io/node-expansion-not-required=true';

describe('a driver expands a volume', () => {
  test('with the events and conditions of external-resizer', () => {
    const world = new SmallWorld('2Gi').settle();
    expect(world.shows).toBe(done);
    expect(world.size).toBe('2Gi');
    expect(world.calls).toBe(1);
    expect(world.events).toEqual([
      'Normal ExternalExpanding: waiting for an external controller to expand this PVC',
      'Normal Resizing: External resizer is resizing volume vol',
      'Normal VolumeResizeSuccessful: Resize volume succeeded',
    ]);
  });

  test('and a node resizes the file system, if that is required', () => {
    const world = new SmallWorld('2Gi', { nodeExpansionRequired: true }).settle();
    expect(world.shows).toBe(
      'pvc 1Gi of 2Gi; allocated 2Gi; NodeResizePending; Resizing; ' +
        'FileSystemResizePending: Waiting for user to (re-)start a pod to finish file system resize of volume on node.; pv 2Gi; ' +
        'volume.alpha.kubernetes.io/pre-resize-capacity=1Gi',
    );
    expect(world.events.slice(2)).toEqual(['Normal FileSystemResizeRequired: Require file system resize of volume on node']);
    expect(world.nodeGrows().settle().shows).toBe('pvc 2Gi of 2Gi; allocated 2Gi; pv 2Gi');
  });

  test('again, when more is requested', () => {
    const world = new SmallWorld('2Gi').settle().ask('3Gi').settle();
    expect(world.shows).toBe(done.replaceAll('2Gi', '3Gi'));
    expect(world.calls).toBe(2);
  });

  test('a node that still resizes the file system is not disturbed', () => {
    const world = new SmallWorld('2Gi', { nodeExpansionRequired: true }).settle().ask('3Gi').settle();
    expect(world.calls).toBe(1);
    expect(world.nodeGrows().settle().size).toBe('3Gi');
    expect(world.volume.metadata.annotations).toEqual({ 'volume.alpha.kubernetes.io/pre-resize-capacity': '1Gi' });
  });

  test('again, if its node could not resize it', () => {
    const world = new SmallWorld('2Gi', { nodeExpansionRequired: true }).settle();
    const { status } = world.claim;
    world.claim = { ...world.claim, status: { ...status, allocatedResourceStatuses: { storage: 'NodeResizeInfeasible' } } };
    expect(world.settle().claim.status.allocatedResourceStatuses).toEqual({ storage: 'NodeResizePending' });
  });

  test('other conditions stay in the status', () => {
    const world = new SmallWorld('2Gi');
    const other = { type: 'ModifyingVolume', status: 'True', lastProbeTime: null, lastTransitionTime: null };
    const status = { ...world.claim.status, conditions: [other], allocatedResourceStatuses: { 'example.com/other': 'x' } };
    world.claim = { ...world.claim, status };
    world.settle();
    expect(world.claim.status.conditions).toEqual([other]);
    expect(world.claim.status.allocatedResourceStatuses).toEqual({ 'example.com/other': 'x' });
  });

  test('an unknown resize status counts as none', () => {
    const world = new SmallWorld('2Gi');
    world.claim = { ...world.claim, status: { ...world.claim.status, allocatedResourceStatuses: { storage: 'Nonsense' } } };
    expect(world.settle().shows).toBe(done);
  });
});

describe('a driver that fails', () => {
  test('for certain is asked again, ever more slowly, and the claim says why', () => {
    const world = new SmallWorld('2Gi', { failures: ['final', 'final', 'final'] });
    const start = world.now;
    world.settle(0);
    expect(world.shows).toBe(
      'pvc 1Gi of 2Gi; allocated 2Gi; ControllerResizeInProgress; Resizing; ControllerResizeError: failed to expand pvc with broken; pv 1Gi',
    );
    expect(world.events.at(-1)).toBe('Warning VolumeResizeFailed: resize volume "vol" by resizer "csi.example.com" failed: broken');
    expect(world.settle().shows).toBe(done);
    expect(world.now - start).toBe(1000 + 2000 + 4000);
  });

  test('without saying how it ended is asked for the same size, whatever is asked for meanwhile', () => {
    const world = new SmallWorld('3Gi', { failures: ['unknown'] }).settle(0).ask('2Gi').settle();
    expect(world.size).toBe('3Gi');
    expect(world.shows).toContain('pvc 3Gi of 2Gi');
    expect(world.sizes).toEqual(['3Gi', '3Gi']);
  });

  test('without saying how it ended is not asked for less by the next process either, and the claim keeps what it was asked for', () => {
    const world = new SmallWorld('3Gi', { failures: ['unknown', 'unknown', 'unknown'] });
    world.crashBefore = 3;
    world.settle(0).ask('2Gi').settle(0);
    expect(new Set(world.sizes)).toEqual(new Set(['3Gi']));
    expect(world.claim.status.allocatedResources).toEqual({ storage: '3Gi' });
    world.settle();
    expect(new Set(world.sizes)).toEqual(new Set(['3Gi']));
  });

  test('because it is too much is asked rarely, and at once when less is asked for', () => {
    const world = new SmallWorld('5Gi', { limit: '2Gi' }).settle(0);
    expect(world.shows).toBe(
      'pvc 1Gi of 5Gi; allocated 5Gi; ControllerResizeInfeasible; Resizing; ControllerResizeError: failed to expand pvc with at most 2Gi; pv 1Gi',
    );
    expect(decide(world.snapshot(), world.now).again).toBe(world.now + 300_000);
    const before = world.now;
    world.ask('2Gi').settle(0);
    expect(world.now).toBe(before);
    expect(world.shows).toBe(done);
  });

  test('for certain lets less be asked for', () => {
    const world = new SmallWorld('5Gi', { failures: ['final'] }).settle(0).ask('2Gi').settle();
    expect(world.size).toBe('2Gi');
    expect(world.shows).toBe(done);
  });
});

describe('a driver of the tree', () => {
  const hostPath: DriverCapabilities = { ...facts, name: 'kubernetes.io/host-path', expands: 'opt-in' };
  const optedIn = storageClass('class', { metadata: { annotations: { 'mooring.dev/expand': 'true' } } });

  test('does it for classes that ask for it, in the words of Kubernetes’ own plugins', () => {
    const world = new SmallWorld('2Gi', { facts: hostPath, storageClass: optedIn }).settle();
    expect(world.shows).toBe('pvc 2Gi of 2Gi; allocated 2Gi; pv 2Gi; volume.kubernetes.io/storage-resizer=kubernetes.io/host-path');
    expect(world.events).toEqual(['Normal VolumeResizeSuccessful: ExpandVolume succeeded for volume default/data']);
  });

  test('says why it could not', () => {
    const world = new SmallWorld('2Gi', { facts: hostPath, storageClass: optedIn, failures: ['final'] }).settle(0);
    expect(world.events).toEqual(['Warning VolumeResizeFailed: error expanding pvc default/data: broken']);
  });

  test.each([
    ['no class', {}],
    ['a class that does not say so', { storageClass: storageClass('class') }],
    ['a class that says something else', { storageClass: storageClass('class', { metadata: { annotations: { 'mooring.dev/expand': 'yes' } } }) }],
  ])('leaves it to others with %s, as in Kubernetes', (_, options) => {
    const world = new SmallWorld('2Gi', { facts: hostPath, ...options }).settle();
    expect(world.calls).toBe(0);
    expect(world.events).toEqual(['Normal ExternalExpanding: waiting for an external controller to expand this PVC']);
  });
});

describe('whatever happens', () => {
  const failures = fc.array(fc.constantFrom('final' as const, 'unknown' as const), { maxLength: 3 });
  const options = fc.record({ nodeExpansionRequired: fc.boolean(), failures }).chain((base) => fc.constantFrom<Options>(base, { ...base, limit: '3Gi' }));
  const requests = fc.array(fc.constantFrom('2Gi', '3Gi', '4Gi'), { minLength: 1, maxLength: 3 });
  const play = (world: SmallWorld, later: readonly string[]) => later.reduce((it, request) => it.settle(0).ask(request), world).settle();

  test('it settles, and then nothing is done', () => {
    fc.assert(
      fc.property(requests, options, ([first = '2Gi', ...later], given) => {
        const world = play(new SmallWorld(first, given), later);
        expect(decide(world.snapshot(), world.now).actions).toEqual([]);
      }),
    );
  });

  test('the same leads to the same', () => {
    fc.assert(
      fc.property(requests, options, ([first = '2Gi', ...later], given) => {
        const [one, other] = [play(new SmallWorld(first, given), later), play(new SmallWorld(first, given), later)];
        expect([one.shows, one.events]).toEqual([other.shows, other.events]);
      }),
    );
  });

  test('the claim never says more than the backend has', () => {
    fc.assert(
      fc.property(requests, options, fc.nat({ max: 12 }), ([first = '2Gi', ...later], given, crash) => {
        const world = new SmallWorld(first, given);
        world.crashBefore = crash;
        play(world, later);
        expect(compareQuantities(world.claim.status.capacity?.['storage'] ?? '', world.size)).toBeLessThanOrEqual(0);
        expect(compareQuantities(world.volume.spec.capacity?.['storage'] ?? '', world.size)).toBeLessThanOrEqual(0);
      }),
    );
  });

  test.each([
    ['at once', {}],
    ['with a node’s help', { nodeExpansionRequired: true }],
    ['after failures', { failures: ['final', 'unknown', 'final'] }],
    ['not at all', { limit: '1Gi' }],
  ] satisfies [string, Options][])('a crash before any effect ends as if there had been none: %s', (_, given) => {
    const calm = new SmallWorld('2Gi', given).settle();
    for (let crash = 1; crash <= calm.effects + 1; crash++) {
      const world = new SmallWorld('2Gi', given);
      world.crashBefore = crash;
      world.settle();
      expect([world.shows, world.size], `crash before effect ${crash}`).toEqual([calm.shows, calm.size]);
    }
  });
});
