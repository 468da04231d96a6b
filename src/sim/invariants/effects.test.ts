/** The invariants about calls and their outcomes can be violated, and hold where they must. */
import { describe, expect, test } from 'vitest';
import { forgedLabel, neverEmptyInstead, neverFreedByForgery } from './content.ts';
import { detachedAtBackend, detachedFromLiveState } from './detaching.ts';
import { neverBelowTheAsked } from './expanding.ts';
import { type ExpandCall, Facts, type ObjectChange, type ObservedChange, type WatchedKind } from './facts.ts';
import type { Invariant } from './invariant.ts';
import { onlyVictimsAreDeleted, podsFit, unansweredIsNotFailed } from './scheduling.ts';
import { oneOfEachOrdinal } from './stateful-sets.ts';

/** Facts that change one after the other, as the observer applies them. */
class Checked {
  readonly facts = new Facts();
  readonly found: string[] = [];
  now = 0;
  readonly #invariant: Invariant;

  constructor(invariant: Invariant) {
    this.#invariant = invariant;
  }

  /** Undefined: the object is gone. */
  set(type: WatchedKind, key: string, after: object | undefined): this {
    const before = this.facts.all(type).get(key);
    // The type says what the object is.
    const change = {
      type,
      key,
      revision: 1,
      before,
      after: after === undefined ? undefined : { metadata: {}, spec: {}, status: {}, ...after },
    } as ObjectChange;
    this.facts.change(change, this.now);
    return this.#check(change);
  }

  call(capacity: string, outcome: ExpandCall['outcome']): this {
    return this.#check({ type: 'expand-call', call: { handle: 'd', capacity, outcome } });
  }

  /** The scheduler deletes the pod. */
  schedulerDeletes(key: string): this {
    const pod = this.facts.pods.get(key);
    return pod === undefined ? this : this.#check({ type: 'scheduler-delete', key, pod });
  }

  disk(type: 'attached' | 'detached'): this {
    this.facts.changeDisk({ type, handle: 'd', node: 'n' });
    return this;
  }

  #check(change: ObservedChange): this {
    const what = this.#invariant.check(change, this.facts, this.now);
    if (what !== undefined) this.found.push(what);
    return this;
  }
}

const ready = { status: { conditions: [{ type: 'Ready', status: 'True' }] } };

describe('allocatedResources', () => {
  const asked = () => new Checked(neverBelowTheAsked()).set('volume', 'v', { spec: { csi: { volumeHandle: 'd' } } }).call('8Gi', 'asked');
  const allocated = (storage: string) => ({ spec: { volumeName: 'v' }, status: { allocatedResources: { storage } } });

  test('may not fall below what a driver was asked for, as long as its outcome is unknown', () => {
    expect(asked().call('8Gi', 'unknown').set('claim', 'c', allocated('3Gi')).found).toHaveLength(1);
    expect(asked().set('claim', 'c', allocated('3Gi')).found).toHaveLength(1);
  });

  test('may be lower after a certain refusal, and stays or rises at any time', () => {
    expect(asked().call('8Gi', 'refused').set('claim', 'c', allocated('3Gi')).found).toEqual([]);
    expect(asked().set('claim', 'c', allocated('8Gi')).set('claim', 'c', allocated('9Gi')).found).toEqual([]);
    // The answer about a smaller size says nothing of the larger one.
    expect(asked().call('3Gi', 'refused').set('claim', 'c', allocated('3Gi')).found).toHaveLength(1);
  });
});

describe('a VolumeAttachment', () => {
  const attachment = (more: object = {}) => ({
    metadata: { name: 'a', ...more },
    spec: { attacher: 'x', nodeName: 'n', source: { persistentVolumeName: 'v' } },
  });
  const volume = { spec: { csi: { volumeHandle: 'd' } } };
  const silent = { status: { conditions: [], volumesInUse: ['kubernetes.io/csi/x^d'] } };
  const inUse = { ...ready, status: { ...ready.status, volumesInUse: ['kubernetes.io/csi/x^d'] } };

  test('may not go while the backend has the disk attached', () => {
    const checked = new Checked(detachedAtBackend).set('volume', 'v', volume).set('attachment', 'a', attachment()).disk('attached');
    expect(checked.set('attachment', 'a', undefined).found).toHaveLength(1);
    expect(checked.set('attachment', 'a', attachment()).disk('detached').set('attachment', 'a', undefined).found).toHaveLength(1);
  });

  /** The node as it becomes, one after the other. */
  const deleteAfter = (ms: number, ...nodes: readonly object[]) => {
    const checked = new Checked(detachedFromLiveState()).set('volume', 'v', volume).set('attachment', 'a', attachment());
    for (const node of nodes) checked.set('node', 'n', node);
    checked.now = ms;
    return checked.set('attachment', 'a', attachment({ deletionTimestamp: 'now' })).found;
  };

  test('may not be deleted while its node has long said that it uses the volume', () => {
    expect(deleteAfter(60_000, inUse)).toHaveLength(1);
  });

  test('may not either because the node was not ready when it joined', () => {
    expect(deleteAfter(60_000, silent, inUse)).toHaveLength(1);
  });

  test('may be deleted after a pause by a controller that had asked before, not by one that asks afterwards', () => {
    const deleteAt = (ms: number) => {
      const checked = new Checked(detachedFromLiveState()).set('volume', 'v', volume).set('attachment', 'a', attachment());
      checked.facts.pauses.push({ from: 0, until: 50_000 });
      checked.now = 20_000;
      checked.set('node', 'n', inUse);
      checked.now = ms;
      return checked.set('attachment', 'a', attachment({ deletionTimestamp: 'now' })).found;
    };
    expect(deleteAt(51_000)).toEqual([]);
    expect(deleteAt(70_000)).toHaveLength(1);
  });

  test('may be deleted if the node has only just said it, does not use it, or may be dead', () => {
    expect(deleteAfter(1_000, inUse)).toEqual([]);
    expect(deleteAfter(60_000, ready)).toEqual([]);
    expect(deleteAfter(60_000, inUse, silent)).toEqual([]);
    expect(deleteAfter(60_000, { ...inUse, spec: { taints: [{ key: 'node.kubernetes.io/out-of-service' }] } })).toEqual([]);
  });
});

test('a binding that happened is not said to have failed; a refused one may be', () => {
  const said = (message: string) => ({ spec: { nodeName: 'n' }, status: { conditions: [{ type: 'PodScheduled', status: 'False', message }] } });
  const placed = () => new Checked(unansweredIsNotFailed).set('pod', 'p', { spec: { nodeName: 'n' } });
  expect(placed().set('pod', 'p', said('running Bind plugin "DefaultBinder": the answer was lost')).found).toHaveLength(1);
  expect(placed().set('pod', 'p', said('running Bind plugin "DefaultBinder": pod p is already assigned to node "n"')).found).toEqual([]);
  // A scheduler whose cache is old.
  expect(placed().set('pod', 'p', said('0/2 nodes are available')).found).toEqual([]);
});

test('the scheduler may delete a pod that it has said to preempt, and no other', () => {
  const victim = (reason: string) => ({ status: { conditions: [{ type: 'DisruptionTarget', status: 'True', reason }] } });
  const deleted = (pod: object) => new Checked(onlyVictimsAreDeleted()).set('pod', 'p', pod).schedulerDeletes('p').found;
  expect(deleted({})).toHaveLength(1);
  expect(deleted(victim('DeletionByTaintManager'))).toHaveLength(1);
  const takenBack = new Checked(onlyVictimsAreDeleted()).set('pod', 'p', { metadata: { uid: 'u' }, ...victim('PreemptionByScheduler') });
  expect(takenBack.set('pod', 'p', { metadata: { uid: 'u' } }).schedulerDeletes('p').found).toEqual([]);
  expect(takenBack.set('pod', 'p', { metadata: { uid: 'other' } }).schedulerDeletes('p').found).toHaveLength(1);
  expect(deleted(victim('PreemptionByScheduler'))).toEqual([]);
});

test('the pods of a node may not request more than it has, unless several schedulers bind them', () => {
  const node = { status: { allocatable: { cpu: '8' } } };
  const pod = (cpu: string, phase = 'Running') => ({ spec: { nodeName: 'n', containers: [{ resources: { requests: { cpu } } }] }, status: { phase } });
  const placed = (isAlone: boolean, ...pods: readonly object[]) => {
    const checked = new Checked(podsFit(isAlone)).set('node', 'n', node);
    for (const [i, each] of pods.entries()) checked.set('pod', `p${i}`, each);
    return checked.found;
  };
  expect(placed(true, pod('5'), pod('3500m'))).toHaveLength(1);
  expect(placed(true, pod('5'), pod('3'))).toEqual([]);
  expect(placed(true, pod('5', 'Succeeded'), pod('5'))).toEqual([]);
  expect(placed(false, pod('5'), pod('5'))).toEqual([]);
});

test('a running pod of a StatefulSet goes only with its node', () => {
  const member = (status: object) => ({
    metadata: { name: 'db-0', uid: 'u', ownerReferences: [{ kind: 'StatefulSet', controller: true }] },
    spec: { nodeName: 'n' },
    status,
  });
  const running = { containerStatuses: [{ state: { running: {} } }] };
  const goes = (status: object, node: object) =>
    new Checked(oneOfEachOrdinal).set('node', 'n', node).set('pod', 'p', member(status)).set('pod', 'p', undefined).found;
  expect(goes(running, ready)).toHaveLength(1);
  expect(goes({ containerStatuses: [{ state: { terminated: {} } }] }, ready)).toEqual([]);
  expect(goes(running, {})).toEqual([]);
});

test('no empty volume is provisioned for a claim with a data source', () => {
  const intentFor = (request: object) => ({ spec: { operation: 'Create', claimRef: { namespace: 'default', name: 'c', uid: 'u' }, request } });
  const intent = intentFor({});
  const claim = (spec: object) => new Checked(neverEmptyInstead).set('claim', 'default/c', { metadata: { uid: 'u' }, spec });
  expect(claim({ dataSourceRef: { kind: 'Backup', name: 'b' } }).set('intent', 'v', intent).found).toHaveLength(1);
  expect(claim({}).set('intent', 'v', intent).found).toEqual([]);
  const filled = intentFor({ source: { type: 'snapshot', handle: 's' } });
  expect(claim({ dataSourceRef: { kind: 'VolumeSnapshot', name: 's' } }).set('intent', 'v', filled).found).toEqual([]);
});

test('a forged recycler pod, or none, frees no volume', () => {
  const volume = (spec: object) => ({ spec: { persistentVolumeReclaimPolicy: 'Recycle', ...spec }, status: { phase: 'Released' } });
  const freed = (labels: object, status: object) =>
    new Checked(neverFreedByForgery())
      .set('pod', 'default/recycler-for-v', { metadata: { uid: 'p', labels } })
      .set('intent', 'v', { spec: { operation: 'Scrub' }, status })
      .set('volume', 'v', volume({ claimRef: {} }))
      .set('volume', 'v', volume({})).found;
  expect(freed({ [forgedLabel]: 'yes' }, { podUID: 'p' })).toHaveLength(1);
  expect(freed({}, {})).toHaveLength(1);
  expect(freed({}, { podUID: 'p' })).toEqual([]);
});
