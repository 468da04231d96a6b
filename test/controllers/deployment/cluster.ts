/** Deployments in simulated time: the real registry, the ReplicaSet and Deployment controllers, and kubelets that start and stop pods. */
import type { Deployment, Pod, ReplicaSet } from '../../../src/api/generated/types.ts';
import { allKinds } from '../../../src/api/kinds/index.ts';
import { eventKind } from '../../../src/api/kinds/core/event.ts';
import { serviceAccountKind } from '../../../src/api/kinds/core/service-account.ts';
import { timestamp } from '../../../src/api/kinds/timestamps.ts';
import { deploymentKind } from '../../../src/api/kinds/apps/deployment.ts';
import { podKind } from '../../../src/api/kinds/pod/pod.ts';
import { replicaSetKind } from '../../../src/api/kinds/apps/replica-set.ts';
import { type Client, createClient, type Draft, refOf, type Result } from '../../../src/client/client.ts';
import { DefinedKinds } from '../../../src/client/controller/defined-kinds.ts';
import { Informers } from '../../../src/client/informers/informers.ts';
import { type ControllerLoop, type LoopOptions, runController } from '../../../src/client/controller/loop.ts';
import { EventRecorder } from '../../../src/client/events/event-recorder.ts';
import type { Transport } from '../../../src/client/transport.ts';
import { deploymentController } from '../../../src/controllers/workloads/deployment/controller.ts';
import { garbageCollector } from '../../../src/controllers/cluster/garbage-collector/controller.ts';
import { replicaSets } from '../../../src/controllers/workloads/replica-set/variants.ts';
import { replicaSetController } from '../../../src/controllers/workloads/replica-set/controller.ts';
import type { World } from '../../../src/world/world.ts';
import { startTestCluster, type TestCluster } from '../../client/test-cluster.ts';

export const ok = <T>(result: Result<T>): T => {
  if (!result.ok) throw result.error;
  return result.value;
};

export async function startCluster(world: World): Promise<TestCluster> {
  const cluster = await startTestCluster(world);
  // Pods need a ServiceAccount.
  ok(await cluster.client.create(serviceAccountKind, { metadata: { name: 'default', namespace: 'default' } }));
  return cluster;
}

/** One process with the controllers. */
export function runWorkloads(transport: Transport, world: World, more: Partial<LoopOptions> = {}): readonly ControllerLoop[] {
  const informers: Informers = new Informers({ client: createClient({ transport }), world });
  const client = createClient({ transport, observer: informers.observer });
  const recorder = (component: string) => new EventRecorder({ world, client, eventKind, component });
  const common = { client, informers, clock: world.clock };
  const options = { world, informers, ...more };
  const loops = [
    runController(replicaSetController(replicaSets, { ...common, recorder: recorder('replicaset-controller') }), options),
    runController(deploymentController({ ...common, recorder: recorder('deployment-controller') }), options),
    runController(
      garbageCollector({ ...common, kinds: allKinds, definedKinds: new DefinedKinds(informers), recorder: recorder('garbage-collector-controller') }),
      options,
    ),
  ];
  informers.start();
  return loops;
}

/** Every pod becomes ready after a while, unless its image is broken; a deleted one ends after a while. */
export function runKubelet(transport: Transport, world: World, withinMs = 2000): Informers {
  const client = createClient({ transport });
  const informers = new Informers({ client, world });
  const pods = informers.cache(podKind);
  pods.subscribe(({ before, after }) => {
    if (after === undefined) return;
    if (before === undefined && isWhole(after))
      world.timers.after(world.random.float() * withinMs, () => void start(client, after, timestamp(world.clock.now())));
    if (after.metadata.deletionTimestamp !== undefined && before?.metadata.deletionTimestamp === undefined) {
      world.timers.after(world.random.float() * withinMs, () => void client.delete(podKind, refOf(after), { gracePeriodSeconds: 0 }));
    }
  });
  informers.start();
  return informers;
}

/** Calls `see` for every state. */
export function observe(transport: Transport, world: World, see: (pods: readonly Pod[], sets: readonly ReplicaSet[]) => void): void {
  const informers = new Informers({ client: createClient({ transport }), world });
  const [pods, sets] = [informers.cache(podKind), informers.cache(replicaSetKind)];
  pods.subscribe(() => see([...pods.list()], [...sets.list()]));
  sets.subscribe(() => see([...pods.list()], [...sets.list()]));
  informers.start();
}

const isWhole = ({ spec }: Pod): boolean => spec.containers?.[0]?.image !== 'broken';

async function start(client: Client, pod: Pod, time: string): Promise<void> {
  const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: time }];
  await client.patch(
    podKind,
    refOf(pod),
    { type: 'merge', body: { metadata: { uid: pod.metadata.uid }, status: { phase: 'Running', conditions } } },
    { subresource: 'status' },
  );
}

export const isReady = ({ metadata, status }: Pod): boolean =>
  metadata.deletionTimestamp === undefined && status.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true;

const labels = { app: 'web' };

export const web = (image: string, spec: Draft<Deployment['spec']> = {}): Draft<Deployment> => ({
  metadata: { namespace: 'default', name: 'web' },
  spec: {
    replicas: 3,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { nodeName: 'somewhere', containers: [{ name: 'app', image }] } },
    ...spec,
  },
});

const ref = { namespace: 'default', name: 'web' };

/** As `kubectl patch` does. */
export async function patch({ client }: TestCluster, spec: object): Promise<void> {
  ok(await client.patch(deploymentKind, ref, { type: 'merge', body: { spec } }));
}

export const withImage = (image: string) => ({ template: { spec: { containers: [{ name: 'app', image }] } } });

export const getDeployment = async ({ client }: TestCluster): Promise<Deployment> => ok(await client.get(deploymentKind, ref));

/** 'web revision 2: 3/3 ready, …', 'set one 0', 'pods two 3': sorted. */
export async function describeCluster(cluster: TestCluster): Promise<readonly string[]> {
  const { metadata, spec, status } = await getDeployment(cluster);
  const sets = ok(await cluster.client.list(replicaSetKind)).items;
  const pods = ok(await cluster.client.list(podKind)).items;
  const images = new Map<string, number>();
  for (const { spec: of } of pods) images.set(imageOf(of), (images.get(imageOf(of)) ?? 0) + 1);
  const { updatedReplicas = 0, availableReplicas = 0, replicas = 0, conditions = [] } = status;
  const reason = conditions.find(({ type }) => type === 'Progressing')?.reason ?? '-';
  const revision = metadata.annotations?.['deployment.kubernetes.io/revision'] ?? '-';
  return [
    `web revision ${revision}: ${updatedReplicas} new and ${availableReplicas} available of ${replicas}, ${spec.replicas ?? 0} wanted, ${reason}`,
    ...sets
      .map(
        (set) => `set ${imageOf(set.spec.template.spec)} ${set.spec.replicas ?? 0} ${set.metadata.annotations?.['deployment.kubernetes.io/revision'] ?? '-'}`,
      )
      .sort(),
    ...[...images].map(([image, count]) => `pods ${image} ${count}`).sort(),
  ];
}

const imageOf = ({ containers }: Pod['spec']): string => containers?.[0]?.image ?? '';

/** 'Scaled up replica set web-x from 0 to 3': messages of events, without the hash. */
export async function eventsOf({ client }: TestCluster, kind: string): Promise<readonly string[]> {
  const events = ok(await client.list(eventKind)).items.filter(({ involvedObject }) => involvedObject.kind === kind);
  return events.map(({ reason = '', message = '' }) => `${reason}: ${message.replaceAll(/web-[bcdf4-9]+(-\w{5})?/g, 'web-x')}`);
}
