/** One attachment, its volume and a backend: every way it can go, and every moment at which the process can die. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PersistentVolume, VolumeAttachment } from '../../api/generated/types.ts';
import type { Stored } from '../../api/stored.ts';
import type { DriverCapabilities } from '../../api/volumes/driver-capabilities.ts';
import type { CsiAttacherAction, PublishAttempt } from './actions.ts';
import { decide, type CsiAttacherSnapshot } from './decide.ts';

const finalizer = 'external-attacher/csi-example-com';

interface Options {
  /** What the next calls fail with; `unknown` has its effect all the same. */
  readonly failures?: readonly ('final' | 'unknown')[];
}

const csiDriver = (answersSince: number): DriverCapabilities => ({
  name: 'csi.example.com',
  provisions: true,
  deletes: true,
  mountOptions: true,
  block: true,
  expands: 'never',
  attaches: true,
  csi: { topology: false, clones: false, restores: false, modifies: false, reportsCapacity: false, answersSince },
});

class FakeBackend {
  attachment: Stored<VolumeAttachment> | undefined = {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'VolumeAttachment',
    metadata: { name: 'va', uid: 'uid', resourceVersion: '1' },
    spec: { attacher: 'csi.example.com', nodeName: 'n1', source: { persistentVolumeName: 'vol' } },
    status: { attached: false },
  };
  volume: PersistentVolume | undefined = {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: 'vol' },
    spec: { csi: { driver: 'csi.example.com', volumeHandle: 'h', readOnly: true, volumeAttributes: { a: 'b' } } },
    status: {},
  };
  nodeId: string | undefined = 'id-1';
  isContradicted = false;
  driver: DriverCapabilities | undefined;
  /** Whether the backend has it attached. */
  attached = false;
  calls = 0;
  now = Date.parse('2025-06-01T00:00:00Z');
  effects = 0;
  crashBefore = 0;
  readonly #failures: ('final' | 'unknown')[];
  #attempt: PublishAttempt | undefined;

  constructor({ failures = [] }: Options = {}) {
    this.#failures = [...failures];
  }

  snapshot(): CsiAttacherSnapshot | undefined {
    const { attachment, volume, nodeId, isContradicted } = this;
    if (attachment === undefined) return undefined;
    return { type: 'attachment', attachment, volume, nodeId, attempt: this.#attempt, driver: this.driver, isContradicted };
  }

  settle(horizonMs = 3_600_000): this {
    const end = this.now + horizonMs;
    for (let round = 0; round < 200; round++) {
      const snapshot = this.snapshot();
      if (snapshot === undefined) return this;
      const { actions, again } = decide(snapshot, this.now);
      if (actions.length === 0 && (again === undefined || again > end)) return this;
      if (actions.length === 0) this.now = again ?? end;
      for (const action of actions) if (!this.#perform(action)) break;
    }
    throw new Error('it does not settle');
  }

  /** False: the process died. Its memory is gone. */
  #perform(action: CsiAttacherAction): boolean {
    if (action.do === 'rememberAttempt') {
      this.#attempt = action.attempt;
      this.isContradicted = false;
      return true;
    }
    if (++this.effects === this.crashBefore) {
      this.#attempt = undefined;
      return false;
    }
    switch (action.do) {
      case 'update':
      case 'updateStatus':
        this.#write(action.object);
        return true;
      case 'publish':
        expect(action.request).toEqual({ handle: 'h', nodeId: 'id-1', readOnly: true, accessModes: [], volumeAttributes: { a: 'b' } });
        // Neither can go unnoticed by now.
        expect([this.attachment?.metadata.finalizers, this.volume?.metadata.finalizers]).toEqual([[finalizer], [finalizer]]);
        this.#attempt = { type: 'published', outcome: this.#call(true) ?? { type: 'published', context: { device: 'sda' } }, failures: action.failures };
        return true;
      case 'unpublish':
        expect(action.target).toEqual({ handle: 'h', nodeId: 'id-1' });
        this.#attempt = { type: 'unpublished', outcome: this.#call(false) ?? { type: 'unpublished' }, failures: action.failures };
        return true;
      default:
        throw new Error(`unexpected action ${action.do}`);
    }
  }

  #call(attached: boolean): { readonly type: 'failed'; readonly message: string; readonly final: boolean } | undefined {
    this.calls++;
    const failure = this.#failures.shift();
    if (failure !== 'final') this.attached = attached;
    return failure === undefined ? undefined : { type: 'failed', message: failure, final: failure === 'final' };
  }

  #write(object: VolumeAttachment | PersistentVolume): void {
    if (object.kind === 'PersistentVolume') {
      this.volume = object as PersistentVolume;
      return;
    }
    const { deletionTimestamp, finalizers = [] } = object.metadata;
    this.attachment = deletionTimestamp !== undefined && finalizers.length === 0 ? undefined : (object as Stored<VolumeAttachment>);
  }

  delete(): this {
    const { attachment } = this;
    if (attachment === undefined) return this;
    this.#write({ ...attachment, metadata: { ...attachment.metadata, deletionTimestamp: '2025-06-01T00:00:00Z' } });
    return this;
  }
}

describe('an attachment', () => {
  test('is attached, and says how the node finds the device', () => {
    const world = new FakeBackend().settle();
    expect(world.attachment?.status).toEqual({ attached: true, attachmentMetadata: { device: 'sda' } });
    expect(world.attachment?.metadata.annotations).toEqual({ 'csi.alpha.kubernetes.io/node-id': 'id-1' });
    expect([world.attached, world.calls]).toEqual([true, 1]);
  });

  test('goes once it is detached', () => {
    const world = new FakeBackend().settle().delete().settle();
    expect([world.attached, world.attachment, world.calls]).toEqual([false, undefined, 2]);
  });

  test('that goes before it was attached is detached all the same, if the driver may have been asked', () => {
    const world = new FakeBackend({ failures: ['unknown'] }).settle(0);
    expect(world.attached).toBe(true);
    expect(world.delete().settle().attached).toBe(false);
  });

  test('is detached from a node that is gone by the name that the node had', () => {
    const world = new FakeBackend().settle();
    world.nodeId = undefined;
    expect(world.delete().settle().attachment).toBeUndefined();
  });

  test('that fails says why, and is tried again ever more slowly', () => {
    const world = new FakeBackend({ failures: ['final', 'final', 'final'] });
    const start = world.now;
    world.settle(0);
    expect(world.attachment?.status).toEqual({ attached: false, attachError: { message: 'final', time: '2025-06-01T00:00:00Z' } });
    expect(world.settle().attachment?.status).toEqual({ attached: true, attachmentMetadata: { device: 'sda' } });
    expect(world.now - start).toBe(1000 + 2000 + 4000);
  });

  test('is tried again at once when its driver came back after the failure', () => {
    const world = new FakeBackend({ failures: ['final', 'final', 'final'] });
    world.settle(0);
    const failedAt = world.now;
    world.driver = csiDriver(failedAt - 1);
    expect([world.settle(0).calls, world.now]).toEqual([1, failedAt]);
    world.now += 500;
    world.driver = csiDriver(world.now);
    world.settle(0);
    // The failures are those of different moments: the second one came after the driver.
    expect(world.calls).toBeGreaterThan(1);
    expect(world.now).toBe(failedAt + 500);
  });

  test('whose detach fails says why, and stays until it succeeds', () => {
    const world = new FakeBackend({ failures: [] }).settle();
    const failing = new FakeBackend({ failures: ['final'] });
    Object.assign(failing, { attachment: world.attachment, volume: world.volume, attached: true });
    expect(failing.delete().settle(0).attachment?.status.detachError?.message).toBe('final');
    expect(failing.settle().attachment).toBeUndefined();
  });

  test('of a driver whose name ends oddly has a finalizer that the API takes', () => {
    const world = new FakeBackend();
    const { attachment, volume } = world;
    if (attachment === undefined || volume === undefined) throw new Error('no world');
    const attacher = 'csi.example.';
    const spec = { csi: { driver: attacher, volumeHandle: 'h' } };
    const snapshot: CsiAttacherSnapshot = {
      type: 'attachment',
      attachment: { ...attachment, spec: { ...attachment.spec, attacher } },
      volume: { ...volume, spec },
      nodeId: 'id-1',
      attempt: undefined,
      driver: undefined,
      isContradicted: false,
    };
    expect(decide(snapshot, 0).actions[0]).toMatchObject({ object: { metadata: { finalizers: ['external-attacher/csi-example-X'] } } });
  });
});

describe('nothing is asked of the driver, and the attachment says why', () => {
  const message = (change: (world: FakeBackend) => void): string | undefined => {
    const world = new FakeBackend();
    change(world);
    world.settle();
    expect(world.calls).toBe(0);
    expect(world.attachment?.metadata.finalizers).toBeUndefined();
    return world.attachment?.status.attachError?.message;
  };

  test('if the volume is not there', () => {
    expect(message((world) => (world.volume = undefined))).toBe('persistentvolume "vol" not found');
  });

  test('if the volume is to go', () => {
    const going = (world: FakeBackend) => {
      if (world.volume !== undefined) world.volume = { ...world.volume, metadata: { name: 'vol', deletionTimestamp: '2025-06-01T00:00:00Z' } };
    };
    expect(message(going)).toBe('PersistentVolume "vol" is marked for deletion');
  });

  test('if the node does not know the driver', () => {
    expect(message((world) => (world.nodeId = undefined))).toBe('CSINode n1 does not contain driver csi.example.com');
  });

  test('if the volume is another driver’s', () => {
    const other = (world: FakeBackend) => {
      if (world.volume !== undefined) world.volume = { ...world.volume, spec: { csi: { driver: 'other', volumeHandle: 'h' } } };
    };
    expect(message(other)).toBe('pv spec contained non-csi source that was not migrated');
  });
});

describe('a backend that does not agree', () => {
  test('has lost the volume: it is attached again', () => {
    const world = new FakeBackend().settle();
    world.attached = false;
    expect(world.settle().attached).toBe(false);
    world.isContradicted = true;
    expect([world.settle().attached, world.attachment?.status.attached]).toEqual([true, true]);
  });

  test('has it after all: the attachment says so without waiting', () => {
    const world = new FakeBackend({ failures: ['unknown'] }).settle(0);
    expect(world.attachment?.status.attached).toBe(false);
    const before = world.now;
    world.isContradicted = true;
    world.settle(0);
    expect([world.attachment?.status.attached, world.now]).toEqual([true, before]);
  });
});

describe('a volume that is to go', () => {
  const volume: PersistentVolume = {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: 'vol', finalizers: ['other', finalizer], deletionTimestamp: '2025-06-01T00:00:00Z' },
    spec: {},
    status: {},
  };
  const snapshot = { type: 'volume', volume, driver: 'csi.example.com' } as const;

  test('may, once nothing of it is attached', () => {
    expect(decide({ ...snapshot, isNeeded: true }, 0).actions).toEqual([]);
    expect(decide({ ...snapshot, isNeeded: false }, 0).actions).toMatchObject([{ do: 'update', object: { metadata: { finalizers: ['other'] } } }]);
  });

  test('and one that is not to go is left alone', () => {
    const staying = { ...volume, metadata: { name: 'vol', finalizers: [finalizer] } };
    expect(decide({ ...snapshot, volume: staying, isNeeded: false }, 0).actions).toEqual([]);
  });
});

describe('whatever happens', () => {
  const failures = fc.array(fc.constantFrom('final' as const, 'unknown' as const), { maxLength: 4 });
  const play = (world: FakeBackend, { isEarly, goes }: { readonly isEarly: boolean; readonly goes: boolean }) => {
    world.settle(isEarly ? 0 : undefined);
    return goes ? world.delete().settle() : world.settle();
  };
  const histories = fc.record({ isEarly: fc.boolean(), goes: fc.boolean() });

  test('it settles, and what the attachment says is what the backend has', () => {
    fc.assert(
      fc.property(failures, histories, (given, history) => {
        const world = play(new FakeBackend({ failures: given }), history);
        const snapshot = world.snapshot();
        if (snapshot !== undefined) expect(decide(snapshot, world.now).actions).toEqual([]);
        expect(world.attached).toBe(world.attachment?.status.attached ?? false);
      }),
    );
  });

  test('a crash before any effect ends as if there had been none', () => {
    fc.assert(
      fc.property(failures, histories, (given, history) => {
        const calm = play(new FakeBackend({ failures: given }), history);
        for (let crash = 1; crash <= calm.effects + 1; crash++) {
          const world = new FakeBackend({ failures: given });
          world.crashBefore = crash;
          play(world, history);
          expect([world.attached, world.attachment?.status.attached], `crash before effect ${crash}`).toEqual([
            calm.attached,
            calm.attachment?.status.attached,
          ]);
        }
      }),
    );
  });

  test('the same leads to the same, with a reason', () => {
    fc.assert(
      fc.property(failures, histories, (given, history) => {
        const world = play(new FakeBackend({ failures: given }), history);
        const snapshot = world.snapshot();
        if (snapshot === undefined) return;
        expect(decide(snapshot, world.now)).toEqual(decide(structuredClone(snapshot), world.now));
        expect(decide(snapshot, world.now).reasons).not.toEqual([]);
      }),
    );
  });
});
