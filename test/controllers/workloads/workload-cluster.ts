/** Workload controllers on the real registry, in simulated time. There are no nodes: tests write the pod status. */
import { expect } from 'vitest';
import type { CronJob, DaemonSet, Job, JobSpec, Pod, PodStatus } from '../../../src/api/generated/types.ts';
import { eventKind } from '../../../src/api/kinds/core/event.ts';
import { serviceAccountKind } from '../../../src/api/kinds/core/service-account.ts';
import { timestamp } from '../../../src/api/kinds/timestamps.ts';
import { cronJobKind } from '../../../src/api/kinds/batch/cron-job.ts';
import { daemonSetKind } from '../../../src/api/kinds/apps/daemon-set.ts';
import { jobKind } from '../../../src/api/kinds/batch/job.ts';
import { podKind } from '../../../src/api/kinds/pod/pod.ts';
import { type Client, createClient, type Draft, type Result } from '../../../src/client/client.ts';
import { Informers } from '../../../src/client/informers/informers.ts';
import { type LoopOptions, runController } from '../../../src/client/controller/loop.ts';
import { EventRecorder } from '../../../src/client/events/event-recorder.ts';
import { RecordedEvents } from '../../../src/client/events/event-dedup.ts';
import type { Transport } from '../../../src/client/transport.ts';
import { type SimulatedWorld, simulate } from '../../../src/sim/world/world.ts';
import { cronJobController } from '../../../src/controllers/workloads/cron-job/controller.ts';
import { daemonSetController } from '../../../src/controllers/workloads/daemon-set/controller.ts';
import { eventSources } from '../../../src/cluster/controllers/event-sources.ts';
import { jobController } from '../../../src/controllers/workloads/job/controller.ts';
import { replicaSetController } from '../../../src/controllers/workloads/replica-set/controller.ts';
import { replicationControllers } from '../../../src/controllers/workloads/replica-set/variants.ts';
import { ttlAfterFinished } from '../../../src/controllers/workloads/ttl-after-finished/controller.ts';
import { jobOrphanPods } from '../../../src/controllers/workloads/job/orphan-pods/controller.ts';
import type { World } from '../../../src/world/world.ts';
import { startTestCluster, type TestCluster } from '../../client/test-cluster.ts';

export const ok = <T>(result: Result<T>): T => {
  if (!result.ok) throw result.error;
  return result.value;
};
export const inDefault = (name: string) => ({ namespace: 'default', name });

/** The Job, CronJob, DaemonSet and ReplicationController controllers as one process. */
export function startWorkloads(transport: Transport, world: World, onAction?: NonNullable<LoopOptions['onAction']>): void {
  const informers: Informers = new Informers({ client: createClient({ transport }), world });
  const client = createClient({ transport, observer: informers.observer });
  const recorder = new EventRecorder({ world, client, eventKind, component: eventSources['job-controller'] });
  const options = { world, informers, ...(onAction === undefined ? {} : { onAction }) };
  runController(jobController({ client, informers, recorder, clock: world.clock }), options);
  runController(jobOrphanPods({ client, informers }), options);
  runController(ttlAfterFinished({ client, informers }), options);
  runController(cronJobController({ client, informers, recordedEvents: new RecordedEvents(recorder, world.clock), clock: world.clock }), options);
  runController(daemonSetController({ client, informers, recorder, clock: world.clock }), options);
  runController(replicaSetController(replicationControllers, { client, informers, recorder, clock: world.clock }), options);
  informers.start();
}

/** What users and nodes do in it. */
export class WorkloadCluster {
  readonly #client: Client;
  readonly #world: SimulatedWorld;

  constructor(cluster: TestCluster, world: SimulatedWorld) {
    this.#client = cluster.client;
    this.#world = world;
  }

  get client(): Client {
    return this.#client;
  }

  wait(ms = 100): Promise<void> {
    return this.#world.sleep(ms);
  }

  async job(spec: Draft<JobSpec> = {}, name = 'backup'): Promise<void> {
    const template = { spec: { containers: [{ name: 'c', image: 'i' }], restartPolicy: 'Never', ...spec.template?.spec } };
    ok(await this.#client.create(jobKind, { metadata: inDefault(name), spec: { ...spec, template } }));
    await this.wait();
  }

  async change(change: (spec: JobSpec) => JobSpec, name = 'backup'): Promise<void> {
    const found = ok(await this.#client.get(jobKind, inDefault(name)));
    ok(await this.#client.update(jobKind, { ...found, spec: change(found.spec) }));
    await this.wait();
  }

  async get(name = 'backup'): Promise<Job> {
    return ok(await this.#client.get(jobKind, inDefault(name)));
  }

  async getCronJob(name = 'nightly'): Promise<CronJob> {
    return ok(await this.#client.get(cronJobKind, inDefault(name)));
  }

  async getSet(name = 'driver'): Promise<DaemonSet> {
    return ok(await this.#client.get(daemonSetKind, inDefault(name)));
  }

  async pods(): Promise<readonly Pod[]> {
    const { items } = ok(await this.#client.list(podKind, { namespace: 'default' }));
    return items;
  }

  /** Pods that are neither ended nor being deleted. */
  async activePods(): Promise<readonly Pod[]> {
    return (await this.pods()).filter(
      ({ metadata, status }) => metadata.deletionTimestamp === undefined && !['Succeeded', 'Failed'].includes(status.phase ?? ''),
    );
  }

  async onePod(): Promise<Pod> {
    const [pod] = await this.activePods();
    return pod ?? expect.fail('no pod is active');
  }

  async set(pod: Pod, status: Partial<PodStatus>): Promise<void> {
    const found = ok(await this.#client.get(podKind, inDefault(pod.metadata.name ?? '')));
    ok(await this.#client.updateStatus(podKind, { ...found, status: { ...found.status, ...status } }));
    await this.wait();
  }

  succeed = (pod: Pod) => this.set(pod, { phase: 'Succeeded' });
  fail = (pod: Pod, exitCode = 1) =>
    this.set(pod, {
      phase: 'Failed',
      containerStatuses: [
        {
          name: 'c',
          ready: false,
          restartCount: 0,
          image: 'i',
          imageID: '',
          lastState: {},
          state: { terminated: { exitCode, startedAt: null, finishedAt: timestamp(this.#world.clock.now()) } },
        },
      ],
    });

  async events(): Promise<string[]> {
    const { items } = ok(await this.#client.list(eventKind));
    return items.map(({ reason, message }) => `${reason ?? ''}: ${message ?? ''}`);
  }
}

/** A cluster with the default ServiceAccount, without pods. */
export async function startWorkloadCluster(world: World): Promise<TestCluster> {
  const cluster = await startTestCluster(world);
  ok(await cluster.client.create(serviceAccountKind, { metadata: inDefault('default') }));
  return cluster;
}

export const inCluster = (story: (workloads: WorkloadCluster, world: SimulatedWorld) => Promise<void>) => () =>
  simulate(1, async (world) => {
    const cluster = await startWorkloadCluster(world);
    startWorkloads(cluster.transport, world);
    await world.sleep(1);
    await story(new WorkloadCluster(cluster, world), world);
    expect(world.lines.filter(({ level }) => level === 'error')).toEqual([]);
  });

/** 'Complete True CompletionsReached: Reached …' */
export const conditions = ({ status }: Job): string[] =>
  (status.conditions ?? []).map(({ type, status: is, reason, message }) => `${type} ${is} ${reason ?? ''}: ${message ?? ''}`);

export const trackers = (pods: readonly Pod[]): number =>
  pods.filter(({ metadata }) => metadata.finalizers?.includes('batch.kubernetes.io/job-tracking')).length;
