import { describe, expect, test } from 'vitest';
import type { Pod, Toleration } from '../../../api/generated/types.ts';
import { templatePatch } from '../../pods/revisions.ts';
import type { DaemonSetAction } from './actions.ts';
import { daemonTolerations, targetNode } from './daemon-pod.ts';
import { decideDaemonSet } from './decide.ts';
import { daemonSet, node, now, pod, revision, snapshotOf, template, type SampleObjects } from './samples.ts';

/** The actions on pods and revisions as text. */
const done = (world: SampleObjects): string[] => decideDaemonSet(snapshotOf(world), now).actions.flatMap((action) => inWords(action) ?? []);

function inWords(action: DaemonSetAction): string | undefined {
  switch (action.do) {
    case 'createPods':
      return `create on ${action.pods.map((draft) => targetNode(draft as Pod) ?? '').join(' ')}`;
    case 'deletePods':
      return `delete ${action.pods.map(({ metadata }) => metadata.name).join(' ')}`;
    case 'createRevision':
      return `create revision ${action.revision.revision}`;
    case 'renumberRevision':
      return `revision ${action.revision.revision} is ${action.number}`;
    case 'deleteRevision':
      return `delete revision ${action.revision.metadata.name}`;
    case 'relabelPod':
      return `${action.pod.metadata.name} is of ${action.hash}`;
    case 'recordEvent':
      return action.event.reason;
    case 'updateStatus':
    case 'rememberFailure':
      return undefined;
    default:
      return action.do;
  }
}

describe('on every node', () => {
  const nodes = [node('n1'), node('n2')];

  test('there is one pod', () => {
    expect(done({ nodes })).toEqual(['create on n1 n2']);
    expect(done({ nodes, pods: [pod('a', 'n1', 'v2'), pod('b', 'n2', 'v2', { waiting: true, ready: false })] })).toEqual([]);
    expect(done({ nodes, pods: [pod('a', 'n1', 'v2')] })).toEqual(['create on n2']);
  });

  test('of several the oldest stays; bound pods come before unscheduled ones', () => {
    const pods = [pod('a', 'n1', 'v2', { waiting: true, created: '01' }), pod('b', 'n1', 'v2', { created: '05' }), pod('c', 'n1', 'v2', { created: '03' })];
    expect(done({ nodes: [node('n1')], pods })).toEqual(['delete b a']);
  });

  test('a terminating pod is not replaced until it is gone', () => {
    expect(done({ nodes: [node('n1')], pods: [pod('a', 'n1', 'v2', { deleted: true })] })).toEqual([]);
    expect(done({ nodes: [node('n1')], pods: [pod('a', 'n1', 'v2', { deleted: true, phase: 'Failed' })] })).toEqual(['create on n1']);
  });

  test('unscheduled pods of a deleted node are deleted; bound ones are left to the pod garbage collector', () => {
    expect(done({ pods: [pod('a', 'gone', 'v2', { waiting: true }), pod('b', 'gone', 'v2')] })).toEqual(['delete a']);
  });

  test.each([
    ['no taint', {}, 'v2', ['create on n1'], []],
    ['an untolerated NoSchedule taint', { taints: [{ key: 'k', effect: 'NoSchedule' }] }, 'v2', [], []],
    ['an untolerated NoExecute taint', { taints: [{ key: 'k', effect: 'NoExecute' }] }, 'v2', [], ['delete a']],
    ['PreferNoSchedule', { taints: [{ key: 'k', effect: 'PreferNoSchedule' }] }, 'v2', ['create on n1'], []],
    ['unreachable', { taints: [{ key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' }] }, 'v2', ['create on n1'], []],
    ['cordoned', { unschedulable: true, taints: [{ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }] }, 'v2', ['create on n1'], []],
  ])('%s', (_, spec, hash, fresh, existing) => {
    expect(done({ nodes: [node('n1', spec)] })).toEqual(fresh);
    expect(done({ nodes: [node('n1', spec)], pods: [pod('a', 'n1', hash)] })).toEqual(existing);
  });

  test('that is not eligible the pod is deleted', () => {
    const set = daemonSet({ template: { ...template('v2'), spec: { ...template('v2').spec, nodeSelector: { disk: 'ssd' } } } });
    const revisions = [{ ...revision(1, 'v2'), data: templatePatch(set.spec.template) }];
    expect(done({ set, revisions, nodes: [node('n1'), node('n2', {}, { disk: 'ssd' })], pods: [pod('a', 'n1', 'v2')] })).toEqual(['delete a', 'create on n2']);
  });

  test('failed pods are deleted with back-off', () => {
    const failed = [pod('a', 'n1', 'v2', { phase: 'Failed', ready: false })];
    const world = { nodes: [node('n1')], pods: failed };
    expect(done(world)).toEqual(['FailedDaemonPod', 'delete a']);
    const failures = new Map([['set/1/n1', { since: now - 1_000, delayMs: 4_000 }]]);
    expect(done({ ...world, failures })).toEqual([]);
    expect(decideDaemonSet(snapshotOf({ ...world, failures }), now).again).toBe(now + 3_000);
    expect(decideDaemonSet(snapshotOf(world), now).actions).toContainEqual({ do: 'rememberFailure', key: 'set/1/n1', backoff: { since: now, delayMs: 1_000 } });
    const longer = new Map([['set/1/n1', { since: now - 5_000, delayMs: 4_000 }]]);
    expect(decideDaemonSet(snapshotOf({ ...world, failures: longer }), now).actions).toContainEqual({
      do: 'rememberFailure',
      key: 'set/1/n1',
      backoff: { since: now, delayMs: 8_000 },
    });
  });
});

describe('a new template', () => {
  const nodes = ['n1', 'n2', 'n3', 'n4'].map((name) => node(name));
  const old = ['n1', 'n2', 'n3', 'n4'].map((on) => pod(`old-${on}`, on, 'v1'));
  const rolling = (rollingUpdate: { maxUnavailable?: number | string; maxSurge?: number | string }) =>
    daemonSet({ updateStrategy: { type: 'RollingUpdate', rollingUpdate } });

  test('replaces maxUnavailable pods at a time', () => {
    expect(done({ nodes, pods: old })).toEqual(['delete old-n1']);
    expect(done({ set: rolling({ maxUnavailable: '50%' }), nodes, pods: old })).toEqual(['delete old-n1 old-n2']);
    expect(done({ set: rolling({ maxUnavailable: '26%' }), nodes, pods: old })).toEqual(['delete old-n1 old-n2']);
  });

  test('counts pods that are unavailable already, and deletes unavailable old ones at once', () => {
    const fresh = pod('new-n1', 'n1', 'v2', { ready: false });
    expect(done({ nodes, pods: [fresh, ...old.slice(1)] })).toEqual([]);
    expect(done({ nodes, pods: [fresh, ...old.slice(1, 3), pod('old-n4', 'n4', 'v1', { ready: false })] })).toEqual(['delete old-n4']);
  });

  test('waits for deletions with OnDelete', () => {
    expect(done({ set: daemonSet({ updateStrategy: { type: 'OnDelete' } }), nodes, pods: old })).toEqual([]);
  });

  test('with maxSurge new pods come first, and old ones are deleted once the new ones are available', () => {
    const set = rolling({ maxUnavailable: 0, maxSurge: 2 });
    expect(done({ set, nodes, pods: old })).toEqual(['create on n1 n2']);
    const surging = pod('new-n1', 'n1', 'v2', { ready: false, waiting: true, created: '50' });
    expect(done({ set, nodes, pods: [...old, surging] })).toEqual(['create on n2']);
    expect(done({ set, nodes, pods: [...old, { ...surging, status: pod('x', 'n1', 'v2').status }] })).toEqual(['delete old-n1']);
    expect(done({ set, nodes, pods: [pod('old-n1', 'n1', 'v1', { ready: false }), ...old.slice(1), surging] })).toEqual(['delete old-n1']);
  });

  test('has a revision before it has pods; after a rollback the old revision becomes the newest', () => {
    expect(done({ nodes, revisions: [] })).toEqual(['create revision 1']);
    expect(done({ nodes, revisions: [revision(4, 'v1')] })).toEqual(['create revision 5']);
    expect(done({ nodes, revisions: [revision(3, 'v1'), revision(2, 'v2')] })).toEqual(['revision 2 is 4']);
  });

  test('two revisions of the same template become one', () => {
    const pods = [pod('a', 'n1', 'double')];
    expect(done({ nodes, pods, revisions: [revision(1, 'v2', 'double'), revision(2, 'v2')] })).toEqual(['a is of v2', 'delete revision driver-double']);
  });

  test('the oldest revisions are deleted, unless a pod has them', () => {
    const revisions = [revision(1, 'v0'), revision(2, 'v1'), revision(3, 'v1.5'), revision(4, 'v2')];
    const pods = [pod('a', 'n1', 'v0')];
    expect(done({ set: daemonSet({ revisionHistoryLimit: 1, updateStrategy: { type: 'OnDelete' } }), nodes: [node('n1')], pods, revisions })).toEqual([
      'delete revision driver-v1',
      'delete revision driver-v1.5',
    ]);
  });
});

test('tolerations of the template stay, but those of every daemon pod have no tolerationSeconds', () => {
  const own: Toleration[] = [
    { key: 'gpu', operator: 'Exists' },
    { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 30 },
  ];
  const all = daemonTolerations({ containers: [], tolerations: own, hostNetwork: true });
  expect(all.slice(0, 2)).toEqual([own[0], { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' }]);
  expect(all.map(({ key }) => key)).toEqual([
    'gpu',
    ...['not-ready', 'unreachable', 'disk-pressure', 'memory-pressure', 'pid-pressure', 'unschedulable', 'network-unavailable'].map(
      (name) => `node.kubernetes.io/${name}`,
    ),
  ]);
});
