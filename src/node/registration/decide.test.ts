import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CSINode, Node } from '../../api/generated/types.ts';
import type { Host } from '../host.ts';
import type { NodeAction } from './actions.ts';
import type { PluginDriver } from './plugin-drivers.ts';
import { decideNode, type NodeRegistrationSnapshot } from './decide.ts';

const now = Date.UTC(2026, 0, 1);
const host: Host = {
  name: 'node-1',
  labels: { 'kubernetes.io/hostname': 'node-1', 'topology.kubernetes.io/zone': 'a' },
  ip: '172.18.0.2',
  podCidr: '10.128.0.0/22',
  capacity: { cpu: '8' },
  system: {
    machineID: '',
    systemUUID: '',
    bootID: '',
    kernelVersion: '',
    osImage: '',
    containerRuntimeVersion: '',
    kubeletVersion: '',
    kubeProxyVersion: '',
    operatingSystem: 'linux',
    architecture: 'amd64',
  },
  drivers: [{ name: 'driver', nodeID: 'node-1', topologyKeys: null }],
};

/** A server and an agent in miniature. */
class SmallServer {
  snapshot: NodeRegistrationSnapshot;
  readonly told: string[] = [];
  readonly drivers: string[] = [];
  #uids = 0;

  constructor(snapshot: Partial<NodeRegistrationSnapshot> = {}) {
    this.snapshot = { host, node: undefined, csiNode: undefined, registered: false, volumesInUse: [], reportDue: 0, unschedulableRecorded: false, ...snapshot };
  }

  perform(action: NodeAction): void {
    const snapshot = this.snapshot;
    switch (action.do) {
      case 'create-node':
        this.snapshot = { ...snapshot, node: this.#stored(action.object) };
        return;
      case 'update-node':
        this.snapshot = { ...snapshot, node: action.object };
        return;
      case 'report':
        this.snapshot = { ...snapshot, node: action.object, reportDue: now + 1 };
        return;
      case 'create-csi-node':
        this.snapshot = { ...snapshot, csiNode: this.#stored(action.object) };
        return;
      case 'update-csi-node':
        this.snapshot = { ...snapshot, csiNode: action.object };
        return;
      case 'delete-csi-node':
        this.snapshot = { ...snapshot, csiNode: undefined };
        return;
      case 'registered':
        this.snapshot = { ...snapshot, registered: true };
        return;
      case 'driver-installed':
      case 'driver-uninstalled':
      case 'refuse-driver':
        this.drivers.push(`${action.do} ${action.driver}`);
        return;
      case 'record-event':
        this.told.push(action.reason);
        if (action.remember !== undefined) this.snapshot = { ...snapshot, unschedulableRecorded: action.remember.unschedulable };
    }
  }

  settle(): this {
    for (let pass = 0; pass < 10; pass++) for (const action of decideNode(this.snapshot, now).actions) this.perform(action);
    return this;
  }

  /** The agent starts anew. */
  crash(): void {
    this.snapshot = { ...this.snapshot, registered: false, reportDue: 0, unschedulableRecorded: false };
  }

  #stored<T extends Node | CSINode>(object: T): T {
    return { ...object, metadata: { ...object.metadata, uid: `uid-${++this.#uids}` } };
  }
}

const plugin = (phase: PluginDriver['phase'], more: Partial<PluginDriver> = {}): PluginDriver => ({
  name: 'plugin',
  nodeID: 'id',
  topology: { 'example.com/rack': 'r1' },
  maxVolumes: 3,
  phase,
  ...more,
});

describe('a driver that registers by its socket', () => {
  const entry = { name: 'plugin', nodeID: 'id', topologyKeys: ['example.com/rack'], allocatable: { count: 3 } };
  const idsOf = ({ snapshot }: SmallServer): unknown => JSON.parse(snapshot.node?.metadata.annotations?.['csi.volume.kubernetes.io/nodeid'] ?? '{}');
  const withPlugins = (server: SmallServer, ...plugins: PluginDriver[]): SmallServer => {
    server.snapshot = { ...server.snapshot, plugins };
    return server.settle();
  };

  test('is named by the Node, with its labels, and by the CSINode, and then confirmed', () => {
    const server = withPlugins(new SmallServer().settle(), plugin('installing'));
    expect(server.snapshot.node?.metadata.labels).toMatchObject({ 'example.com/rack': 'r1' });
    expect(idsOf(server)).toEqual({ driver: 'node-1', plugin: 'id' });
    expect(server.snapshot.csiNode?.spec.drivers).toEqual([host.drivers[0], entry]);
    expect(server.drivers).toContain('driver-installed plugin');
    // What other clients do to the labels later stands.
    const { node } = server.snapshot;
    if (node === undefined) throw new Error('there is no node');
    server.snapshot = { ...server.snapshot, node: { ...node, metadata: { ...node.metadata, labels: {} } } };
    expect(withPlugins(server, plugin('installed')).snapshot.node?.metadata.labels).toEqual({});
  });

  test('leaves the CSINode first, then the Node', () => {
    const server = withPlugins(new SmallServer().settle(), plugin('installing'));
    server.snapshot = { ...server.snapshot, plugins: [plugin('leaving')] };
    expect(decideNode(server.snapshot, now).actions).toMatchObject([{ do: 'update-csi-node' }]);
    server.settle();
    expect(server.snapshot.csiNode?.spec.drivers).toEqual(host.drivers);
    expect(idsOf(server)).toEqual({ driver: 'node-1' });
    expect(server.drivers.at(-1)).toBe('driver-uninstalled plugin');
  });

  test('of an earlier agent stays until it registers again, perhaps with another id, which the entry cannot take over', () => {
    const server = withPlugins(new SmallServer().settle(), plugin('installing'));
    server.crash();
    expect(withPlugins(server).snapshot.csiNode?.spec.drivers).toEqual([host.drivers[0], entry]);
    expect(idsOf(server)).toEqual({ driver: 'node-1', plugin: 'id' });
    server.snapshot = { ...server.snapshot, plugins: [plugin('installing', { nodeID: 'other', maxVolumes: undefined })] };
    const updates: (readonly string[])[] = [];
    for (let pass = 0; pass < 5; pass++) {
      for (const action of decideNode(server.snapshot, now).actions) {
        server.perform(action);
        if (action.do === 'update-csi-node') updates.push((action.object.spec.drivers ?? []).map(({ nodeID }) => nodeID));
      }
    }
    expect(updates).toEqual([['node-1'], ['node-1', 'other']]);
  });

  test.each([
    [
      { topology: { 'topology.kubernetes.io/zone': 'b' } },
      'detected topology value collision: driver reported "topology.kubernetes.io/zone":"b" but existing label is "topology.kubernetes.io/zone":"a"',
    ],
    [{ nodeID: '' }, 'driverNodeID must not be empty'],
    [{ nodeID: 'x'.repeat(257) }, 'must be 256 characters or less'],
    [{ topology: { 'not a key': 'x' } }, 'spec.drivers[0]'],
  ])('with %j is refused, and changes nothing', (wrong, error) => {
    const server = new SmallServer().settle();
    const { actions } = decideNode({ ...server.snapshot, plugins: [plugin('installing', wrong)] }, now);
    expect(actions).toEqual([{ do: 'refuse-driver', driver: 'plugin', error: expect.stringContaining(error) }]);
  });
});

const ready = ({ status }: Node): boolean => status.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false;

describe('a node', () => {
  test('is not ready before its CSINode is there', () => {
    const server = new SmallServer();
    const [create] = decideNode(server.snapshot, now).actions;
    expect(create).toMatchObject({ do: 'create-node' });
    if (create?.do === 'create-node') {
      expect(ready(create.object)).toBe(false);
      // As the API server of v1.36.4 has it (TaintNodesByCondition): no pod comes before it is known how many volumes fit.
      expect(create.object.spec.taints).toEqual([{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }]);
      expect(create.object.status.conditions?.at(-1)).toMatchObject({ reason: 'KubeletNotReady', message: 'CSINode is not yet initialized' });
      server.perform(create);
    }
    expect(decideNode(server.snapshot, now).actions.map((action) => action.do)).toEqual([
      ...Array.from({ length: 5 }, () => 'record-event'),
      'registered',
      'create-csi-node',
    ]);
    server.settle();
    expect(server.snapshot.node && ready(server.snapshot.node)).toBe(true);
    expect(server.told.at(-1)).toBe('NodeReady');
  });

  test('of a cloud has its provider ID, and its own taints beside that of a new node', () => {
    const taint = { key: 'karpenter.sh/unregistered', effect: 'NoExecute' };
    const server = new SmallServer({ host: { ...host, providerID: 'aws:///a/i-1', taints: [taint] } });
    const [create] = decideNode(server.snapshot, now).actions;
    expect(create).toMatchObject({
      do: 'create-node',
      object: { spec: { providerID: 'aws:///a/i-1', taints: [taint, { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }] } },
    });
  });

  test('that was there before has its own labels set again, and keeps the others', () => {
    const before = new SmallServer().settle().snapshot.node;
    if (before === undefined) throw new Error('there is no node');
    const labels = { ...before.metadata.labels, disk: 'ssd', 'topology.kubernetes.io/zone': 'moved' };
    const server = new SmallServer({ node: { ...before, metadata: { ...before.metadata, labels } } }).settle();
    expect(server.snapshot.node?.metadata.labels).toEqual({ ...host.labels, disk: 'ssd' });
    // A known node needs no events about its resources.
    expect(server.told).toEqual(['Starting']);
  });

  test('that is registered is not registered again', () => {
    expect(decideNode(new SmallServer({ registered: true }).snapshot, now).actions).toEqual([]);
    const server = new SmallServer().settle();
    const moved = { ...server.snapshot, node: { ...server.snapshot.node, metadata: { name: 'node-1', uid: 'uid-1', labels: {} } } as Node };
    expect(decideNode(moved, now).actions).toEqual([]);
  });

  test('gets a CSINode of its own in place of that of another', () => {
    const server = new SmallServer().settle();
    const foreign = {
      ...server.snapshot.csiNode,
      metadata: { name: 'node-1', uid: 'old', ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'node-1', uid: 'gone' }] },
    };
    server.snapshot = { ...server.snapshot, csiNode: foreign as CSINode };
    expect(decideNode(server.snapshot, now).actions).toMatchObject([{ do: 'delete-csi-node' }]);
    server.settle();
    expect(server.snapshot.csiNode?.metadata.ownerReferences?.[0]?.uid).toBe(server.snapshot.node?.metadata.uid);
  });

  test('tells when it is cordoned and when it is not any more, once', () => {
    const server = new SmallServer().settle();
    const { node } = server.snapshot;
    if (node === undefined) throw new Error('there is no node');
    server.told.length = 0;
    server.snapshot = { ...server.snapshot, node: { ...node, spec: { ...node.spec, unschedulable: true } } };
    server.settle().settle();
    server.snapshot = { ...server.snapshot, node };
    server.settle();
    expect(server.told).toEqual(['NodeNotSchedulable', 'NodeSchedulable']);
  });

  test('says what it uses, and nothing when nothing changed and it is not time', () => {
    const server = new SmallServer({ volumesInUse: ['b', 'a'] }).settle();
    expect(server.snapshot.node?.status.volumesInUse).toEqual(['a', 'b']);
    expect(decideNode(server.snapshot, now)).toMatchObject({ actions: [], again: now + 1 });
    expect(decideNode(server.snapshot, now + 1).actions).toMatchObject([{ do: 'report' }]);
    server.snapshot = { ...server.snapshot, volumesInUse: [] };
    server.settle();
    expect(server.snapshot.node?.status).not.toHaveProperty('volumesInUse');
  });
});

/** How things may be when an agent looks: at some point of registering, and with what others did since. */
const servers = fc
  .record({
    steps: fc.integer({ min: 0, max: 12 }),
    crashes: fc.boolean(),
    cordoned: fc.boolean(),
    volumesInUse: fc.subarray(['a', 'b']),
    csiNodeGone: fc.boolean(),
  })
  .map(({ steps, crashes, cordoned, volumesInUse, csiNodeGone }) => {
    const server = new SmallServer({ volumesInUse });
    let left = steps;
    for (let pass = 0; pass < 10 && left > 0; pass++) {
      for (const action of decideNode(server.snapshot, now).actions) if (left-- > 0) server.perform(action);
    }
    if (crashes) server.crash();
    const { node } = server.snapshot;
    if (cordoned && node !== undefined) server.snapshot = { ...server.snapshot, node: { ...node, spec: { ...node.spec, unschedulable: true } } };
    if (csiNodeGone) server.snapshot = { ...server.snapshot, csiNode: undefined };
    return server;
  });

describe('whatever was the case before', () => {
  test('it settles: deciding again gives nothing', () => {
    fc.assert(
      fc.property(servers, (server) => {
        expect(decideNode(server.settle().snapshot, now).actions).toEqual([]);
      }),
    );
  });

  test('the same input gives the same actions', () => {
    fc.assert(
      fc.property(servers, ({ snapshot }) => {
        expect(decideNode(snapshot, now)).toEqual(decideNode(snapshot, now));
      }),
    );
  });

  test('a crash after any prefix ends the same', () => {
    fc.assert(
      fc.property(servers, fc.integer({ min: 0, max: 8 }), (server, survived) => {
        const undisturbed = new SmallServer(server.snapshot).settle();
        let left = survived;
        for (let pass = 0; pass < 5 && left > 0; pass++) {
          for (const action of decideNode(server.snapshot, now).actions) if (left-- > 0) server.perform(action);
        }
        server.crash();
        const { uid: _, ...metadata } = server.settle().snapshot.node?.metadata ?? {};
        const { uid: __, ...expected } = undisturbed.snapshot.node?.metadata ?? {};
        expect(metadata).toEqual(expected);
        expect(server.snapshot.node?.status).toEqual(undisturbed.snapshot.node?.status);
        expect(server.snapshot.csiNode?.spec).toEqual(undisturbed.snapshot.csiNode?.spec);
      }),
    );
  });
});
