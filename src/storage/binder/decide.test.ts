import { describe, expect, it } from 'vitest';
import { available, pv, pvc, reservedFor, storageClass, uidOf } from '../../../test/storage/objects.ts';
import type { PersistentVolume, PersistentVolumeClaim } from '../../api/generated/types.ts';
import { readClaim } from '../volumes/claim.ts';
import type { RecordedEvent } from '../../client/decision.ts';
import { readVolume } from '../volumes/volume.ts';
import { VolumeIndex } from '../volumes/volume-index.ts';
import type { BinderAction, BindMode } from './actions.ts';
import { decideClaim, decideVolume, type BinderSnapshot } from './decide.ts';

interface Given {
  readonly mode?: BindMode;
  readonly volumes?: readonly PersistentVolume[];
  readonly claims?: readonly PersistentVolumeClaim[];
  readonly last?: RecordedEvent;
  /** The key of the claim that every volume is offered to. */
  readonly offeredTo?: string;
  readonly delayed?: boolean;
  readonly pods?: ReturnType<BinderSnapshot['podsToSchedule']>;
}

function snapshotOf({ mode = 'plain', volumes = [], claims = [], last, offeredTo, delayed = false, pods = [] }: Given): BinderSnapshot {
  const index = new VolumeIndex();
  for (const volume of volumes) index.set(readVolume(volume));
  const classes = new Map([['class', storageClass('class', delayed ? { volumeBindingMode: 'WaitForFirstConsumer' } : {})]]);
  return {
    mode,
    lastEvent: () => last,
    volume: (name) => index.get(name),
    claim: (key) => claims.map(readClaim).find((claim) => claim.key === key),
    ownerOf: (name) => claims.map(readClaim).find((claim) => claim.everBound && claim.volumeName === name),
    class: (name) => classes.get(name),
    defaultClass: () => undefined,
    bestFit: (claim, options) => index.bestFit(claim, options),
    offeredTo: () => claims.map(readClaim).find((claim) => claim.key === offeredTo),
    podsToSchedule: () => pods,
  };
}

/** 'update pv claimRef', 'updateStatus pvc Bound' … */
const brief = (actions: readonly BinderAction[]): string[] =>
  actions.map((action) => {
    switch (action.do) {
      case 'recordEvent':
        return `event ${action.event.reason}`;
      case 'bind':
      case 'confirmClaimGone':
        return action.do;
      case 'create':
      case 'update':
      case 'updateStatus':
      case 'delete':
        return `${action.do} ${action.object.kind === 'PersistentVolume' ? 'pv' : 'pvc'}${action.do === 'updateStatus' ? ` ${action.object.status.phase ?? ''}` : ''}`;
    }
  });

const free = pv('vol', '1Gi', { status: available });
const claim = pvc('data', '1Gi');
const decideFor = (object: PersistentVolumeClaim, given: Given, now = 0) => decideClaim(readClaim(object), snapshotOf(given), now);
const decideOn = (object: PersistentVolume, given: Given, now = 0) => decideVolume(readVolume(object), snapshotOf(given), now);

/** Objects as they are once the first `count` steps are done. */
function after(count: number): { volume: PersistentVolume; claim: PersistentVolumeClaim } {
  let state = { volume: free, claim };
  for (const action of decideFor(claim, { volumes: [free] }).actions.slice(0, count)) {
    if (action.do !== 'update' && action.do !== 'updateStatus') continue;
    state = action.object.kind === 'PersistentVolume' ? { ...state, volume: action.object } : { ...state, claim: action.object as PersistentVolumeClaim };
  }
  return state;
}

describe('binding step by step', () => {
  const steps = ['update pv', 'updateStatus pv Bound', 'update pvc', 'updateStatus pvc Bound'];

  it('writes the volume, its status, the claim, its status', () => {
    expect(brief(decideFor(claim, { volumes: [free] }).actions)).toEqual(steps);
  });

  it.each([0, 1, 2, 3, 4])('goes on from where it stopped, after %d steps', (count) => {
    const state = after(count);
    expect(brief(decideFor(state.claim, { volumes: [state.volume], claims: [state.claim] }).actions)).toEqual(steps.slice(count));
  });

  it.each([1, 2, 3, 4])('and the volume itself has nothing against it, after %d steps', (count) => {
    const state = after(count);
    expect(brief(decideOn(state.volume, { volumes: [state.volume], claims: [state.claim] }).actions)).not.toContain('confirmClaimGone');
  });

  it('points the volume at the claim with everything that a reference has', () => {
    const seenClaim = { ...claim, metadata: { ...claim.metadata, resourceVersion: '7' } };
    const [first] = decideFor(seenClaim, { volumes: [free] }).actions;
    expect(first).toMatchObject({
      object: {
        metadata: { annotations: { 'pv.kubernetes.io/bound-by-controller': 'yes' } },
        spec: {
          claimRef: { kind: 'PersistentVolumeClaim', namespace: 'default', name: 'data', uid: uidOf('pvc', 'data'), apiVersion: 'v1', resourceVersion: '7' },
        },
      },
    });
  });
});

describe('binding at once', () => {
  it('is one transaction with both objects as they end', () => {
    const { actions } = decideFor(claim, { mode: 'transaction', volumes: [free] });
    const { volume, claim: bound } = after(4);
    expect(actions).toEqual([{ do: 'bind', volume, claim: bound }]);
  });

  it('is a plain write if only one is missing', () => {
    const state = after(3);
    expect(brief(decideFor(state.claim, { mode: 'transaction', volumes: [state.volume] }).actions)).toEqual(['updateStatus pvc Bound']);
  });
});

describe('a new volume that a claim has waited for', () => {
  const fresh = pv('vol', '1Gi', { status: { phase: 'Pending' } });
  const waited: Given = { mode: 'transaction', volumes: [fresh], claims: [claim], offeredTo: 'default/data' };

  it('is bound to it without becoming Available first', () => {
    expect(brief(decideOn(fresh, waited).actions)).toEqual(['bind']);
  });

  it('becomes Available as in Kubernetes where binding goes step by step', () => {
    expect(brief(decideOn(fresh, { ...waited, mode: 'plain' }).actions)).toEqual(['updateStatus pv Available']);
  });

  it('becomes Available if another suits the claim, or the claim has one by now', () => {
    const other = pv('other', '1Gi', { status: available });
    expect(brief(decideOn(fresh, { ...waited, volumes: [fresh, other] }).actions)).toEqual(['updateStatus pv Available']);
    const served = pvc('data', '1Gi', { spec: { volumeName: 'other' } });
    expect(brief(decideOn(fresh, { ...waited, claims: [served] }).actions)).toEqual(['updateStatus pv Available']);
  });
});

describe('the status of a bound claim', () => {
  const boundTo = (volume: PersistentVolume, object = claim) => {
    const last = decideFor(object, { volumes: [volume] }).actions.at(-1);
    return last?.do === 'updateStatus' && last.object.kind === 'PersistentVolumeClaim' ? last.object.status : undefined;
  };

  it('has the modes, the capacity and the attributes class of its volume', () => {
    const volume = pv('vol', '5Gi', { spec: { accessModes: ['ReadWriteOnce', 'ReadOnlyMany'], volumeAttributesClassName: 'gold' }, status: available });
    const asking = pvc('data', '1Gi', { spec: { volumeAttributesClassName: 'gold' } });
    expect(boundTo(volume, asking)).toEqual({
      phase: 'Bound',
      accessModes: ['ReadWriteOnce', 'ReadOnlyMany'],
      capacity: { storage: '5Gi' },
      currentVolumeAttributesClassName: 'gold',
    });
  });

  it('has the size from before a resize that is not finished', () => {
    const volume = pv('vol', '5Gi', { metadata: { name: 'vol', annotations: { 'volume.alpha.kubernetes.io/pre-resize-capacity': '2Gi' } }, status: available });
    expect(boundTo(volume)).toMatchObject({ capacity: { storage: '2Gi' } });
    const nonsense = pv('vol', '5Gi', { metadata: { name: 'vol', annotations: { 'volume.alpha.kubernetes.io/pre-resize-capacity': 'x' } }, status: available });
    expect(boundTo(nonsense)).toMatchObject({ capacity: { storage: '5Gi' } });
  });

  it('keeps its capacity when the volume grows, but follows its modes', () => {
    const { volume, claim: bound } = after(4);
    const grown = { ...volume, spec: { ...volume.spec, capacity: { storage: '9Gi' } } };
    expect(decideFor(bound, { volumes: [grown] }).actions).toEqual([]);
    const changed = { ...grown, spec: { ...grown.spec, accessModes: ['ReadWriteMany'] } };
    expect(decideFor(bound, { volumes: [changed] }).actions).toMatchObject([
      { object: { status: { accessModes: ['ReadWriteMany'], capacity: { storage: '1Gi' } } } },
    ]);
  });
});

describe('a volume whose claim is not in the cache', () => {
  const pointing = pv('vol', '1Gi', { spec: { claimRef: { ...reservedFor('data'), uid: 'gone' } }, status: { phase: 'Bound' } });

  it('is released only once the server has confirmed that', () => {
    expect(brief(decideOn(pointing, {}).actions)).toEqual(['confirmClaimGone', 'updateStatus pv Released']);
    expect(brief(decideOn(pointing, { claims: [claim] }).actions)).toEqual(['confirmClaimGone', 'updateStatus pv Released']);
  });

  it.each(['Released', 'Failed'])('stays %s', (phase) => {
    expect(decideOn({ ...pointing, status: { phase } }, {}).actions).toEqual([]);
  });
});

describe('an event about a state', () => {
  const asking = pvc('data', '1Gi', { spec: { storageClassName: '' } });
  const last = { reason: 'FailedBinding', message: 'no persistent volumes available for this claim and no storage class is set', at: 1000 };

  it('is recorded again at growing intervals, of at most five minutes', () => {
    expect(brief(decideFor(asking, {}).actions)).toEqual(['event FailedBinding']);
    const quiet = decideFor(asking, { last }, 2000);
    expect(quiet.actions).toEqual([]);
    expect(quiet.again).toBe(1000 + 15_000);
    expect(brief(decideFor(asking, { last }, 16_000).actions)).toEqual(['event FailedBinding']);
    const after = (sinceMs: number) => decideFor(asking, { last: { ...last, at: 1000 + sinceMs, since: 1000 } }, 1000 + sinceMs).again;
    expect([15_000, 30_000, 120_000, 240_000, 3_600_000].map((sinceMs) => (after(sinceMs) ?? 0) - 1000 - sinceMs)).toEqual([
      15_000, 30_000, 120_000, 240_000, 300_000,
    ]);
  });

  it('is recorded again before it expires if its count is forgotten', () => {
    expect(decideFor(asking, { last: { ...last, isForgotten: true } }, 2000)).toMatchObject({ actions: [], again: 1000 + 30 * 60_000 });
  });

  it('is recorded at once when it is another', () => {
    expect(brief(decideFor(asking, { last: { ...last, message: 'another' } }, 2000).actions)).toEqual(['event FailedBinding']);
  });
});

describe('a claim that waits for its pod', () => {
  const at = 100_000;
  const pods = [{ name: 'web', created: at }];
  const first: RecordedEvent = { reason: 'WaitForFirstConsumer', message: 'waiting for first consumer to be created before binding', at: 1 };
  const eventsOf = (given: Given, now: number) => {
    const { actions, again } = decideFor(claim, { delayed: true, ...given }, now);
    return { events: actions.flatMap((action) => (action.do === 'recordEvent' ? [`${action.event.reason}: ${action.event.message}`] : [])), again };
  };

  it('says so', () => {
    expect(eventsOf({}, at).events).toEqual(['WaitForFirstConsumer: waiting for first consumer to be created before binding']);
    expect(eventsOf({ last: first }, first.at + 1000).events).toEqual([]);
  });

  it('says nothing of a pod that may have its node in a moment, and looks again', () => {
    expect(eventsOf({ last: first, pods }, at + 500)).toEqual({ events: [], again: at + 2000 });
    expect(eventsOf({ last: first, pods }, at + 2000).events).toEqual(['WaitForPodScheduled: waiting for pod web to be scheduled']);
  });

  it('names all of them once the oldest has waited', () => {
    const both = [
      { name: 'web', created: at + 1900 },
      { name: 'api', created: at },
    ];
    expect(eventsOf({ last: first, pods: both }, at + 2000).events).toEqual(['WaitForPodScheduled: waiting for pods api,web to be scheduled']);
  });

  it('that finds its pod waiting says that first', () => {
    expect(eventsOf({ pods }, at).events).toEqual(['WaitForPodScheduled: waiting for pod web to be scheduled']);
  });

  it('does not wait for clocks that are wrong', () => {
    expect(eventsOf({ last: first, pods: [{ name: 'web', created: at + 3_600_000 }] }, at).events).toEqual([
      'WaitForPodScheduled: waiting for pod web to be scheduled',
    ]);
  });
});

describe('reasons', () => {
  it('say whose move it is', () => {
    expect(decideFor(claim, {}).reasons).toMatchObject([{ code: 'Provisioning', next: 'provisioner' }]);
    expect(decideFor(pvc('data', '1Gi', { spec: { volumeName: 'vol' } }), {}).reasons).toMatchObject([
      { code: 'VolumeMissing', next: 'administrator', volume: 'vol' },
    ]);
    expect(decideFor(pvc('data', '2Gi', { spec: { volumeName: 'vol' } }), { volumes: [free] }).reasons).toMatchObject([
      { code: 'VolumeMismatch', next: 'user', rejection: { rule: 'capacity', found: '1Gi', wanted: 'at least 2Gi' } },
    ]);
    expect(decideOn(free, {}).reasons).toMatchObject([{ code: 'Available' }]);
  });
});
