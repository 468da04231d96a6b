/** The disruption controller on the real registry with its eviction subresource, in simulated time. */
import { expect, test } from 'vitest';
import { startTestCluster, type TestCluster } from '../../client/test-cluster.ts';
import { anyController, events, inClusterWith, ok, type Parts, startLoops } from '../../client/loops.ts';
import { allKinds } from '../../../src/api/kinds/index.ts';
import { podDisruptionBudgetKind } from '../../../src/api/kinds/policy/pod-disruption-budget.ts';
import { serviceAccountKind } from '../../../src/api/kinds/core/service-account.ts';
import { podKind } from '../../../src/api/kinds/pod/pod.ts';
import { replicaSetKind } from '../../../src/api/kinds/apps/replica-set.ts';
import { badNetwork, SimulatedNetwork } from '../../../src/sim/world/network.ts';
import { SimulatedProcess } from '../../../src/sim/world/process.ts';
import { seeds } from '../../../src/sim/world/seeds.ts';
import { type SimulatedWorld, simulate } from '../../../src/sim/world/world.ts';
import { eventSources } from '../../../src/cluster/controllers/event-sources.ts';
import { disruption } from '../../../src/controllers/cluster/disruption/controller.ts';

const controllers = ({ recorder, ...parts }: Parts) => {
  const { budgets, pods } = disruption({ ...parts, clock: parts.world.clock, recorder: recorder(eventSources['disruption-controller']), kinds: allKinds });
  return [anyController(budgets), anyController(pods)];
};
const inDefault = (name: string) => ({ namespace: 'default', name });
const labels = { app: 'web' };

async function start(world: SimulatedWorld): Promise<TestCluster> {
  const cluster = await startTestCluster(world);
  ok(await cluster.client.create(serviceAccountKind, { metadata: inDefault('default') }));
  return cluster;
}

/** A ReplicaSet with ready pods. */
async function createSet({ client }: TestCluster, replicas: number, { ready = replicas } = {}): Promise<void> {
  const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  const set = ok(await client.create(replicaSetKind, { metadata: inDefault('web'), spec: { replicas, selector: { matchLabels: labels }, template } }));
  const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: set.metadata.uid ?? '', controller: true };
  for (let i = 0; i < replicas; i++) {
    const metadata = { ...inDefault(`web-${i}`), labels, ownerReferences: [owner] };
    const pod = ok(await client.create(podKind, { metadata, spec: { ...template.spec, nodeName: 'n1' } }));
    const condition = { type: 'Ready', status: i < ready ? 'True' : 'False', lastProbeTime: null, lastTransitionTime: null };
    ok(await client.updateStatus(podKind, { ...pod, status: { ...pod.status, phase: 'Running', conditions: [condition] } }));
  }
}

const createBudget = async ({ client }: TestCluster, spec: object, name = 'web') =>
  ok(await client.create(podDisruptionBudgetKind, { metadata: inDefault(name), spec: { selector: { matchLabels: labels }, ...spec } }));

/** '3 of 3 healthy, 1 may go' */
async function budget({ client }: TestCluster): Promise<string> {
  const { status } = ok(await client.get(podDisruptionBudgetKind, inDefault('web')));
  return `${status.currentHealthy} of ${status.expectedPods} healthy, ${status.disruptionsAllowed} may go`;
}

/** 'evicted', or why not. */
async function evict({ client }: TestCluster, name: string): Promise<string> {
  const result = await client.postSubresource(
    podKind,
    { ...inDefault(name), subresource: 'eviction' },
    { apiVersion: 'policy/v1', kind: 'Eviction', metadata: inDefault(name) },
  );
  return result.ok ? 'evicted' : 'details' in result.error ? (result.error.details?.causes?.[0]?.message ?? result.error.message) : result.error.message;
}

const inCluster = inClusterWith(start, controllers);

test(
  'a pod may be evicted while enough others are healthy; the next one when its successor is',
  inCluster(async (cluster, world) => {
    await createBudget(cluster, { minAvailable: 2 });
    await createSet(cluster, 3);
    await world.sleep(50);
    expect(await budget(cluster)).toBe('3 of 3 healthy, 1 may go');
    expect(await evict(cluster, 'web-0')).toBe('evicted');
    expect(await evict(cluster, 'web-1')).toBe('The disruption budget web does not allow evicting pods currently');
    await world.sleep(50);
    expect(await budget(cluster)).toBe('2 of 3 healthy, 0 may go');
    expect(await evict(cluster, 'web-1')).toBe('The disruption budget web needs 2 healthy pods and has 2 currently');
    ok(await cluster.client.delete(podKind, inDefault('web-0'), { gracePeriodSeconds: 0 }));
    await world.sleep(50);
    expect(await budget(cluster)).toBe('2 of 2 healthy, 0 may go');
  }),
);

test(
  "a budget in percent follows the scale of the pods' owner",
  inCluster(async (cluster, world) => {
    await createBudget(cluster, { maxUnavailable: '50%' });
    await createSet(cluster, 4);
    await world.sleep(50);
    expect(await budget(cluster)).toBe('4 of 4 healthy, 2 may go');
    const set = ok(await cluster.client.get(replicaSetKind, inDefault('web')));
    ok(await cluster.client.update(replicaSetKind, { ...set, spec: { ...set.spec, replicas: 8 } }));
    await world.sleep(50);
    expect(await budget(cluster)).toBe('4 of 8 healthy, 0 may go');
    ok(await cluster.client.delete(replicaSetKind, inDefault('web')));
    await world.sleep(50);
    expect(await evict(cluster, 'web-0')).toBe(
      'The disruption budget web does not allow evicting pods currently because it failed sync: found no controllers for pod "web-0"',
    );
    expect(await events(cluster.client)).toEqual([
      'controllermanager PodDisruptionBudget/web CalculateExpectedPodCountFailed: Failed to calculate the number of expected pods: found no controllers for pod "web-0" x1',
    ]);
  }),
);

test(
  'a changed selector counts other pods; a budget of everything counts everything',
  inCluster(async (cluster, world) => {
    const { client } = cluster;
    await createSet(cluster, 2);
    const made = await createBudget(cluster, { minAvailable: 1, selector: { matchLabels: { app: 'other' } } });
    await world.sleep(50);
    expect(await budget(cluster)).toBe('0 of 0 healthy, 0 may go');
    expect(await events(client)).toEqual(['controllermanager PodDisruptionBudget/web NoPods: No matching pods found x1']);
    const current = ok(await client.get(podDisruptionBudgetKind, inDefault('web')));
    ok(await client.update(podDisruptionBudgetKind, { ...current, spec: { ...made.spec, selector: {} } }));
    await world.sleep(50);
    expect(await budget(cluster)).toBe('2 of 2 healthy, 1 may go');
  }),
);

test(
  'an eviction without deletion is forgotten after two minutes',
  inCluster(async (cluster, world) => {
    const { client } = cluster;
    await createSet(cluster, 2);
    await createBudget(cluster, { minAvailable: 1 });
    await world.sleep(50);
    const pdb = ok(await client.get(podDisruptionBudgetKind, inDefault('web')));
    const disruptedPods = { 'web-0': `${new Date(world.clock.now()).toISOString().slice(0, 19)}Z` };
    ok(await client.updateStatus(podDisruptionBudgetKind, { ...pdb, status: { ...pdb.status, disruptionsAllowed: 0, disruptedPods } }));
    const pod = ok(await client.get(podKind, inDefault('web-0')));
    const target = {
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'PreemptionByScheduler',
      lastProbeTime: null,
      lastTransitionTime: disruptedPods['web-0'],
    };
    ok(await client.updateStatus(podKind, { ...pod, status: { ...pod.status, conditions: [...(pod.status.conditions ?? []), target] } }));
    await world.sleep(100_000);
    expect(await budget(cluster)).toBe('1 of 2 healthy, 0 may go');
    await world.sleep(25_000);
    expect(await budget(cluster)).toBe('2 of 2 healthy, 1 may go');
    expect(ok(await client.get(podKind, inDefault('web-0'))).status.conditions).toContainEqual(
      expect.objectContaining({ type: 'DisruptionTarget', status: 'False' }),
    );
    expect(await events(client)).toEqual(["controllermanager Pod/web-0 NotDeleted: Pod was expected by PDB default/default to be deleted but it wasn't x1"]);
  }),
);

test(
  'a pod of two budgets gets an event',
  inCluster(async (cluster, world) => {
    await createBudget(cluster, { minAvailable: 1 });
    await createBudget(cluster, { minAvailable: 1 }, 'again');
    await createSet(cluster, 1);
    await world.sleep(50);
    expect((await events(cluster.client)).filter((each) => each.includes('Multiple'))).toEqual([
      'controllermanager Pod/web-0 MultiplePodDisruptionBudgets: Pod "default"/"web-0" matches multiple PodDisruptionBudgets.  Chose "again" arbitrarily. x1',
    ]);
  }),
);

test('with crashes anywhere and concurrent evictions, never more pods are evicted than allowed', async () => {
  for (const seed of seeds(12)) {
    await simulate(seed, async (world) => {
      const cluster = await start(world);
      const network = new SimulatedNetwork(world, badNetwork);
      await createSet(cluster, 6);
      await createBudget(cluster, { minAvailable: 4 });
      for (let i = 0; i < 4; i++) {
        const process = new SimulatedProcess(world, `disruption ${i}`);
        let left = world.random.below(4);
        const onAction = () => {
          if (left-- > 0) return 'go';
          process.kill();
          return 'crash';
        };
        startLoops({ transport: process.transport(network.transport(cluster.transport)), world: process, onAction }, controllers);
        await world.sleep(world.random.float() * 300);
        await Promise.all([0, 1, 2, 3, 4, 5].map((pod) => evict(cluster, `web-${pod}`)));
        const { items } = ok(await cluster.client.list(podKind));
        expect(items.filter(({ metadata }) => metadata.deletionTimestamp === undefined).length).toBeGreaterThanOrEqual(4);
      }
      startLoops({ transport: cluster.transport, world }, controllers);
      await world.sleep(1_000);
      await Promise.all([0, 1, 2, 3, 4, 5].map((pod) => evict(cluster, `web-${pod}`)));
      await world.sleep(1_000);
      expect(await budget(cluster)).toBe('4 of 6 healthy, 0 may go');
    });
  }
});
