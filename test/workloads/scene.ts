/** Workloads, running, on the real registry, in simulated time. No node is there: pods are moved by hand. */
import { expect } from 'vitest';
import type { CronJob, DaemonSet, Job, JobSpec, Pod, PodStatus } from '../../src/api/generated/types.ts';
import { eventKind } from '../../src/api/kinds/event.ts';
import { serviceAccountKind } from '../../src/api/kinds/service-account.ts';
import { timestamp } from '../../src/api/kinds/timestamps.ts';
import { cronJobKind } from '../../src/api/kinds/workloads/cron-job.ts';
import { daemonSetKind } from '../../src/api/kinds/workloads/daemon-set.ts';
import { jobKind } from '../../src/api/kinds/workloads/job.ts';
import { podKind } from '../../src/api/kinds/workloads/pod.ts';
import { type Client, createClient, type Draft, type Result } from '../../src/machinery/client.ts';
import { Informers } from '../../src/machinery/informers.ts';
import { type LoopOptions, runController } from '../../src/machinery/loop.ts';
import { Recorder } from '../../src/machinery/recorder.ts';
import { Tellings } from '../../src/machinery/tellings.ts';
import type { Transport } from '../../src/machinery/transport.ts';
import { type SimulatedWorld, simulate } from '../../src/sim/world.ts';
import { cronJobController } from '../../src/workloads/cron-job/controller.ts';
import { daemonSetController } from '../../src/workloads/daemon-set/controller.ts';
import { eventSource, jobController } from '../../src/workloads/job/controller.ts';
import { jobExpiry } from '../../src/workloads/job/expiry/controller.ts';
import { jobOrphans } from '../../src/workloads/job/orphans/controller.ts';
import type { World } from '../../src/world/world.ts';
import { startTestCluster, type TestCluster } from '../machinery/cluster.ts';

export const ok = <T>(result: Result<T>): T => {
  if (!result.ok) throw result.error;
  return result.value;
};
export const inDefault = (name: string) => ({ namespace: 'default', name });

/** The controllers of jobs, cron jobs and DaemonSets, as one process. */
export function startWorkloads(transport: Transport, world: World, onAction?: NonNullable<LoopOptions['onAction']>): void {
  const informers: Informers = new Informers({ client: createClient({ transport }), world });
  const client = createClient({ transport, observer: informers.observer });
  const recorder = new Recorder({ world, client, eventKind, component: eventSource });
  const options = { world, informers, ...(onAction === undefined ? {} : { onAction }) };
  runController(jobController({ client, informers, recorder }), options);
  runController(jobOrphans({ client, informers }), options);
  runController(jobExpiry({ client, informers }), options);
  runController(cronJobController({ client, informers, tellings: new Tellings(recorder, world.clock), clock: world.clock }), options);
  runController(daemonSetController({ client, informers, recorder }), options);
  informers.start();
}

/** What people and nodes do in it. */
export class Scene {
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

  /** Those that have not ended and need not. */
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

/** A cluster in which pods can be made, and nobody makes any yet. */
export async function startScene(world: World): Promise<TestCluster> {
  const cluster = await startTestCluster(world);
  ok(await cluster.client.create(serviceAccountKind, { metadata: inDefault('default') }));
  return cluster;
}

export const inCluster = (story: (scene: Scene, world: SimulatedWorld) => Promise<void>) => () =>
  simulate(1, async (world) => {
    const cluster = await startScene(world);
    startWorkloads(cluster.transport, world);
    await world.sleep(1);
    await story(new Scene(cluster, world), world);
    expect(world.lines.filter(({ level }) => level === 'error')).toEqual([]);
  });

/** 'Complete True CompletionsReached: Reached …' */
export const conditions = ({ status }: Job): string[] =>
  (status.conditions ?? []).map(({ type, status: is, reason, message }) => `${type} ${is} ${reason ?? ''}: ${message ?? ''}`);

export const trackers = (pods: readonly Pod[]): number =>
  pods.filter(({ metadata }) => metadata.finalizers?.includes('batch.kubernetes.io/job-tracking')).length;
