import { expect, test } from 'vitest';
import { TestState } from '../../../test/autoscaler/cluster-state.ts';
import { disruptedTaint } from '../labels.ts';
import { conditionOf } from '../node-claims.ts';
import type { Command } from './actions.ts';
import { decideDisruption, type DisruptionSnapshot } from './decide.ts';

const command: Command = { reason: 'Underutilized', candidates: ['n1'], replacements: [] };
const idle: DisruptionSnapshot = { executing: [], abandoned: [], considered: undefined, find: () => undefined, validate: (each) => each };

test('a command is considered, validated after fifteen seconds, and executed as it is found then', () => {
  const found = decideDisruption({ ...idle, find: () => command }, 0);
  expect(found).toMatchObject({ actions: [{ do: 'consider', command }], again: 15_000 });
  const considered = { command, at: 0 };
  expect(decideDisruption({ ...idle, considered }, 14_999)).toMatchObject({ actions: [], again: 15_000 });
  const smaller = { ...command, candidates: [] };
  expect(decideDisruption({ ...idle, considered, validate: () => smaller }, 15_000).actions).toEqual([{ do: 'execute', command: smaller }]);
  expect(decideDisruption({ ...idle, considered, validate: () => undefined }, 15_000).actions).toEqual([{ do: 'drop' }]);
});

test('drift is executed at once', () => {
  const drifted: Command = { ...command, reason: 'Drifted' };
  expect(decideDisruption({ ...idle, find: () => drifted }, 0).actions).toEqual([{ do: 'execute', command: drifted }]);
});

test('a command under way ends with its replacements: they are ready, or one of them failed', () => {
  const under = (replacements: 'ready' | 'awaited' | 'failed') => decideDisruption({ ...idle, executing: [{ command, replacements }] }, 0);
  expect(under('awaited').actions).toEqual([]);
  expect(under('ready').actions).toEqual([{ do: 'complete', command }]);
  // The next pass, which releases the nodes, is soon.
  expect(under('failed')).toMatchObject({ actions: [{ do: 'undo', command }], again: 1_000 });
});

test('marked nodes without a command are released before anything else is looked for', () => {
  const cluster = new TestState();
  cluster.pool('default');
  const foreign = { key: 'team', effect: 'NoSchedule' };
  const claim = cluster.node('n1', { taints: [foreign, disruptedTaint], conditions: { DisruptionReason: 'True' } });
  const node = cluster.state.nodes.getKey('n1');
  if (node === undefined) throw new Error('there is no node');
  const find = () => {
    throw new Error('not yet');
  };
  const { actions } = decideDisruption({ ...idle, abandoned: [{ node, claim }], find }, 0);
  expect(actions).toMatchObject([
    { do: 'update', object: { spec: { taints: [foreign] } }, from: node },
    { do: 'updateStatus', from: claim },
  ]);
  const [, written] = actions;
  expect(written?.do === 'updateStatus' && conditionOf(written.object as typeof claim, 'DisruptionReason')).toBeUndefined();
});
