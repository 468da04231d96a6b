import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PersistentVolume, PersistentVolumeClaim, VolumeAttributesClass } from '../../api/generated/types.ts';
import type { CsiCapabilities, DriverCapabilities, ModifyOutcome } from '../../api/volumes/driver-capabilities.ts';
import { isDeepStrictEqual } from 'node:util';
import type { ModifierAction, ModifyAttempt, ModifyVolume } from './actions.ts';
import { decide } from './decide.ts';

const csi: CsiCapabilities = { topology: false, clones: false, restores: false, modifies: true, reportsCapacity: false };
const capabilities = (more: Partial<CsiCapabilities>): DriverCapabilities => ({
  name: 'driver',
  provisions: true,
  deletes: true,
  mountOptions: true,
  block: true,
  expands: 'always',
  attaches: true,
  csi: { ...csi, ...more },
});
const classOf = (name: string, driverName = 'driver'): VolumeAttributesClass => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'VolumeAttributesClass',
  metadata: { name },
  driverName,
  parameters: { tier: name },
});

const failure = (code: string, final: boolean): ModifyOutcome => ({
  type: 'failed',
  code,
  final,
  infeasible: code === 'InvalidArgument',
  message: `rpc error: code = ${code} desc = no`,
});
const modified: ModifyOutcome = { type: 'modified' };

/** One claim with its volume and driver; actions change them as the controller's would. */
class Cluster {
  claim: PersistentVolumeClaim = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'data', namespace: 'default', uid: 'uid' },
    spec: { resources: { requests: { storage: '1Gi' } }, volumeName: 'vol' },
    status: { phase: 'Bound' },
  };
  volume: PersistentVolume = {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: 'vol' },
    spec: { claimRef: { namespace: 'default', name: 'data', uid: 'uid' }, csi: { driver: 'driver', volumeHandle: 'handle' } },
    status: {},
  };
  readonly classes = new Map(['gold', 'silver'].map((name) => [name, classOf(name)]));
  driver: DriverCapabilities | undefined = capabilities({});
  attempt: ModifyAttempt | undefined;
  readonly events: string[] = [];
  readonly calls: ModifyVolume[] = [];
  now = 0;
  /** Of the next call; undefined: it is not answered yet. */
  answer: ModifyOutcome | undefined = modified;

  want(name: string | undefined): this {
    const { volumeAttributesClassName: _, ...spec } = this.claim.spec;
    this.claim = { ...this.claim, spec: name === undefined ? spec : { ...spec, volumeAttributesClassName: name } };
    return this;
  }

  /** Another process takes over: what was only remembered is lost. */
  restart(): this {
    this.attempt = undefined;
    return this;
  }

  /** One pass; returns what it did. */
  pass(limit = Infinity): readonly ModifierAction[] {
    const { claim, volume, attempt, driver } = this;
    const decision = decide(
      {
        claim,
        volume,
        attempt,
        attributesClass: (name) => this.classes.get(name),
        driver: (name) => (name === driver?.name ? driver : undefined),
        lastEvent: () => undefined,
      },
      this.now,
    );
    const actions = decision.actions.slice(0, limit);
    for (const action of actions) this.#perform(action);
    return actions;
  }

  /** Passes until nothing changes and no call is made. */
  settle(): this {
    for (let passes = 0; passes < 20; passes++) {
      const before = [this.claim, this.volume, this.attempt, this.calls.length];
      this.pass();
      if (isDeepStrictEqual(before, [this.claim, this.volume, this.attempt, this.calls.length])) return this;
      if (this.answer === undefined && this.calls.length !== before[3]) return this;
    }
    throw new Error('it does not settle');
  }

  get condition(): Readonly<Record<string, string>> {
    return Object.fromEntries((this.claim.status.conditions ?? []).map(({ type, reason = '', message = '' }) => [type, [reason, message].join(' ').trim()]));
  }

  #perform(action: ModifierAction): void {
    switch (action.do) {
      case 'recordEvent':
        this.events.push(`${action.event.reason}: ${action.event.message}`);
        break;
      case 'modifyVolume':
        this.calls.push(action);
        if (this.answer !== undefined) this.attempt = { type: 'answered', target: action.target, outcome: this.answer, failures: action.failures };
        break;
      case 'rememberAttempt':
        this.attempt = action.attempt;
        break;
      case 'update':
        this.volume = action.object;
        break;
      case 'updateStatus':
        this.claim = action.object as PersistentVolumeClaim;
        break;
      default:
        throw new Error(`unexpected ${action.do}`);
    }
  }
}

const inProgress = (target: string) => ({ targetVolumeAttributesClassName: target, status: 'InProgress' });

describe('a claim that wants another VolumeAttributesClass', () => {
  test('has its target in the status before the driver is asked, and the class when the driver has agreed', () => {
    const cluster = new Cluster().want('gold');
    cluster.pass();
    expect(cluster.claim.status.modifyVolumeStatus).toEqual(inProgress('gold'));
    expect(cluster.condition).toEqual({ ModifyingVolume: 'Modifying volume to "gold" is in progress.' });
    expect(cluster.calls).toEqual([]);
    cluster.settle();
    expect(cluster.calls).toMatchObject([{ driver: 'driver', volume: { csi: { volumeHandle: 'handle' } }, mutableParameters: { tier: 'gold' } }]);
    expect(cluster.claim.status).toEqual({ phase: 'Bound', currentVolumeAttributesClassName: 'gold' });
    expect(cluster.volume.spec.volumeAttributesClassName).toBe('gold');
    expect(cluster.events).toEqual([
      'VolumeModify: external resizer is modifying volume data with vac gold',
      'VolumeModifySuccessful: external resizer modified volume data with vac gold successfully',
    ]);
  });

  test('waits for a class that does not exist, and goes on when it does', () => {
    const cluster = new Cluster().want('bronze').settle();
    expect(cluster.claim.status.modifyVolumeStatus).toEqual({ status: 'Pending' });
    expect(cluster.events.at(-1)).toBe('VolumeModifyFailed: VAC "bronze" does not exist.');
    expect(cluster.calls).toEqual([]);
    cluster.classes.set('bronze', classOf('bronze'));
    expect(cluster.settle().claim.status).toEqual({ phase: 'Bound', currentVolumeAttributesClassName: 'bronze' });
  });

  test.each<[string, (cluster: Cluster) => void, string]>([
    [
      'names a class of another driver',
      (cluster) => cluster.classes.set('gold', classOf('gold', 'other')),
      'VAC gold is for driver other which does not match driver name driver',
    ],
    [
      'has a driver that cannot modify volumes',
      (cluster) => (cluster.driver = capabilities({ modifies: false })),
      'CSI driver does not support VolumeAttributesClass: controller MODIFY_VOLUME capability is not reported',
    ],
    [
      'has a volume of no CSI driver',
      (cluster) => (cluster.volume = { ...cluster.volume, spec: { claimRef: cluster.volume.spec.claimRef ?? {}, hostPath: { path: '/data' } } }),
      'volume vol is not a CSI volume: only volumes of CSI drivers can be modified by a VolumeAttributesClass',
    ],
  ])('that %s is told so, and the driver is not asked', (_, change, message) => {
    const cluster = new Cluster().want('gold');
    change(cluster);
    cluster.settle();
    expect(cluster.claim.status.modifyVolumeStatus).toEqual({ status: 'Pending' });
    expect(cluster.condition['ModifyVolumeError']).toContain(message);
    expect(cluster.events.at(-1)).toBe(`VolumeModifyFailed: ${message}`);
    expect(cluster.calls).toEqual([]);
  });

  test('is left to the sidecar of a driver that is not in this process', () => {
    const cluster = new Cluster().want('gold');
    cluster.driver = undefined;
    expect(cluster.pass()).toEqual([]);
  });

  test('that is infeasible keeps the old class, is tried again rarely, and may be taken back', () => {
    const cluster = new Cluster().want('silver').settle().want('gold');
    cluster.answer = failure('InvalidArgument', true);
    cluster.settle();
    expect(cluster.claim.status).toMatchObject({
      currentVolumeAttributesClassName: 'silver',
      modifyVolumeStatus: { targetVolumeAttributesClassName: 'gold', status: 'Infeasible' },
    });
    expect(cluster.volume.spec.volumeAttributesClassName).toBe('silver');
    expect(cluster.condition).toEqual({ ModifyingVolume: 'Modifying volume to "gold" failed. Waiting for retry.', ModifyVolumeError: 'InvalidArgument no' });
    expect(cluster.events.at(-1)).toBe('VolumeModifyFailed: rpc error: code = InvalidArgument desc = no');
    cluster.now = 299_000;
    expect(cluster.pass()).toEqual([]);
    cluster.answer = modified;
    cluster.want('silver').settle();
    expect(cluster.claim.status).toEqual({ phase: 'Bound', currentVolumeAttributesClassName: 'silver' });
  });

  test('is canceled without a class, if no driver is at work', () => {
    const cluster = new Cluster().want('gold');
    cluster.answer = failure('InvalidArgument', true);
    cluster.settle().want(undefined).settle();
    expect(cluster.events.at(-1)).toBe('VolumeModifyCanceled: Cancelled modify.');
    expect(cluster.condition).toEqual({ ModifyVolumeError: 'InvalidArgument no' });
    expect(cluster.calls).toHaveLength(1);
  });

  test.each([
    ['keeps its target while the outcome is unknown', failure('DeadlineExceeded', false), 'gold'],
    ['gets the new class after a failure that is final', failure('Internal', true), 'silver'],
  ])('and then yet another one %s', (_, answer, target) => {
    const cluster = new Cluster().want('gold');
    cluster.answer = answer;
    cluster.settle().want('silver');
    cluster.now += 2000;
    cluster.answer = undefined;
    cluster.settle();
    expect(cluster.calls.at(-1)?.target).toBe(target);
    expect(cluster.claim.status.modifyVolumeStatus).toEqual(inProgress(target));
  });

  test('goes on with the target of an earlier process, even if the user wants none any more', () => {
    const cluster = new Cluster().want('gold');
    cluster.answer = undefined;
    cluster.settle().want(undefined).restart();
    cluster.answer = modified;
    expect(cluster.settle().claim.status).toMatchObject({ currentVolumeAttributesClassName: 'gold' });
  });

  test('is repeated after a growing time, and at once if the driver came back', () => {
    const cluster = new Cluster().want('gold');
    cluster.answer = failure('Unavailable', false);
    cluster.settle();
    expect(cluster.events.at(-1)).toBe('VolumeModifyFailed: rpc error: code = Unavailable desc = no. Still modifying to VAC gold');
    cluster.now = 500;
    cluster.settle();
    expect(cluster.calls).toHaveLength(1);
    cluster.driver = capabilities({ answersSince: 500 });
    cluster.now = 501;
    cluster.settle();
    expect(cluster.calls).toHaveLength(2);
    cluster.now = 2500;
    cluster.settle();
    expect(cluster.calls).toHaveLength(2);
    cluster.now = 2501;
    cluster.settle();
    expect(cluster.calls).toHaveLength(3);
  });

  test('carries the Secret of the volume’s annotations, or else that of expansion', () => {
    const cluster = new Cluster().want('gold');
    const { volume } = cluster;
    cluster.volume = {
      ...volume,
      spec: { ...volume.spec, csi: { driver: 'driver', volumeHandle: 'handle', controllerExpandSecretRef: { name: 'expand', namespace: 'a' } } },
    };
    cluster.answer = undefined;
    cluster.settle();
    expect(cluster.calls.at(-1)?.secret).toEqual({ name: 'expand', namespace: 'a' });
    const annotations = { 'volume.kubernetes.io/controller-modify-secret-name': 'modify', 'volume.kubernetes.io/controller-modify-secret-namespace': 'b' };
    cluster.volume = { ...cluster.volume, metadata: { name: 'vol', annotations } };
    cluster.restart().settle();
    expect(cluster.calls.at(-1)?.secret).toEqual({ name: 'modify', namespace: 'b' });
  });
});

test('with crashes after any prefix of the actions, a claim ends with the class that it wants', () => {
  const step = fc.record({
    want: fc.constantFrom('gold', 'silver', undefined),
    limit: fc.constantFrom(0, 1, 2, Infinity),
    answer: fc.constantFrom(modified, failure('Internal', true), failure('DeadlineExceeded', false), failure('InvalidArgument', true)),
    restart: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), fc.constantFrom('gold', 'silver'), (steps, end) => {
      const cluster = new Cluster();
      for (const { want, limit, answer, restart } of steps) {
        // The server refuses to take the class of a claim away that has one.
        if (want !== undefined || cluster.claim.status.currentVolumeAttributesClassName === undefined) cluster.want(want);
        cluster.answer = answer;
        cluster.pass(limit);
        if (restart) cluster.restart();
        cluster.now += 1000;
      }
      cluster.answer = modified;
      cluster.want(end);
      for (let round = 0; round < 4; round++) {
        cluster.settle();
        cluster.now += 600_000;
      }
      expect(cluster.claim.status).toEqual({ phase: 'Bound', currentVolumeAttributesClassName: end });
      expect(cluster.volume.spec.volumeAttributesClassName).toBe(end);
      // The driver's own last word is that class.
      expect(cluster.calls.at(-1)?.target).toBe(end);
    }),
  );
});
