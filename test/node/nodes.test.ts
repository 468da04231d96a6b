/** Hollow nodes register, report and renew their leases as kubelets do; in simulated time. */
import { expect, test } from 'vitest';
import type { Node } from '../../src/api/generated/types.ts';
import { csiNodeKind } from '../../src/api/kinds/storage/csi-node.ts';
import { leaseKind } from '../../src/api/kinds/coordination/lease.ts';
import { nodeKind } from '../../src/api/kinds/core/node.ts';
import { podKind } from '../../src/api/kinds/pod/pod.ts';
import { isRead, requestPath } from '../../src/api/request-info.ts';
import type { Transport } from '../../src/client/transport.ts';
import { type SimulatedWorld, simulate } from '../../src/sim/world/world.ts';
import { hostsOf, NodeCluster, ok } from './cluster.ts';

const withCluster = (run: (cluster: NodeCluster, world: SimulatedWorld) => Promise<void>) => () =>
  simulate(1, async (world) => {
    await run(await NodeCluster.start(world), world);
    expect(world.lines.filter(({ level }) => level === 'error')).toEqual([]);
  });

const lease = (name: string) => ({ namespace: 'kube-node-lease', name });
const minutes = 60_000;
const renewed = async (cluster: NodeCluster, name = 'node-1') => Date.parse((await cluster.get(leaseKind, lease(name))).spec.renewTime ?? '');

test(
  'a node registers with everything that a kubelet reports',
  withCluster(async (cluster, world) => {
    await cluster.run({ world }).ready;
    await world.sleep(1000);
    const node = await cluster.get(nodeKind, { name: 'node-2' });
    expect(node.metadata.labels).toMatchObject({
      'kubernetes.io/hostname': 'node-2',
      'kubernetes.io/os': 'linux',
      'kubernetes.io/arch': 'amd64',
      'topology.kubernetes.io/zone': 'zone-b',
      'topology.kubernetes.io/region': 'local',
    });
    expect(node.spec.podCIDRs).toEqual(['10.128.4.0/22']);
    expect(node.status).toMatchObject({ capacity: { cpu: '4', pods: '10' }, allocatable: { cpu: '4', pods: '10' } });
    const owner = { apiVersion: 'v1', kind: 'Node', name: 'node-2', uid: node.metadata.uid };
    expect(await cluster.get(csiNodeKind, { name: 'node-2' })).toMatchObject({
      metadata: { ownerReferences: [owner] },
      spec: { drivers: [{ name: 'driver', nodeID: 'node-2', topologyKeys: ['topology.kubernetes.io/zone'], allocatable: { count: 3 } }] },
    });
    expect(await cluster.get(leaseKind, lease('node-2'))).toMatchObject({
      metadata: { ownerReferences: [owner] },
      spec: { holderIdentity: 'node-2', leaseDurationSeconds: 40 },
    });
    expect(await cluster.events('node-2')).toEqual([
      'Starting: Starting kubelet.',
      'NodeHasSufficientMemory: Node node-2 status is now: NodeHasSufficientMemory',
      'NodeHasNoDiskPressure: Node node-2 status is now: NodeHasNoDiskPressure',
      'NodeHasSufficientPID: Node node-2 status is now: NodeHasSufficientPID',
      'NodeAllocatableEnforced: Updated Node Allocatable limit across pods',
      'NodeReady: Node node-2 status is now: NodeReady',
    ]);
  }),
);

test(
  'leases are renewed every ten seconds, spread over the nodes',
  withCluster(async (cluster, world) => {
    await cluster.run({ world, settings: { count: 20 } }).ready;
    await world.sleep(20_000);
    const first = await renewed(cluster);
    await world.sleep(10_000);
    expect((await renewed(cluster)) - first).toBe(10_000);
    const moments = new Set(await Promise.all(Array.from({ length: 20 }, (_, i) => renewed(cluster, `node-${i + 1}`))));
    expect(moments.size).toBeGreaterThan(15);
  }),
);

test(
  'a lease that another client changes or deletes is renewed all the same',
  withCluster(async (cluster, world) => {
    await cluster.run({ world }).ready;
    await world.sleep(1000);
    await cluster.change(leaseKind, lease('node-1'), (each) => ({ ...each, metadata: { ...each.metadata, labels: { changed: 'yes' } } }));
    await world.sleep(11_000);
    expect((await cluster.get(leaseKind, lease('node-1'))).metadata.labels).toEqual({ changed: 'yes' });
    expect(world.clock.now() - (await renewed(cluster))).toBeLessThan(11_000);
    await cluster.delete(leaseKind, lease('node-1'));
    await world.sleep(11_000);
    expect(world.clock.now() - (await renewed(cluster))).toBeLessThan(11_000);
  }),
);

test(
  'a node without changes sends its status every few minutes',
  withCluster(async (cluster, world) => {
    await cluster.run({ world }).ready;
    const heartbeat = async () => Date.parse((await cluster.get(nodeKind, { name: 'node-1' })).status.conditions?.[0]?.lastHeartbeatTime ?? '');
    const seen = new Set<number>();
    for (let i = 0; i < 60; i++) {
      await world.sleep(1 * minutes);
      seen.add(await heartbeat());
    }
    expect(seen.size).toBeGreaterThan(8);
    expect(seen.size).toBeLessThan(25);
    const node = await cluster.get(nodeKind, { name: 'node-1' });
    expect(node.status.conditions?.map(({ lastTransitionTime }) => lastTransitionTime)).toEqual(Array.from({ length: 4 }, () => '2026-01-01T00:00:00Z'));
  }),
);

test(
  'changes of other clients to a node stay; those of its readiness do not',
  withCluster(async (cluster, world) => {
    await cluster.run({ world }).ready;
    await cluster.change(nodeKind, { name: 'node-1' }, (node) => ({
      ...node,
      metadata: { ...node.metadata, labels: { ...node.metadata.labels, disk: 'ssd', 'topology.kubernetes.io/zone': 'moved' } },
      spec: { ...node.spec, unschedulable: true },
    }));
    const network = { type: 'NetworkUnavailable', status: 'False', lastHeartbeatTime: null, lastTransitionTime: null };
    await cluster.changeStatus(nodeKind, { name: 'node-1' }, (node) => ({
      ...node,
      status: {
        ...node.status,
        capacity: { ...node.status.capacity, 'example.com/gpu': '2' },
        conditions: [network, ...(node.status.conditions ?? []).map((each) => (each.type === 'Ready' ? { ...each, status: 'Unknown' } : each))],
      },
    }));
    await world.sleep(1000);
    const node = await cluster.get(nodeKind, { name: 'node-1' });
    expect(node.metadata.labels).toMatchObject({ disk: 'ssd', 'topology.kubernetes.io/zone': 'moved' });
    expect(node.status.allocatable).toMatchObject({ cpu: '4', 'example.com/gpu': '2' });
    expect(node.status.conditions?.map(({ type, status }) => `${type}=${status}`)).toEqual([
      'NetworkUnavailable=False',
      'MemoryPressure=False',
      'DiskPressure=False',
      'PIDPressure=False',
      'Ready=True',
    ]);
    expect((await cluster.events('node-1')).slice(-2).sort()).toEqual([
      'NodeNotSchedulable: Node node-1 status is now: NodeNotSchedulable',
      'NodeReady: Node node-1 status is now: NodeReady ×2',
    ]);
  }),
);

test(
  'a restarted agent finds its node, and sets its labels again',
  withCluster(async (cluster, world) => {
    const first = cluster.run({ world });
    await first.ready;
    await cluster.pod('web');
    await world.sleep(1000);
    const before = await cluster.get(nodeKind, { name: 'node-1' });
    const pod = await cluster.getPod('web');
    await first.stop();
    await cluster.change(nodeKind, { name: 'node-1' }, (node) => ({
      ...node,
      metadata: { ...node.metadata, labels: { ...node.metadata.labels, disk: 'ssd' } },
    }));
    await world.sleep(60_000);
    await cluster.run({ world, settings: { zones: ['zone-c'], capacity: { cpu: '16', memory: '8Gi', pods: '10' }, volumeLimit: 7 } }).ready;
    await world.sleep(11_000);
    const after = await cluster.get(nodeKind, { name: 'node-1' });
    expect(after.metadata.uid).toBe(before.metadata.uid);
    expect(after.metadata.labels).toMatchObject({ disk: 'ssd', 'topology.kubernetes.io/zone': 'zone-c' });
    expect(after.status.allocatable).toMatchObject({ cpu: '16' });
    expect((await cluster.get(csiNodeKind, { name: 'node-1' })).spec.drivers?.[0]?.allocatable).toEqual({ count: 7 });
    expect(world.clock.now() - (await renewed(cluster))).toBeLessThan(11_000);
    // Its pods are unchanged.
    expect((await cluster.getPod('web')).status).toEqual(pod.status);
    expect(await cluster.events('node-1')).toContain('Starting: Starting kubelet.');
  }),
);

test(
  'with fewer nodes, the others stay unchanged',
  withCluster(async (cluster, world) => {
    const first = cluster.run({ world, settings: { count: 2 } });
    await first.ready;
    await world.sleep(1000);
    await first.stop();
    const before = await renewed(cluster, 'node-2');
    await cluster.run({ world, settings: { count: 1 } }).ready;
    await world.sleep(30_000);
    expect(ok(await cluster.client.list(nodeKind)).items.map(({ metadata }: Node) => metadata.name)).toEqual(['node-1', 'node-2']);
    expect(await renewed(cluster, 'node-2')).toBe(before);
  }),
);

test(
  'a deleted node is not registered again until its agent restarts; its pods continue and can be deleted',
  withCluster(async (cluster, world) => {
    const first = cluster.run({ world });
    await first.ready;
    await cluster.pod('web');
    await world.sleep(1000);
    const { uid } = (await cluster.get(nodeKind, { name: 'node-1' })).metadata;
    await cluster.delete(nodeKind, { name: 'node-1' });
    // As the garbage collector does.
    await cluster.delete(csiNodeKind, { name: 'node-1' });
    await cluster.delete(leaseKind, lease('node-1'));
    await world.sleep(10 * minutes);
    expect(await cluster.find(nodeKind, { name: 'node-1' })).toBeUndefined();
    expect(await cluster.find(leaseKind, lease('node-1'))).toBeUndefined();
    expect((await cluster.getPod('web')).status.phase).toBe('Running');
    await cluster.deletePod('web');
    await world.sleep(1000);
    expect(await cluster.find(podKind, { namespace: 'default', name: 'web' })).toBeUndefined();
    await first.stop();
    await cluster.run({ world }).ready;
    await world.sleep(1000);
    const node = await cluster.get(nodeKind, { name: 'node-1' });
    expect(node.metadata.uid).not.toBe(uid);
    expect((await cluster.get(leaseKind, lease('node-1'))).metadata.ownerReferences?.[0]?.uid).toBe(node.metadata.uid);
  }),
);

test(
  'a node that is created again gets its CSINode and its lease again',
  withCluster(async (cluster, world) => {
    await cluster.run({ world }).ready;
    await world.sleep(1000);
    await cluster.delete(nodeKind, { name: 'node-1' });
    await world.sleep(1000);
    const { metadata } = await cluster.create(nodeKind, { metadata: { name: 'node-1' } });
    await world.sleep(11_000);
    expect((await cluster.get(csiNodeKind, { name: 'node-1' })).metadata.ownerReferences?.[0]?.uid).toBe(metadata.uid);
    expect((await cluster.get(leaseKind, lease('node-1'))).metadata.ownerReferences?.[0]?.uid).toBe(metadata.uid);
    expect((await cluster.get(nodeKind, { name: 'node-1' })).status.conditions?.at(-1)).toMatchObject({ type: 'Ready', status: 'True' });
  }),
);

test(
  'the node writes no taints: those that other clients set meanwhile stay',
  withCluster(async (cluster, world) => {
    const sent: unknown[] = [];
    const through = (server: Transport): Transport => ({
      ...server,
      send: (request) => {
        if (requestPath(request.info).startsWith('/api/v1/nodes/') && !isRead(request.info)) sent.push(request.body?.object);
        return server.send(request);
      },
    });
    await cluster.create(nodeKind, { metadata: { name: 'node-1' }, spec: { taints: [{ key: 'others', effect: 'NoSchedule' }] } });
    await cluster.run({ world, through }).ready;
    expect(sent.length).toBeGreaterThanOrEqual(2);
    for (const object of sent) expect(object).not.toHaveProperty('spec.taints');
    expect((await cluster.get(nodeKind, { name: 'node-1' })).spec.taints).toContainEqual({ key: 'others', effect: 'NoSchedule' });
  }),
);

test(
  'a machine that is switched on again learns what happened to its pods meanwhile',
  withCluster(async (cluster, world) => {
    const nodes = cluster.run({ world });
    await nodes.ready;
    await cluster.pod('old', { terminationGracePeriodSeconds: 1 });
    await world.sleep(5_000);
    expect((await cluster.getPod('old')).status.phase).toBe('Running');
    nodes.remove('node-1');
    await cluster.deletePod('old');
    await cluster.pod('new');
    await world.sleep(1 * minutes);
    expect((await cluster.findPod('old'))?.status.phase).toBe('Running');
    expect((await cluster.getPod('new')).status.phase).toBe('Pending');
    const host = hostsOf().get('node-1');
    if (host === undefined) throw new Error('there is no node-1');
    nodes.add(host);
    await world.sleep(10_000);
    expect(await cluster.findPod('old')).toBeUndefined();
    expect((await cluster.getPod('new')).status.phase).toBe('Running');
  }),
);
