/** The endpoint controllers on the real registry, in simulated time. */
import { expect, test } from 'vitest';
import { startTestCluster, type TestCluster } from '../../client/test-cluster.ts';
import { anyController, events, inClusterWith, ok, type Parts, startLoops } from '../../client/loops.ts';
import { endpointSliceKind } from '../../../src/api/kinds/discovery/endpoint-slice.ts';
import { endpointsKind } from '../../../src/api/kinds/core/endpoints.ts';
import { nodeKind } from '../../../src/api/kinds/core/node.ts';
import { serviceAccountKind } from '../../../src/api/kinds/core/service-account.ts';
import { serviceKind } from '../../../src/api/kinds/core/service.ts';
import { podKind } from '../../../src/api/kinds/pod/pod.ts';
import { badNetwork, SimulatedNetwork } from '../../../src/sim/world/network.ts';
import { SimulatedProcess } from '../../../src/sim/world/process.ts';
import { seeds } from '../../../src/sim/world/seeds.ts';
import { type SimulatedWorld, simulate } from '../../../src/sim/world/world.ts';
import { endpointControllers } from '../../../src/controllers/cluster/endpoints/controller.ts';

const controllers = ({ recorder, client, informers, world }: Parts) => {
  const actor = (component: string) => ({ client, recorder: recorder(component) });
  const { slices, endpoints, mirror } = endpointControllers({
    informers,
    clock: world.clock,
    slices: actor('endpoint-slice-controller'),
    endpoints: actor('endpoint-controller'),
    mirror: actor('endpoint-slice-mirroring-controller'),
  });
  return [anyController(slices), anyController(endpoints), anyController(mirror)];
};
const inDefault = (name: string) => ({ namespace: 'default', name });
const labels = { app: 'web' };

async function start(world: SimulatedWorld): Promise<TestCluster> {
  const cluster = await startTestCluster(world);
  ok(await cluster.client.create(serviceAccountKind, { metadata: inDefault('default') }));
  ok(await cluster.client.create(nodeKind, { metadata: { name: 'n1', labels: { 'topology.kubernetes.io/zone': 'zone-a' } } }));
  return cluster;
}

async function createPod(
  { client }: TestCluster,
  name: string,
  { ip, node = 'n1', ready = 'True' }: { readonly ip: string; readonly node?: string; readonly ready?: string },
): Promise<void> {
  const spec = { nodeName: node, hostname: name, subdomain: 'web', containers: [{ name: 'c', image: 'i', ports: [{ name: 'http', containerPort: 8080 }] }] };
  const pod = ok(await client.create(podKind, { metadata: { ...inDefault(name), labels }, spec }));
  const conditions = [{ type: 'Ready', status: ready, lastProbeTime: null, lastTransitionTime: null }];
  ok(await client.updateStatus(podKind, { ...pod, status: { ...pod.status, phase: 'Running', podIP: ip, podIPs: [{ ip }], conditions } }));
}

const createService = async ({ client }: TestCluster, spec: object = {}, name = 'web') =>
  ok(
    await client.create(serviceKind, {
      metadata: inDefault(name),
      spec: { selector: labels, ports: [{ name: 'http', port: 80, targetPort: 'http' }], ...spec },
    }),
  );

/** 'web 10.0.0.1:8080 zone-a ready', of every slice of the service; 'empty' of one without endpoints. */
async function slices({ client }: TestCluster): Promise<string[]> {
  const { items } = ok(await client.list(endpointSliceKind));
  return items
    .flatMap(({ metadata, ports, endpoints }) => {
      const of = metadata.labels?.['kubernetes.io/service-name'] ?? '';
      if ((endpoints ?? []).length === 0) return [`${of} empty`];
      return (endpoints ?? []).map(
        ({ addresses, zone, hostname, conditions }) =>
          `${of} ${hostname ?? ''} ${addresses?.[0] ?? ''}:${ports?.[0]?.port ?? ''} ${zone ?? ''}${conditions.ready === true ? ' ready' : ''}`,
      );
    })
    .sort();
}
async function endpoints({ client }: TestCluster): Promise<string[]> {
  const { items } = ok(await client.list(endpointsKind));
  return items.map(({ metadata, subsets = [] }) => {
    const all = subsets.flatMap(({ addresses = [], notReadyAddresses = [] }) => [
      ...addresses.map(({ ip }) => ip),
      ...notReadyAddresses.map(({ ip }) => `(${ip})`),
    ]);
    return `${metadata.name ?? ''} ${all.join(',')}`;
  });
}

const inCluster = inClusterWith(start, controllers);

test(
  'endpoints follow the pods of a service, and are deleted with it',
  inCluster(async (cluster, world) => {
    const { client } = cluster;
    await createService(cluster, { clusterIP: 'None' });
    await world.sleep(50);
    expect(await slices(cluster)).toEqual(['web empty']);
    expect(await endpoints(cluster)).toEqual(['web ']);
    await createPod(cluster, 'web-0', { ip: '10.0.0.1' });
    await createPod(cluster, 'web-1', { ip: '10.0.0.2', ready: 'False' });
    await world.sleep(50);
    expect(await slices(cluster)).toEqual(['web web-0 10.0.0.1:8080 zone-a ready', 'web web-1 10.0.0.2:8080 zone-a']);
    expect(await endpoints(cluster)).toEqual(['web 10.0.0.1,(10.0.0.2)']);
    ok(await client.delete(podKind, inDefault('web-0'), { gracePeriodSeconds: 0 }));
    await world.sleep(50);
    expect(await slices(cluster)).toEqual(['web web-1 10.0.0.2:8080 zone-a']);
    ok(await client.delete(serviceKind, inDefault('web')));
    await world.sleep(50);
    expect(await endpoints(cluster)).toEqual([]);
    expect(world.lines.filter(({ level }) => level === 'error' || level === 'warn')).toEqual([]);
  }),
);

test(
  'labels of pods and selectors may change',
  inCluster(async (cluster, world) => {
    const { client } = cluster;
    await createPod(cluster, 'web-0', { ip: '10.0.0.1' });
    const service = await createService(cluster, { selector: { app: 'other' } });
    await world.sleep(50);
    expect(await slices(cluster)).toEqual(['web empty']);
    ok(await client.update(serviceKind, { ...service, spec: { ...service.spec, selector: labels } }));
    await world.sleep(50);
    expect(await slices(cluster)).toEqual(['web web-0 10.0.0.1:8080 zone-a ready']);
    ok(await client.patch(podKind, inDefault('web-0'), { type: 'merge', body: { metadata: { labels: { app: 'gone' } } } }));
    await world.sleep(50);
    expect(await slices(cluster)).toEqual(['web empty']);
    expect(await endpoints(cluster)).toEqual(['web ']);
  }),
);

test(
  'a pod on an unknown node waits for it; a changed zone changes the endpoints',
  inCluster(async (cluster, world) => {
    const { client } = cluster;
    await createService(cluster);
    await createPod(cluster, 'web-0', { ip: '10.0.0.1', node: 'n2' });
    await world.sleep(50);
    expect(await slices(cluster)).toEqual(['web empty']);
    expect(await events(client)).toEqual([
      'endpoint-slice-controller Service/web FailedToUpdateEndpointSlices: Error updating Endpoint Slices for Service default/web: skipping Pod web-0 for Service default/web: Node n2 Not Found x1',
    ]);
    ok(await client.create(nodeKind, { metadata: { name: 'n2' } }));
    await world.sleep(50);
    expect(await slices(cluster)).toEqual(['web web-0 10.0.0.1:8080  ready']);
    ok(await client.patch(nodeKind, { name: 'n2' }, { type: 'merge', body: { metadata: { labels: { 'topology.kubernetes.io/zone': 'zone-b' } } } }));
    await world.sleep(50);
    expect(await slices(cluster)).toEqual(['web web-0 10.0.0.1:8080 zone-b ready']);
  }),
);

test(
  'changes by other clients are corrected',
  inCluster(async (cluster, world) => {
    const { client } = cluster;
    await createService(cluster);
    await createPod(cluster, 'web-0', { ip: '10.0.0.1' });
    await world.sleep(50);
    const [slice] = ok(await client.list(endpointSliceKind)).items;
    ok(await client.delete(endpointSliceKind, inDefault(slice?.metadata.name ?? '')));
    ok(await client.delete(endpointsKind, inDefault('web')));
    await world.sleep(50);
    expect(await slices(cluster)).toEqual(['web web-0 10.0.0.1:8080 zone-a ready']);
    expect(await endpoints(cluster)).toEqual(['web 10.0.0.1']);
    ok(await client.patch(endpointsKind, inDefault('web'), { type: 'merge', body: { subsets: null } }));
    await world.sleep(50);
    expect(await endpoints(cluster)).toEqual(['web 10.0.0.1']);
  }),
);

test(
  'hand-written endpoints are mirrored as long as their service has no selector, and may exist before it',
  inCluster(async (cluster, world) => {
    const { client } = cluster;
    ok(await client.create(endpointsKind, { metadata: inDefault('db'), subsets: [{ addresses: [{ ip: '192.0.2.1' }], ports: [{ port: 5432 }] }] }));
    await world.sleep(1_000);
    expect(await endpoints(cluster)).toEqual(['db 192.0.2.1']);
    expect(await slices(cluster)).toEqual([]);
    const service = ok(await client.create(serviceKind, { metadata: inDefault('db'), spec: { ports: [{ port: 5432 }] } }));
    await world.sleep(50);
    expect(await slices(cluster)).toEqual(['db  192.0.2.1:5432  ready']);
    ok(
      await client.patch(endpointsKind, inDefault('db'), {
        type: 'merge',
        body: { metadata: { labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } } },
      }),
    );
    await world.sleep(50);
    expect(await slices(cluster)).toEqual([]);
    ok(await client.update(serviceKind, { ...service, spec: { ...service.spec, selector: labels } }));
    await world.sleep(50);
    expect(await slices(cluster)).toEqual(['db empty']);
    expect(await endpoints(cluster)).toEqual(['db ']);
  }),
);

test('endpoints of a service that was deleted while no controller ran are deleted', () =>
  simulate(1, async (world) => {
    const cluster = await start(world);
    ok(await cluster.client.create(endpointsKind, { metadata: inDefault('left') }));
    const annotations = { 'control-plane.alpha.kubernetes.io/leader': '{}' };
    ok(await cluster.client.create(endpointsKind, { metadata: { ...inDefault('election'), annotations } }));
    startLoops({ transport: cluster.transport, world }, controllers);
    await world.sleep(1_000);
    expect(await endpoints(cluster)).toEqual(['election ']);
  }));

test('with crashes anywhere and a faulty network, every pod becomes an endpoint of its service once', async () => {
  for (const seed of seeds(10)) {
    await simulate(seed, async (world) => {
      const cluster = await start(world);
      const network = new SimulatedNetwork(world, badNetwork);
      ok(await cluster.client.create(serviceKind, { metadata: inDefault('db'), spec: { ports: [{ port: 5432 }] } }));
      ok(await cluster.client.create(endpointsKind, { metadata: inDefault('db'), subsets: [{ addresses: [{ ip: '192.0.2.1' }], ports: [{ port: 5432 }] }] }));
      await createService(cluster);
      for (let i = 0; i < 4; i++) {
        const process = new SimulatedProcess(world, `endpoints ${i}`);
        let left = world.random.below(8);
        const onAction = () => {
          if (left-- > 0) return 'go';
          process.kill();
          return 'crash';
        };
        startLoops({ transport: process.transport(network.transport(cluster.transport)), world: process, onAction }, controllers);
        await createPod(cluster, `web-${i}`, { ip: `10.0.0.${i}` });
        await world.sleep(world.random.float() * 400);
      }
      startLoops({ transport: cluster.transport, world }, controllers);
      await world.sleep(10_000);
      const web = [0, 1, 2, 3].map((i) => `web web-${i} 10.0.0.${i}:8080 zone-a ready`);
      expect(await slices(cluster)).toEqual(['db  192.0.2.1:5432  ready', ...web]);
      expect(await endpoints(cluster)).toEqual(['db 192.0.2.1', 'web 10.0.0.0,10.0.0.1,10.0.0.2,10.0.0.3']);
    });
  }
});
