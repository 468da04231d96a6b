import { expect, test } from 'vitest';
import { TestState } from '../../../test/autoscaler/cluster-state.ts';
import type { Node } from '../../api/generated/types.ts';
import type { NodeClaim } from '../../api/kinds/karpenter/node-claim.ts';
import { terminationFinalizer, unregisteredTaint } from '../labels.ts';
import { conditionOf } from '../node-claims.ts';
import { decideLifecycle, type LifecycleSnapshot } from './decide.ts';

const created = Date.parse('2026-01-01T00:00:00Z');
const minutes = (count: number): number => created + count * 60_000;

function newClaim(conditions: Readonly<Record<string, string>> = {}): NodeClaim {
  const { status, ...claim } = new TestState().node('n1', { conditions });
  const known = (status?.conditions ?? []).filter(({ type }) => type in conditions);
  const { providerID = '' } = status ?? {};
  return {
    ...claim,
    metadata: { ...claim.metadata, finalizers: [terminationFinalizer] },
    status: { conditions: known, ...('Launched' in conditions ? { providerID } : {}) },
  };
}

const decide = (snapshot: Partial<LifecycleSnapshot> & { readonly claim: NodeClaim }, now: number) =>
  decideLifecycle({ node: undefined, launch: undefined, instance: 'unknown', lastEvent: () => undefined, ...snapshot }, now);
const verbs = ({ actions }: { readonly actions: readonly { readonly do: string }[] }) => actions.map((action) => action.do);

test('a claim gets its finalizer before an instance is launched', () => {
  const claim = newClaim();
  const bare = { ...claim, metadata: { ...claim.metadata, finalizers: [] } };
  expect(verbs(decide({ claim: bare }, created))).toEqual(['update']);
  expect(verbs(decide({ claim }, created))).toEqual(['updateStatus', 'launchInstance']);
});

test('a launch that the cloud did not answer before a crash is asked for again: its token is the uid of the claim', () => {
  const claim = newClaim();
  const again = decide({ claim }, minutes(1));
  expect(again.actions.find((action) => action.do === 'launchInstance')).toMatchObject({ object: { metadata: { uid: claim.metadata.uid } } });
});

test('the answer of a launch is written with the labels of the instance, however late it is', () => {
  const claim = newClaim();
  const outcome = {
    type: 'launched',
    providerID: 'cloud:///i-1',
    imageID: 'ami',
    capacity: { cpu: '4' },
    allocatable: { cpu: '4' },
    labels: { kept: 'yes' },
  } as const;
  const { actions } = decide({ claim, launch: { outcome, at: minutes(9) } }, minutes(9));
  expect(actions).toMatchObject([
    { do: 'update', object: { metadata: { labels: { kept: 'yes' } } } },
    { do: 'updateStatus', object: { status: { providerID: 'cloud:///i-1' } } },
  ]);
});

test('a launch that fails is repeated after ten seconds, and given up after five minutes', () => {
  const claim = newClaim();
  const launch = { outcome: { type: 'failed', reason: 'LaunchFailed', message: 'RequestLimitExceeded: slow down' }, at: created } as const;
  const first = decide({ claim, launch }, created + 1);
  expect(first).toMatchObject({ again: created + 10_000 });
  expect(verbs(first)).toEqual(['updateStatus']);
  expect(verbs(decide({ claim, launch }, created + 10_000))).toContain('launchInstance');
  const late = decide({ claim, launch }, minutes(5) + 1);
  expect(late.reasons[0]?.code).toBe('LaunchTimeout');
  expect(verbs(late)).toEqual(['delete']);
});

test.each([
  ['insufficientCapacity', 'InsufficientCapacityError'],
  ['nodeClassNotReady', 'NodeClassNotReady'],
] as const)('%s: the claim is given up with an event', (type, reason) => {
  const claim = newClaim();
  const { actions } = decide({ claim, launch: { outcome: { type, message: 'no m5.large in a' }, at: created } }, created);
  expect(actions).toMatchObject([
    { do: 'recordEvent', event: { type: 'Warning', reason, message: 'NodeClaim n1 event: no m5.large in a' } },
    { do: 'delete', object: claim },
  ]);
});

test('an instance whose node does not register in fifteen minutes is given up', () => {
  const claim = newClaim({ Launched: 'True' });
  const waiting = decide({ claim }, minutes(15));
  expect(waiting).toMatchObject({ again: minutes(15) + 1, reasons: [{ code: 'NodeNotFound' }] });
  const late = decide({ claim }, minutes(15) + 1);
  expect(late.reasons[0]?.code).toBe('RegistrationTimeout');
  expect(verbs(late)).toEqual(['delete']);
});

const nodeOf = (taints: Node['spec']['taints'], isReady = true): Node => {
  const cluster = new TestState();
  cluster.node('n1', { isReady });
  const node = cluster.state.nodes.getKey('n1');
  if (node === undefined) throw new Error('there is no node');
  return { ...node, spec: { ...node.spec, taints: taints ?? [] } };
};

test('registration takes the taint that kept pods off, and says if it was missing', () => {
  const claim = newClaim({ Launched: 'True' });
  const { actions } = decide({ claim, node: nodeOf([unregisteredTaint]) }, created);
  expect(actions).toMatchObject([
    { do: 'update', object: { metadata: { finalizers: [terminationFinalizer] }, spec: { taints: [] } } },
    { do: 'updateStatus', object: { status: { nodeName: 'n1' } } },
  ]);
  expect(decide({ claim, node: nodeOf([]) }, created).actions[0]).toMatchObject({ do: 'recordEvent', event: { reason: 'UnregisteredTaintMissing' } });
});

test('a node is initialized once it is ready and without the taints of its start', () => {
  const claim = newClaim({ Launched: 'True', Registered: 'True' });
  const started = { ...claim, spec: { ...claim.spec, startupTaints: [{ key: 'ebs.csi.aws.com/agent-not-ready', effect: 'NoExecute' }] } };
  const reasonFor = (node: Node | undefined) => {
    const written = decide({ claim: started, ...(node === undefined ? {} : { node }) }, created).actions.at(-1);
    return written?.do === 'updateStatus' ? conditionOf(written.object as NodeClaim, 'Initialized')?.reason : undefined;
  };
  expect(reasonFor(undefined)).toBe('NodeNotFound');
  expect(reasonFor(nodeOf([], false))).toBe('NodeNotReady');
  expect(reasonFor(nodeOf([{ key: 'ebs.csi.aws.com/agent-not-ready', effect: 'NoExecute' }]))).toBe('StartupTaintsExist');
  expect(reasonFor(nodeOf([{ key: 'node.kubernetes.io/not-ready', effect: 'NoExecute' }]))).toBe('KnownEphemeralTaintsExist');
  expect(reasonFor(nodeOf([]))).toBe('Initialized');
});

test('a deleted claim ends in order: its node, its instance, its finalizer', () => {
  const claim = newClaim({ Launched: 'True' });
  const deleted = { ...claim, metadata: { ...claim.metadata, deletionTimestamp: '2026-01-01T00:01:00Z' } };
  expect(decide({ claim: deleted, node: nodeOf([]) }, minutes(1)).actions).toMatchObject([{ do: 'delete', object: { kind: 'Node' } }]);
  expect(verbs(decide({ claim: deleted }, minutes(1)))).toEqual(['updateStatus', 'terminateInstance']);
  expect(decide({ claim: deleted, instance: 'gone' }, minutes(1)).actions).toMatchObject([{ do: 'update', object: { metadata: { finalizers: [] } } }]);
});
