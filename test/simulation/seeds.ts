/**
 * Every bug that random worlds found, with what it took. A seed names a world only together with the code that draws it, so what is kept is
 * the world itself, shrunk: `plan`. Each runs with the tests.
 */
import type { Happening } from '../../src/sim/workloads/actions.ts';
import type { Plan } from '../../src/sim/worlds/plan.ts';

export interface FoundBug {
  readonly seed: number;
  readonly bug: string;
  readonly fix: string;
  readonly plan: Plan;
}

const settings = { nodes: 2, volumeLimit: undefined, store: 'memory', bindsTogether: true, leaders: 1, confluent: false } as const;

export const foundBugs: readonly FoundBug[] = [
  {
    seed: 143,
    bug: 'the reclaimer asked the backend to delete a disk that was still attached to a node',
    fix: 'it waits until no VolumeAttachment names the volume, as external provisioners do',
    plan: {
      seed: 143,
      settings: { ...settings, nodes: 3 },
      happenings: [
        { at: 0, who: 'admin', action: { do: 'create-class', name: 'fast', reclaim: 'Delete', waits: false } },
        { at: 1_000, who: 'user', action: { do: 'create-stateful-set', name: 'db', replicas: 2, storageClass: 'fast', deletesClaims: true } },
        { at: 20_000, who: 'user', action: { do: 'delete-stateful-set', name: 'db' } },
      ],
      faults: [],
    },
  },
  {
    seed: 506,
    bug: 'a disk was forgotten: one attempt to make it had an unknown end, the next certainly made nothing, and the claim was deleted',
    fix: 'after an attempt whose end nobody knows, no later failure is taken for certain: it is tried until it is made, and then deleted',
    plan: {
      seed: 1,
      settings,
      happenings: [
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
    bug: 'a pod was Pending for ever: its claim was to be made for a node that was gone before anybody looked at the claim',
    fix: 'the provisioner gives the choice of the node back to the scheduler, as external provisioners do',
    plan: {
      seed: 155,
      settings: { ...settings, confluent: true },
      happenings: [
        { at: 0, who: 'admin', action: { do: 'create-class', name: 'late', reclaim: 'Delete', waits: true } },
        { at: 18_000, who: 'admin', action: { do: 'cordon', node: 'node-2' } },
        { at: 47_500, who: 'user', action: { do: 'create-deployment', name: 'app-2', replicas: 1, claim: 'data-2' } },
        { at: 51_100, who: 'user', action: { do: 'create-claim', name: 'data-2', sizeGi: 1, storageClass: 'late', mode: 'ReadWriteOnce' } },
        { at: 90_000, who: 'admin', action: { do: 'uncordon', node: 'node-2' } },
      ],
      faults: [
        { kind: 'crash', at: 27_600, part: 'controllers-1', writes: 2, moment: 'before', backMs: 12_592 },
        { kind: 'node-loss', at: 46_400, part: 'node-1' },
      ],
    },
  },
  {
    seed: 8,
    bug: 'on hollow nodes no scrub ever succeeded: the scrubber ran until its deadline, three times, and the volume was Failed',
    fix: 'a hollow pod that is never restarted and has a deadline does what it has to do in a second',
    plan: {
      seed: 8,
      settings,
      happenings: [
        { at: 0, who: 'admin', action: { do: 'create-volume', name: 'volume-1', sizeGi: 1, reclaim: 'Recycle' } },
        { at: 1_000, who: 'user', action: { do: 'create-claim', name: 'claim-1', sizeGi: 1, storageClass: '', mode: 'ReadWriteOnce' } },
        { at: 10_000, who: 'user', action: { do: 'delete-claim', name: 'claim-1' } },
      ],
      faults: [],
    },
  },
  {
    seed: 30,
    bug: 'more disks were attached to a new node than it takes: pods came before its CSINode said how many that are',
    fix: 'a node registers with the taint not-ready, which an API server of Kubernetes would add, and so gets no pods before it is ready',
    plan: {
      seed: 30,
      settings: { ...settings, volumeLimit: 2 },
      happenings: [
        { at: 0, who: 'admin', action: { do: 'create-class', name: 'fast', reclaim: 'Delete', waits: false } },
        { at: 1_000, who: 'autoscaler', action: { do: 'remove-node', node: 'node-1', backMs: 20_000 } },
        ...['crowd-1', 'crowd-2', 'crowd-3', 'crowd-4', 'crowd-5'].flatMap((name): readonly Happening[] => [
          { at: 10_000, who: 'user', action: { do: 'create-claim', name, sizeGi: 1, storageClass: 'fast', mode: 'ReadWriteOnce' } },
          { at: 10_000, who: 'user', action: { do: 'create-pod', name: `pod-of-${name}`, claims: [name] } },
        ]),
      ],
      faults: [],
    },
  },
  {
    seed: 193,
    bug: 'a disk was forgotten: one attempt to make it had an unknown end, the next certainly made nothing, and the scheduler was to choose another node',
    fix: 'an intent that is Failing and does not say that it is certain stays uncertain: what is false is not written, so nothing may depend on reading it',
    plan: {
      seed: 1,
      settings,
      happenings: [
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
    bug: 'none: a set with whenScaled Delete left a claim behind, since its pod had been driven out when it was scaled down; without faults the pod was back in time',
    fix: 'such claims are not compared: Kubernetes (v1.36.4) leaves them behind as well, by the moment; but whatever has lost its owner has to go',
    plan: {
      seed: 642,
      settings: { ...settings, confluent: true },
      happenings: [
        { at: 0, who: 'admin', action: { do: 'create-class', name: 'fast', reclaim: 'Delete', waits: false } },
        { at: 1_000, who: 'user', action: { do: 'create-stateful-set', name: 'db-1', replicas: 2, storageClass: 'fast', deletesClaims: true } },
        { at: 40_000, who: 'admin', action: { do: 'drain', node: 'node-1' } },
        { at: 40_000, who: 'admin', action: { do: 'drain', node: 'node-2' } },
        { at: 50_000, who: 'user', action: { do: 'scale-stateful-set', name: 'db-1', replicas: 1 } },
        { at: 90_000, who: 'admin', action: { do: 'uncordon', node: 'node-1' } },
        { at: 90_000, who: 'admin', action: { do: 'uncordon', node: 'node-2' } },
      ],
      faults: [{ kind: 'silence', at: 39_000, part: 'controllers-1', forMs: 20_000 }],
    },
  },
  {
    seed: 312,
    bug: 'none: every node was cordoned, so a scrubber had no place to run, and its intent stayed',
    fix: 'such a scrubber is waited for as long as every node is cordoned, and no longer',
    plan: {
      seed: 312,
      settings,
      happenings: [
        { at: 0, who: 'admin', action: { do: 'create-volume', name: 'volume-1', sizeGi: 1, reclaim: 'Recycle' } },
        { at: 1_000, who: 'user', action: { do: 'create-claim', name: 'claim-1', sizeGi: 1, storageClass: '', mode: 'ReadWriteOnce' } },
        { at: 10_000, who: 'admin', action: { do: 'cordon', node: 'node-1' } },
        { at: 10_000, who: 'admin', action: { do: 'cordon', node: 'node-2' } },
        { at: 12_000, who: 'user', action: { do: 'delete-claim', name: 'claim-1' } },
      ],
      faults: [],
    },
  },
];
