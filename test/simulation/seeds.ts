/**
 * Every bug that `moor fuzz` found, with its shrunk world. A seed names a world only together with the code that draws it, so the world itself
 * is kept: `plan`. Each runs with the tests.
 */
import type { TimedAction } from '../../src/sim/fuzz/plan/user-actions.ts';
import type { FuzzPlan } from '../../src/sim/fuzz/plan/plan.ts';

export interface FoundBug {
  readonly seed: number;
  readonly bug: string;
  readonly fix: string;
  readonly plan: FuzzPlan;
}

const settings = { nodes: 2, volumeLimit: undefined, store: 'memory', bindsTogether: true, leaders: 1, confluent: false } as const;

export const foundBugs: readonly FoundBug[] = [
  {
    seed: 143,
    bug: 'the reclaimer asked the backend to delete a disk that was still attached to a node',
    fix: 'the reclaimer waits until no VolumeAttachment names the volume, as external provisioners do',
    plan: {
      seed: 143,
      settings: { ...settings, nodes: 3 },
      actions: [
        { at: 0, who: 'admin', action: { do: 'create-class', name: 'fast', reclaim: 'Delete', waits: false } },
        { at: 1_000, who: 'user', action: { do: 'create-stateful-set', name: 'db', replicas: 2, storageClass: 'fast', deletesClaims: true } },
        { at: 20_000, who: 'user', action: { do: 'delete-stateful-set', name: 'db' } },
      ],
      faults: [],
    },
  },
  {
    seed: 506,
    bug: 'a disk was forgotten: one attempt to create it had an unknown end, the next certainly created nothing, and the claim was deleted',
    fix: 'after an attempt with an unknown end, no later failure is final: the provisioner retries until the disk exists, and then deletes it',
    plan: {
      seed: 1,
      settings,
      actions: [
        { at: 0, who: 'admin', action: { do: 'create-class', name: 'fast', reclaim: 'Delete', waits: false } },
        { at: 1_000, who: 'user', action: { do: 'create-claim', name: 'claim-1', sizeGi: 1, storageClass: 'fast', mode: 'ReadWriteOnce' } },
        { at: 1_200, who: 'user', action: { do: 'delete-claim', name: 'claim-1' } },
      ],
      faults: [
        { kind: 'backend-fails', at: 500, calls: 1, moment: 'after' },
        { kind: 'backend-fails', at: 501, calls: 6, moment: 'before' },
      ],
    },
  },
  {
    seed: 155,
    bug: 'a pod was Pending for ever: the selected node of its claim was deleted before the provisioner processed the claim',
    fix: 'the provisioner gives the choice of the node back to the scheduler, as external provisioners do',
    plan: {
      seed: 155,
      settings: { ...settings, confluent: true },
      actions: [
        { at: 0, who: 'admin', action: { do: 'create-class', name: 'late', reclaim: 'Delete', waits: true } },
        { at: 18_000, who: 'admin', action: { do: 'cordon', node: 'node-2' } },
        { at: 47_500, who: 'user', action: { do: 'create-deployment', name: 'app-2', replicas: 1, claim: 'data-2' } },
        { at: 51_100, who: 'user', action: { do: 'create-claim', name: 'data-2', sizeGi: 1, storageClass: 'late', mode: 'ReadWriteOnce' } },
        { at: 90_000, who: 'admin', action: { do: 'uncordon', node: 'node-2' } },
      ],
      faults: [
        { kind: 'crash', at: 27_600, component: 'controllers-1', writes: 2, moment: 'before', backMs: 12_592 },
        { kind: 'node-loss', at: 46_400, component: 'node-1' },
      ],
    },
  },
  {
    seed: 8,
    bug: 'on hollow nodes no recycling ever succeeded: the recycler pod ran until its deadline, three times, and the volume was Failed',
    fix: 'a hollow pod that is never restarted and has a deadline ends after a second',
    plan: {
      seed: 8,
      settings,
      actions: [
        { at: 0, who: 'admin', action: { do: 'create-volume', name: 'volume-1', sizeGi: 1, reclaim: 'Recycle' } },
        { at: 1_000, who: 'user', action: { do: 'create-claim', name: 'claim-1', sizeGi: 1, storageClass: '', mode: 'ReadWriteOnce' } },
        { at: 10_000, who: 'user', action: { do: 'delete-claim', name: 'claim-1' } },
      ],
      faults: [],
    },
  },
  {
    seed: 30,
    bug: 'more disks were attached to a new node than its limit: pods were scheduled before its CSINode had the limit',
    fix: 'a node registers with the taint not-ready, which an API server of Kubernetes would add, so no pods are scheduled before it is ready',
    plan: {
      seed: 30,
      settings: { ...settings, volumeLimit: 2 },
      actions: [
        { at: 0, who: 'admin', action: { do: 'create-class', name: 'fast', reclaim: 'Delete', waits: false } },
        { at: 1_000, who: 'autoscaler', action: { do: 'remove-node', node: 'node-1', backMs: 20_000 } },
        ...['crowd-1', 'crowd-2', 'crowd-3', 'crowd-4', 'crowd-5'].flatMap((name): readonly TimedAction[] => [
          { at: 10_000, who: 'user', action: { do: 'create-claim', name, sizeGi: 1, storageClass: 'fast', mode: 'ReadWriteOnce' } },
          { at: 10_000, who: 'user', action: { do: 'create-pod', name: `pod-of-${name}`, claims: [name] } },
        ]),
      ],
      faults: [],
    },
  },
  {
    seed: 193,
    bug: 'a disk was forgotten: one attempt to create it had an unknown end, the next certainly created nothing, and the scheduler had to choose another node',
    fix: 'an intent that is Failing without `final` stays uncertain: a false value is not stored, so no decision may depend on reading it',
    plan: {
      seed: 1,
      settings,
      actions: [
        { at: 0, who: 'admin', action: { do: 'create-class', name: 'late', reclaim: 'Delete', waits: true } },
        { at: 1_000, who: 'user', action: { do: 'create-claim', name: 'claim-1', sizeGi: 1, storageClass: 'late', mode: 'ReadWriteOnce' } },
        { at: 1_100, who: 'user', action: { do: 'create-pod', name: 'pod-1', claims: ['claim-1'] } },
      ],
      faults: [
        { kind: 'backend-fails', at: 500, calls: 1, moment: 'after' },
        { kind: 'backend-fails', at: 501, calls: 6, moment: 'before' },
      ],
    },
  },
  {
    seed: 642,
    bug: 'none: a StatefulSet with whenScaled Delete left a claim behind, since its pod had been evicted when it was scaled down; without faults the pod was back in time',
    fix: 'such claims are not compared: Kubernetes (v1.36.4) may leave them behind as well; but a claim whose owner is gone has to be deleted',
    plan: {
      seed: 642,
      settings: { ...settings, confluent: true },
      actions: [
        { at: 0, who: 'admin', action: { do: 'create-class', name: 'fast', reclaim: 'Delete', waits: false } },
        { at: 1_000, who: 'user', action: { do: 'create-stateful-set', name: 'db-1', replicas: 2, storageClass: 'fast', deletesClaims: true } },
        { at: 40_000, who: 'admin', action: { do: 'drain', node: 'node-1' } },
        { at: 40_000, who: 'admin', action: { do: 'drain', node: 'node-2' } },
        { at: 50_000, who: 'user', action: { do: 'scale-stateful-set', name: 'db-1', replicas: 1 } },
        { at: 90_000, who: 'admin', action: { do: 'uncordon', node: 'node-1' } },
        { at: 90_000, who: 'admin', action: { do: 'uncordon', node: 'node-2' } },
      ],
      faults: [{ kind: 'silence', at: 39_000, component: 'controllers-1', forMs: 20_000 }],
    },
  },
  {
    seed: 312,
    bug: 'none: every node was cordoned, so a recycler pod could not run, and its intent stayed',
    fix: 'such a recycler pod may wait as long as every node is cordoned, and no longer',
    plan: {
      seed: 312,
      settings,
      actions: [
        { at: 0, who: 'admin', action: { do: 'create-volume', name: 'volume-1', sizeGi: 1, reclaim: 'Recycle' } },
        { at: 1_000, who: 'user', action: { do: 'create-claim', name: 'claim-1', sizeGi: 1, storageClass: '', mode: 'ReadWriteOnce' } },
        { at: 10_000, who: 'admin', action: { do: 'cordon', node: 'node-1' } },
        { at: 10_000, who: 'admin', action: { do: 'cordon', node: 'node-2' } },
        { at: 12_000, who: 'user', action: { do: 'delete-claim', name: 'claim-1' } },
      ],
      faults: [],
    },
  },
  {
    seed: 680,
    bug: 'none: a StorageClass was deleted while pods were scheduled for its claims without volumes, so the scheduler could not count their disks',
    fix: 'such claims are not counted against the limit, and only such: Kubernetes (v1.36.4) does not count them either',
    plan: {
      seed: 680,
      settings: { ...settings, volumeLimit: 2 },
      actions: [
        { at: 0, who: 'admin', action: { do: 'create-class', name: 'fast', reclaim: 'Delete', waits: false } },
        { at: 0, who: 'admin', action: { do: 'create-class', name: 'late', reclaim: 'Delete', waits: true } },
        { at: 1_000, who: 'user', action: { do: 'create-claim', name: 'claim-1', sizeGi: 1, storageClass: 'fast', mode: 'ReadWriteOnce' } },
        ...['crowd-1', 'crowd-2', 'crowd-3', 'crowd-4'].flatMap((name): readonly TimedAction[] => [
          { at: 10_000, who: 'user', action: { do: 'create-claim', name, sizeGi: 1, storageClass: 'late', mode: 'ReadWriteOnce' } },
          { at: 10_000, who: 'user', action: { do: 'create-pod', name: `pod-of-${name}`, claims: [name] } },
        ]),
        { at: 11_000, who: 'admin', action: { do: 'delete-class', name: 'late' } },
        { at: 12_000, who: 'user', action: { do: 'create-pod', name: 'pod-1', claims: ['claim-1'] } },
      ],
      faults: [{ kind: 'backend-slow', at: 5_000, delayMs: 40_000, forMs: 30_000 }],
    },
  },
  {
    seed: 10_801,
    bug: 'a volume was deleted while its policy was Retain, which became Delete before the volume was gone: whether its disk was deleted depended on a race',
    fix: 'its disk stays, as with external provisioners: without their finalizer, which cannot be added again, they do not delete; and this is no orphan',
    plan: {
      seed: 10_801,
      settings,
      actions: [
        { at: 0, who: 'admin', action: { do: 'create-class', name: 'fast', reclaim: 'Delete', waits: false } },
        { at: 1_000, who: 'user', action: { do: 'create-claim', name: 'claim-1', sizeGi: 1, storageClass: 'fast', mode: 'ReadWriteOnce' } },
        { at: 2_000, who: 'admin', action: { do: 'set-policy', of: { claim: 'claim-1' }, reclaim: 'Retain' } },
        { at: 3_000, who: 'admin', action: { do: 'delete-volume', of: { claim: 'claim-1' } } },
        { at: 4_000, who: 'admin', action: { do: 'set-policy', of: { claim: 'claim-1' }, reclaim: 'Delete' } },
        { at: 5_000, who: 'user', action: { do: 'delete-claim', name: 'claim-1' } },
      ],
      faults: [],
    },
  },
  {
    seed: 10_980,
    bug: 'none: while a disk was created for a claim, a user set the volumeName of the claim; the surplus disk was deleted, and the claim still exists',
    fix: 'a claim that is bound to another volume does not own this one',
    plan: {
      seed: 10_980,
      settings,
      actions: [
        { at: 0, who: 'admin', action: { do: 'create-class', name: 'fast', reclaim: 'Delete', waits: false } },
        { at: 1_000, who: 'user', action: { do: 'create-claim', name: 'claim-3', sizeGi: 1, storageClass: 'fast', mode: 'ReadWriteOnce' } },
        { at: 1_500, who: 'admin', action: { do: 'create-volume', name: 'volume-1', sizeGi: 3, reclaim: 'Retain', claim: 'claim-3' } },
      ],
      faults: [{ kind: 'backend-slow', at: 500, delayMs: 20_000, forMs: 20_000 }],
    },
  },
  {
    seed: 2_475,
    bug: 'none: an attach with an unknown end was confirmed in the instant in which the disk was to be attached to the next node',
    fix: 'the backend refuses the second one, also if the first was confirmed while the second was under way',
    plan: {
      seed: 2_475,
      settings: { ...settings, nodes: 3, bindsTogether: false, leaders: 2 },
      actions: [
        { at: 0, who: 'admin', action: { do: 'create-class', name: 'fast', reclaim: 'Delete', waits: false } },
        { at: 0, who: 'admin', action: { do: 'create-class', name: 'late', reclaim: 'Retain', waits: true } },
        { at: 23_320, who: 'admin', action: { do: 'create-volume', name: 'slot-1', sizeGi: 2, reclaim: 'Retain', storageClass: 'late' } },
        { at: 24_530, who: 'admin', action: { do: 'create-volume', name: 'slot-2', sizeGi: 2, reclaim: 'Retain', storageClass: 'late' } },
        { at: 26_468, who: 'user', action: { do: 'create-claim', name: 'claim-3', sizeGi: 1, storageClass: 'late', mode: 'ReadWriteOnce' } },
        { at: 28_736, who: 'user', action: { do: 'create-pod', name: 'pod-of-claim-3', claims: ['claim-3'] } },
        { at: 29_013, who: 'user', action: { do: 'create-claim', name: 'claim-2', sizeGi: 1, storageClass: '', mode: 'ReadWriteOnce' } },
        { at: 29_203, who: 'user', action: { do: 'delete-claim', name: 'claim-2' } },
        { at: 29_622, who: 'user', action: { do: 'create-claim', name: 'claim-2', sizeGi: 1, storageClass: '', mode: 'ReadWriteOnce' } },
        { at: 30_071, who: 'user', action: { do: 'create-claim', name: 'claim-3', sizeGi: 1, storageClass: '', mode: 'ReadWriteOnce' } },
        { at: 31_007, who: 'user', action: { do: 'create-claim', name: 'claim-1', sizeGi: 1, storageClass: 'late', mode: 'ReadWriteOnce' } },
        { at: 39_867, who: 'admin', action: { do: 'create-volume', name: 'volume-2', sizeGi: 3, reclaim: 'Delete' } },
        { at: 41_126, who: 'user', action: { do: 'delete-stateful-set', name: 'db' } },
        { at: 43_814, who: 'user', action: { do: 'resize-claim', name: 'claim-1', sizeGi: 3 } },
        { at: 55_792, who: 'user', action: { do: 'create-deployment', name: 'web', replicas: 2, claim: 'claim-3' } },
        { at: 57_722, who: 'user', action: { do: 'delete-stateful-set', name: 'db' } },
        { at: 71_018, who: 'user', action: { do: 'create-pod', name: 'pod-3', claims: ['claim-3', 'claim-1'] } },
      ],
      faults: [
        { kind: 'twice', at: 99, component: 'node-1', forMs: 34_553 },
        { kind: 'backend-fails', at: 12_481, calls: 2, moment: 'after' },
        { kind: 'backend-fails', at: 19_997, calls: 2, moment: 'after' },
        { kind: 'crash-in-driver', at: 23_088, calls: 0, moment: 'after', backMs: 10_502 },
        { kind: 'backend-fails', at: 41_725, calls: 2, moment: 'before' },
        { kind: 'twice', at: 45_934, component: 'controllers-2', forMs: 56_410 },
        { kind: 'crash-in-driver', at: 56_737, calls: 1, moment: 'after', backMs: 12_917 },
      ],
    },
  },
  {
    seed: 2_623,
    bug: 'none: a slow driver call was about to delete a disk, and the policy became Retain before it was done',
    fix: 'a call counts by the policy at the time when it was made',
    plan: {
      seed: 2_623,
      settings,
      actions: [
        { at: 0, who: 'admin', action: { do: 'create-class', name: 'fast', reclaim: 'Delete', waits: false } },
        { at: 1_000, who: 'user', action: { do: 'create-claim', name: 'claim-3', sizeGi: 1, storageClass: 'fast', mode: 'ReadWriteOnce' } },
        { at: 10_000, who: 'user', action: { do: 'delete-claim', name: 'claim-3' } },
        { at: 10_500, who: 'user', action: { do: 'set-policy', of: { claim: 'claim-3' }, reclaim: 'Retain' } },
      ],
      faults: [{ kind: 'backend-slow', at: 9_000, forMs: 20_000, delayMs: 20_000 }],
    },
  },
  {
    seed: 4_140,
    bug: 'a claim was Pending for ever: only its volume was bound, and was deleted before the claim was',
    fix: 'the claim is bound all the same: the volume is protected, as every bound one is',
    plan: {
      seed: 4_140,
      settings: { ...settings, bindsTogether: false },
      actions: [
        { at: 0, who: 'admin', action: { do: 'create-class', name: 'fast', reclaim: 'Delete', waits: false } },
        { at: 33_732, who: 'user', action: { do: 'create-claim', name: 'claim-3', sizeGi: 1, storageClass: 'fast', mode: 'ReadWriteOnce' } },
        { at: 58_406, who: 'user', action: { do: 'delete-volume', of: { claim: 'claim-3' } } },
      ],
      faults: [{ kind: 'crash', at: 21_197, component: 'controllers-1', writes: 6, moment: 'before', backMs: 7_387 }],
    },
  },
  {
    seed: 5_046,
    bug: 'an intent stayed for ever: a leader whose clock was ahead by three quarters of an hour recorded when to retry, and the next leader waited for that',
    fix: 'a leader waits no longer than the backoff of the last attempt',
    plan: {
      seed: 5_046,
      settings: { ...settings, leaders: 2, confluent: true },
      actions: [
        { at: 0, who: 'admin', action: { do: 'create-class', name: 'late', reclaim: 'Delete', waits: true } },
        { at: 46_444, who: 'user', action: { do: 'create-deployment', name: 'app-2', replicas: 1, claim: 'data-2' } },
        { at: 86_219, who: 'user', action: { do: 'create-claim', name: 'data-2', sizeGi: 3, storageClass: 'late', mode: 'ReadWriteOnce' } },
      ],
      faults: [
        { kind: 'clock', at: 0, component: 'controllers-2', rate: 0.5, aheadMs: 2_612_589 },
        { kind: 'backend-fails', at: 73_987, calls: 4, moment: 'before' },
      ],
    },
  },
  {
    seed: 6_064,
    bug: 'a pod never ran: the scheduler chose a node for a bound claim, which had been deleted and created again before its cache had that',
    fix: 'the scheduler reads bound claims from the server before it binds a pod',
    plan: {
      seed: 6_064,
      settings: { ...settings, store: 'embedded', confluent: true },
      actions: [
        { at: 0, who: 'admin', action: { do: 'create-class', name: 'fast', reclaim: 'Delete', waits: false } },
        { at: 0, who: 'admin', action: { do: 'create-class', name: 'late', reclaim: 'Delete', waits: true } },
        { at: 27_354, who: 'user', action: { do: 'create-stateful-set', name: 'db-1', replicas: 2, storageClass: 'late', deletesClaims: true } },
        { at: 37_124, who: 'user', action: { do: 'create-stateful-set', name: 'db-2', replicas: 1, storageClass: 'fast', deletesClaims: true } },
        { at: 38_014, who: 'user', action: { do: 'create-claim', name: 'lonely-3', sizeGi: 2, storageClass: 'fast', mode: 'ReadWriteOnce' } },
        { at: 62_880, who: 'user', action: { do: 'label-claim', name: 'lonely-3', value: 'yes' } },
        { at: 64_056, who: 'user', action: { do: 'delete-stateful-set', name: 'db-2' } },
        { at: 68_612, who: 'user', action: { do: 'scale-stateful-set', name: 'db-1', replicas: 0 } },
        { at: 73_402, who: 'user', action: { do: 'scale-stateful-set', name: 'db-1', replicas: 2 } },
      ],
      faults: [{ kind: 'bad', at: 62_057, component: 'scheduler-1', forMs: 16_364 }],
    },
  },
  {
    seed: 7_847,
    bug: 'none: all nodes were down, and one evicted its pods, because the cache was stale',
    fix: 'a controller whose watches are disturbed may act on its stale cache',
    plan: {
      seed: 7_847,
      settings: { ...settings, bindsTogether: false },
      actions: [
        { at: 36_896, who: 'autoscaler', action: { do: 'out-of-service', node: 'node-2', saidMs: 1_105, backMs: 43_452 } },
        { at: 83_344, who: 'autoscaler', action: { do: 'remove-node', node: 'node-2', backMs: 52_122 } },
      ],
      faults: [
        { kind: 'power-cut', at: 15_336, forMs: 102_553 },
        { kind: 'silence', at: 77_222, component: 'controllers-1', forMs: 14_499 },
      ],
    },
  },
  {
    seed: 9_685,
    bug: 'a claim was Pending for ever: the volume that was provisioned for it was deleted before the binder bound the two',
    fix: 'a volume that was provisioned for a claim is protected until the claim is bound to it, terminating or not',
    plan: {
      seed: 9_685,
      settings: { ...settings, volumeLimit: 2, store: 'embedded', bindsTogether: false, leaders: 2 },
      actions: [
        { at: 0, who: 'admin', action: { do: 'create-class', name: 'fast', reclaim: 'Delete', waits: false } },
        { at: 12_826, who: 'user', action: { do: 'create-claim', name: 'claim-3', sizeGi: 1, storageClass: 'fast', mode: 'ReadWriteOnce' } },
        { at: 29_143, who: 'admin', action: { do: 'delete-volume', of: { claim: 'claim-3' } } },
      ],
      faults: [
        { kind: 'bad', at: 4_932, component: 'controllers-1', forMs: 23_482 },
        { kind: 'silence', at: 13_110, component: 'controllers-1', forMs: 63_992 },
      ],
    },
  },
  {
    seed: 9_978,
    bug: 'none: an attachment that no pod used waited for a status of its node, which comes every five minutes; all was quiet meanwhile',
    fix: 'an attachment that no pod uses is left undone',
    plan: {
      seed: 9_978,
      settings: { ...settings, volumeLimit: 2, store: 'embedded', bindsTogether: false, leaders: 2 },
      actions: [
        { at: 0, who: 'admin', action: { do: 'create-class', name: 'fast', reclaim: 'Delete', waits: false } },
        { at: 3_693, who: 'user', action: { do: 'create-claim', name: 'claim-2', sizeGi: 1, storageClass: 'fast', mode: 'ReadWriteOnce' } },
        { at: 9_606, who: 'user', action: { do: 'create-deployment', name: 'web', replicas: 2, claim: 'claim-3' } },
        { at: 14_031, who: 'user', action: { do: 'delete-deployment', name: 'web' } },
        { at: 19_935, who: 'user', action: { do: 'create-pod', name: 'pod-of-claim-2', claims: ['claim-2'] } },
        { at: 22_244, who: 'user', action: { do: 'delete-volume', of: { claim: 'claim-2' } } },
        { at: 22_404, who: 'user', action: { do: 'delete-pod', name: 'pod-of-claim-2', atOnce: false } },
      ],
      faults: [{ kind: 'pause', at: 13_923, component: 'controllers-2', writes: 3, forMs: 22_115 }],
    },
  },
  {
    seed: 11_118,
    bug: 'a claim was not bound to an Available volume: it had been offered another one, which was bound to another claim',
    fix: 'a claim whose offer is taken back is processed again',
    plan: {
      seed: 11_118,
      settings: { ...settings, nodes: 3, leaders: 2 },
      actions: [
        { at: 4_052, who: 'admin', action: { do: 'create-volume', name: 'volume-1', sizeGi: 2, reclaim: 'Recycle' } },
        { at: 6_093, who: 'user', action: { do: 'create-claim', name: 'claim-2', sizeGi: 2, storageClass: 'fast', mode: 'ReadWriteOnce' } },
        { at: 14_355, who: 'user', action: { do: 'scale-stateful-set', name: 'db', replicas: 2 } },
        { at: 19_356, who: 'user', action: { do: 'create-pod', name: 'pod-of-claim-2', claims: ['claim-2'] } },
        { at: 22_066, who: 'user', action: { do: 'resize-claim', name: 'claim-2', sizeGi: 4 } },
        { at: 23_204, who: 'user', action: { do: 'resize-claim', name: 'claim-2', sizeGi: 7 } },
        { at: 30_127, who: 'user', action: { do: 'resize-claim', name: 'claim-3', sizeGi: 6 } },
        { at: 36_447, who: 'user', action: { do: 'create-claim', name: 'claim-3', sizeGi: 1, storageClass: '', mode: 'ReadWriteOnce' } },
        { at: 38_291, who: 'admin', action: { do: 'set-policy', of: { claim: 'claim-1' }, reclaim: 'Retain' } },
        { at: 42_466, who: 'user', action: { do: 'create-pod', name: 'pod-3', claims: ['claim-3', 'claim-1'] } },
        { at: 43_998, who: 'user', action: { do: 'create-pod', name: 'pod-1', claims: ['claim-1'] } },
        { at: 49_319, who: 'user', action: { do: 'scale-deployment', name: 'web', replicas: 1 } },
        { at: 50_917, who: 'admin', action: { do: 'create-volume', name: 'volume-2', sizeGi: 1, reclaim: 'Retain' } },
        { at: 54_418, who: 'user', action: { do: 'resize-claim', name: 'claim-1', sizeGi: 4 } },
        { at: 61_279, who: 'user', action: { do: 'scale-stateful-set', name: 'db', replicas: 2 } },
        { at: 63_471, who: 'user', action: { do: 'create-claim', name: 'claim-1', sizeGi: 1, storageClass: '', mode: 'ReadWriteOnce', volume: 'volume-1' } },
      ],
      faults: [
        { kind: 'pause', at: 9_996, component: 'node-3', writes: 1, forMs: 37_131 },
        { kind: 'pause', at: 30_738, component: 'controllers-1', writes: 0, forMs: 78_529 },
        { kind: 'lossy', at: 59_535, component: 'node-2', forMs: 11_155 },
        { kind: 'lossy', at: 62_589, component: 'scheduler-2', forMs: 48_833 },
      ],
    },
  },
  {
    seed: 1,
    bug: 'the disk of the last pod stayed attached for minutes: the node went on listing it in volumesInUse after it was unmounted',
    fix: 'the volume manager notifies the node status also when a volume is unstaged',
    plan: {
      seed: 1,
      settings: { ...settings, agents: ['node-1', 'node-2'], confluent: true },
      actions: [
        { at: 0, who: 'admin', action: { do: 'create-class', name: 'fast', reclaim: 'Delete', waits: false } },
        { at: 1_000, who: 'user', action: { do: 'create-claim', name: 'data-1', sizeGi: 1, storageClass: 'fast', mode: 'ReadWriteOnce' } },
        { at: 2_000, who: 'user', action: { do: 'create-deployment', name: 'app-1', replicas: 1, claim: 'data-1' } },
        { at: 80_000, who: 'user', action: { do: 'scale-deployment', name: 'app-1', replicas: 0 } },
      ],
      faults: [],
    },
  },
];
