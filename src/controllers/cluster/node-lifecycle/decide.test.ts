import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Node, NodeCondition, Pod, Taint } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import type { NodeLifecycleAction } from './actions.ts';
import { decideNode, type NodeLifecycleSnapshot } from './decide.ts';
import type { EvictionSlot } from './taints.ts';

const now = Date.UTC(2026, 0, 2);
const earlier = '2026-01-01T23:00:00Z';
const present = '2026-01-02T00:00:00Z';
const later: EvictionSlot = { state: 'later' };

const condition = (type: string, status: string, more: Partial<NodeCondition> = {}): NodeCondition => ({
  type,
  status,
  lastHeartbeatTime: earlier,
  lastTransitionTime: earlier,
  reason: 'FromKubelet',
  message: 'kubelet says',
  ...more,
});
const healthy = [condition('Ready', 'True'), condition('MemoryPressure', 'False'), condition('DiskPressure', 'False'), condition('PIDPressure', 'False')];

const node = (conditions: readonly NodeCondition[] = healthy, { taints = [] as readonly Taint[], unschedulable = false, labels = {} } = {}): Stored<Node> =>
  ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'n1', uid: 'u1', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z', labels },
    spec: { ...(unschedulable ? { unschedulable } : {}), ...(taints.length === 0 ? {} : { taints: [...taints] }) },
    status: { conditions: [...conditions] },
  }) as unknown as Stored<Node>;

const pod = (name: string, ready: string, since: string): Stored<Pod> => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'team', name, uid: name, resourceVersion: '1' },
  spec: { containers: [], nodeName: 'n1' },
  status: { conditions: [{ type: 'Ready', status: ready, lastProbeTime: null, lastTransitionTime: since, reason: 'Why', observedGeneration: 3 }] },
});

const seen = (more: Partial<NodeLifecycleSnapshot> = {}): NodeLifecycleSnapshot => ({
  node: node(),
  sinceHeartbeatMs: 0,
  slot: later,
  pods: () => [],
  ...more,
});
const taint = (key: string, effect: string): Taint => ({ key: `node.kubernetes.io/${key}`, effect });

/** The actions as text: taints as 'key:effect'. */
function brief(action: NodeLifecycleAction): string {
  switch (action.do) {
    case 'update':
      return `taints ${(action.object.spec.taints ?? []).map(({ key, effect }) => `${key.replace('node.kubernetes.io/', '')}:${effect}`).join(' ')}`.trim();
    case 'updateStatus':
      return `status ${(action.object.status.conditions ?? []).map(({ type, status }) => `${type}=${status}`).join(' ')}`;
    case 'markPod':
      return `unready ${action.pod.metadata.name}`;
    case 'recordEvent':
      return `event ${action.event.message}`;
    default:
      return action.do;
  }
}
const done = (snapshot: NodeLifecycleSnapshot) => decideNode(snapshot, now).actions.map(brief);

describe('a node without heartbeats', () => {
  test('has 50 s; then its conditions are Unknown, it is tainted, and its pods are not ready', () => {
    expect(decideNode(seen({ sinceHeartbeatMs: 50_000 }), now)).toMatchObject({ actions: [], again: now + 1 });
    expect(done(seen({ sinceHeartbeatMs: 50_001, pods: () => [pod('web', 'True', earlier), pod('slow', 'False', earlier)] }))).toEqual([
      'status Ready=Unknown MemoryPressure=Unknown DiskPressure=Unknown PIDPressure=Unknown',
      'event Node n1 status is now: NodeNotReady',
      'unready web',
      'event Node is not ready',
      'taints unreachable:NoSchedule',
    ]);
  });

  test('has the conditions and events of Kubernetes', () => {
    const [status] = decideNode(
      seen({ sinceHeartbeatMs: 60_000, node: node([condition('Ready', 'True'), condition('NetworkUnavailable', 'False')]) }),
      now,
    ).actions;
    const never = { reason: 'NodeStatusNeverUpdated', message: 'Kubelet never posted node status.', lastHeartbeatTime: '2026-01-01T00:00:00Z' };
    expect(status).toMatchObject({
      object: {
        status: {
          conditions: [
            {
              type: 'Ready',
              status: 'Unknown',
              reason: 'NodeStatusUnknown',
              message: 'Kubelet stopped posting node status.',
              lastHeartbeatTime: earlier,
              lastTransitionTime: present,
            },
            { type: 'NetworkUnavailable', status: 'False' },
            { type: 'MemoryPressure', status: 'Unknown', lastTransitionTime: present, ...never },
            { type: 'DiskPressure', status: 'Unknown', lastTransitionTime: present, ...never },
            { type: 'PIDPressure', status: 'Unknown', lastTransitionTime: present, ...never },
          ],
        },
      },
    });
  });

  test('that never had a status has 60 s, and gets no event', () => {
    expect(done(seen({ node: node([]), sinceHeartbeatMs: 60_000 }))).toEqual([]);
    expect(done(seen({ node: node([]), sinceHeartbeatMs: 60_001 }))).toEqual([
      'status Ready=Unknown MemoryPressure=Unknown DiskPressure=Unknown PIDPressure=Unknown',
      'taints unreachable:NoSchedule',
    ]);
  });

  test('that was not ready before becomes unreachable without an event', () => {
    expect(done(seen({ node: node([condition('Ready', 'False')]), sinceHeartbeatMs: 60_000 }))[0]).toMatch(/^status Ready=Unknown/);
    expect(done(seen({ node: node([condition('Ready', 'False')]), sinceHeartbeatMs: 60_000 })).join()).not.toContain('event ');
  });

  test('leaves pods alone that became ready later', () => {
    const lost = node([condition('Ready', 'Unknown', { lastTransitionTime: earlier })], { taints: [taint('unreachable', 'NoSchedule')] });
    const pods = () => [pod('before', 'True', '2026-01-01T22:59:59Z'), pod('since', 'True', '2026-01-01T23:00:01Z')];
    expect(done(seen({ node: lost, pods, sinceHeartbeatMs: 60_000 }))).toEqual(['unready before', 'event Node is not ready']);
  });

  test('keeps the other conditions of its pods', () => {
    const mark = decideNode(seen({ sinceHeartbeatMs: 60_000, pods: () => [pod('web', 'True', earlier)] }), now).actions[2];
    expect(mark).toMatchObject({
      pod: { status: { conditions: [{ type: 'Ready', status: 'False', reason: 'Why', observedGeneration: 3, lastTransitionTime: present }] } },
    });
  });
});

describe('taints follow from conditions', () => {
  test.each<[string, Stored<Node>, EvictionSlot, readonly string[]]>([
    ['of a node that is well: none', node(), later, []],
    ['a cordoned one', node(healthy, { unschedulable: true }), later, ['taints unschedulable:NoSchedule']],
    ['no longer cordoned', node(healthy, { taints: [taint('unschedulable', 'NoSchedule')] }), later, ['taints']],
    [
      'under pressure',
      node([
        condition('Ready', 'True'),
        condition('DiskPressure', 'True'),
        condition('MemoryPressure', 'True'),
        condition('PIDPressure', 'True'),
        condition('NetworkUnavailable', 'True'),
      ]),
      later,
      ['taints disk-pressure:NoSchedule memory-pressure:NoSchedule pid-pressure:NoSchedule network-unavailable:NoSchedule'],
    ],
    ['not ready, others first', node([condition('Ready', 'False')]), later, ['taints not-ready:NoSchedule']],
    ['not ready, at its turn', node([condition('Ready', 'False')]), { state: 'now' }, ['taints not-ready:NoSchedule not-ready:NoExecute', 'takeSlot']],
    ['lost, at its turn', node([condition('Ready', 'Unknown')]), { state: 'now' }, ['taints unreachable:NoSchedule unreachable:NoExecute', 'takeSlot']],
    [
      'lost and then heard of, but not ready: at once',
      node([condition('Ready', 'False')], { taints: [taint('unreachable', 'NoSchedule'), taint('unreachable', 'NoExecute')] }),
      later,
      ['taints not-ready:NoSchedule not-ready:NoExecute'],
    ],
    ['ready again', node(healthy, { taints: [taint('not-ready', 'NoSchedule'), taint('not-ready', 'NoExecute')] }), later, ['taints']],
    [
      'lost, like all others',
      node([condition('Ready', 'Unknown')], { taints: [taint('unreachable', 'NoSchedule'), taint('unreachable', 'NoExecute')] }),
      { state: 'off' },
      ['taints unreachable:NoSchedule'],
    ],
    [
      'taints of other controllers stay',
      node(healthy, { taints: [taint('out-of-service', 'NoExecute'), taint('memory-pressure', 'NoExecute'), taint('not-ready', 'PreferNoSchedule')] }),
      later,
      [],
    ],
  ])('%s', (_, of, slot, expected) => expect(done(seen({ node: of, slot }))).toEqual(expected));

  test('new taints have timeAdded; existing ones keep theirs', () => {
    const old = { ...taint('disk-pressure', 'NoSchedule'), value: 'kept', timeAdded: earlier };
    const [update] = decideNode(seen({ node: node([condition('DiskPressure', 'True')], { taints: [old], unschedulable: true }) }), now).actions;
    expect(update).toMatchObject({ object: { spec: { taints: [old, { ...taint('unschedulable', 'NoSchedule'), timeAdded: present }] } } });
  });

  test('a node is decided again when its eviction slot comes', () => {
    const lost = node([condition('Ready', 'Unknown')], { taints: [taint('unreachable', 'NoSchedule')] });
    expect(decideNode(seen({ node: lost, slot: { state: 'soon', inMs: 7_000 }, sinceHeartbeatMs: 90_000 }), now)).toMatchObject({
      actions: [],
      again: now + 7_000,
    });
  });

  test('NoExecute comes only once the Unknown conditions are in the cache', () => {
    expect(done(seen({ sinceHeartbeatMs: 90_000, slot: { state: 'now' } })).at(-1)).toBe('taints unreachable:NoSchedule');
  });
});

test('deprecated labels follow the new ones', () => {
  const labels = { 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'arm64', 'beta.kubernetes.io/arch': 'amd64' };
  expect(decideNode(seen({ node: node(healthy, { labels }) }), now).actions).toMatchObject([
    { object: { metadata: { labels: { ...labels, 'beta.kubernetes.io/os': 'linux', 'beta.kubernetes.io/arch': 'arm64' } } } },
  ]);
  expect(done(seen({ node: node(healthy, { labels: { 'beta.kubernetes.io/os': 'linux' } }) }))).toEqual([]);
});

describe('for any snapshot', () => {
  const statuses = fc.constantFrom('True', 'False', 'Unknown');
  const worlds = fc.record({
    conditions: fc.uniqueArray(fc.record({ type: fc.constantFrom('Ready', 'DiskPressure', 'NetworkUnavailable'), status: statuses }), {
      selector: ({ type }) => type,
    }),
    taints: fc.uniqueArray(
      fc.record({
        key: fc.constantFrom('not-ready', 'unreachable', 'unschedulable', 'disk-pressure', 'out-of-service'),
        effect: fc.constantFrom('NoSchedule', 'NoExecute'),
      }),
      { selector: ({ key, effect }) => key + effect },
    ),
    unschedulable: fc.boolean(),
    sinceHeartbeatMs: fc.constantFrom(0, 49_000, 55_000, 70_000),
    slot: fc.constantFrom<EvictionSlot>({ state: 'now' }, later, { state: 'off' }, { state: 'soon', inMs: 10 }),
    pods: fc.array(fc.record({ ready: statuses, since: fc.constantFrom(earlier, present) }), { maxLength: 2 }),
  });
  interface State {
    readonly node: Stored<Node>;
    readonly pods: readonly Stored<Pod>[];
    readonly sinceHeartbeatMs: number;
    readonly slot: EvictionSlot;
  }
  const stateOf = (world: typeof worlds extends fc.Arbitrary<infer W> ? W : never): State => ({
    node: node(
      world.conditions.map(({ type, status }) => condition(type, status)),
      { taints: world.taints.map(({ key, effect }) => taint(key, effect)), unschedulable: world.unschedulable },
    ),
    pods: world.pods.map(({ ready, since }, i) => pod(`p${i}`, ready, since)),
    sinceHeartbeatMs: world.sinceHeartbeatMs,
    slot: world.slot,
  });
  const decide = ({ pods, ...rest }: State) => decideNode({ ...rest, pods: () => pods }, now);
  const after = (state: State, actions: readonly NodeLifecycleAction[]): State =>
    actions.reduce((next, action): State => {
      switch (action.do) {
        case 'update':
        case 'updateStatus':
          return { ...next, node: action.object };
        case 'markPod':
          return { ...next, pods: next.pods.map((each) => (each.metadata.name === action.pod.metadata.name ? action.pod : each)) };
        default:
          return next;
      }
    }, state);
  /** NoExecute taints come one pass after the status that they follow from. */
  const settled = (state: State): State => {
    let next = state;
    for (let i = 0; i < 3; i++) next = after(next, decide(next).actions);
    return next;
  };
  const writes = (state: State) => decide(state).actions.filter(({ do: what }) => what !== 'takeSlot');

  test('it settles, and equal snapshots give equal decisions', () => {
    fc.assert(
      fc.property(worlds, (world) => {
        const state = stateOf(world);
        expect(decide(state)).toEqual(decide(state));
        expect(writes(settled(state))).toEqual([]);
      }),
    );
  });

  test('a crash after any action converges to the same end', () => {
    fc.assert(
      fc.property(worlds, fc.nat(6), (world, count) => {
        const state = stateOf(world);
        expect(settled(after(state, decide(state).actions.slice(0, count)))).toEqual(settled(state));
      }),
    );
  });

  test('taints of other controllers are not touched, and none is there twice', () => {
    fc.assert(
      fc.property(worlds, (world) => {
        const state = stateOf(world);
        const keys = (of: Stored<Node>) => (of.spec.taints ?? []).map(({ key, effect }) => `${key} ${effect}`);
        const end = keys(settled(state).node);
        expect(new Set(end).size).toBe(end.length);
        for (const key of keys(state.node).filter((each) => each.includes('out-of-service'))) expect(end).toContain(key);
      }),
    );
  });
});
