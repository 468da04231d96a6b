import type { UserAction, ReclaimPolicy } from '../fuzz/plan/user-actions.ts';
import type { FuzzSettings } from '../fuzz/plan/plan.ts';

/** A small world to explore: `given` happens first; then each actor performs its actions in order, at any time. */
export interface ExplorationCase {
  readonly name: string;
  readonly settings: FuzzSettings;
  readonly given: readonly UserAction[];
  readonly actors: readonly (readonly UserAction[])[];
}

const settings: FuzzSettings = { nodes: 2, volumeLimit: undefined, store: 'memory', bindsTogether: true, leaders: 1, confluent: false };
const stepByStep: FuzzSettings = { ...settings, bindsTogether: false };

const volume = (name: string, reclaim: ReclaimPolicy): UserAction => ({ do: 'create-volume', name, sizeGi: 1, reclaim });
const claim = (name: string, storageClass = ''): UserAction => ({ do: 'create-claim', name, sizeGi: 1, storageClass, mode: 'ReadWriteOnce' });
const pod = (name: string, ...claims: readonly string[]): UserAction => ({ do: 'create-pod', name, claims });
const fast: UserAction = { do: 'create-class', name: 'fast', reclaim: 'Delete', waits: false };
const late: UserAction = { do: 'create-class', name: 'late', reclaim: 'Delete', waits: true };
const removeClaim = (name: string): UserAction => ({ do: 'delete-claim', name });
const removePod = (name: string): UserAction => ({ do: 'delete-pod', name, atOnce: false });

/** The main flows, with two of everything. */
export const explorationCases: readonly ExplorationCase[] = [
  {
    name: 'bind, in one transaction',
    settings,
    given: [],
    actors: [[volume('v1', 'Retain'), volume('v2', 'Retain')], [claim('a'), removeClaim('a')], [claim('b')]],
  },
  {
    name: 'bind, step by step',
    settings: stepByStep,
    given: [],
    actors: [[volume('v1', 'Retain'), volume('v2', 'Retain')], [claim('a'), removeClaim('a')], [claim('b')]],
  },
  { name: 'provision', settings, given: [fast], actors: [[claim('a', 'fast'), removeClaim('a')], [claim('b', 'fast')]] },
  {
    name: 'provision for the first pod',
    settings: stepByStep,
    given: [late],
    actors: [[claim('a', 'late')], [pod('p', 'a'), removePod('p')]],
  },
  {
    name: 'delete and reclaim',
    settings,
    given: [fast, claim('a', 'fast'), claim('b', 'fast')],
    actors: [[removeClaim('a'), claim('a', 'fast')], [{ do: 'set-policy', of: { claim: 'a' }, reclaim: 'Retain' }], [removeClaim('b')]],
  },
  { name: 'recycle', settings: stepByStep, given: [volume('v1', 'Recycle'), claim('a')], actors: [[removeClaim('a')], [claim('b')]] },
  {
    name: 'attach and detach',
    settings,
    given: [fast, claim('a', 'fast'), pod('p', 'a'), { do: 'cordon', node: 'node-1' }],
    actors: [[removePod('p'), pod('q', 'a')], [{ do: 'uncordon', node: 'node-1' }]],
  },
  {
    name: 'expand',
    settings,
    given: [fast, claim('a', 'fast')],
    actors: [
      [
        { do: 'resize-claim', name: 'a', sizeGi: 2 },
        { do: 'resize-claim', name: 'a', sizeGi: 3 },
      ],
      [removeClaim('a')],
    ],
  },
  {
    name: 'node loss',
    settings,
    given: [fast, claim('a', 'fast'), pod('p', 'a')],
    actors: [[{ do: 'remove-node', node: 'node-1', backMs: 30_000 }], [pod('q', 'a')]],
  },
];
