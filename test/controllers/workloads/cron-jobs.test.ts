/** The CronJob controller, in simulated time; no crash makes it run a time twice. */
import { expect, test } from 'vitest';
import type { CronJobSpec } from '../../../src/api/generated/types.ts';
import { namespaceKind } from '../../../src/api/kinds/core/namespace.ts';
import { resourceQuotaKind } from '../../../src/api/kinds/core/resource-quota.ts';
import { cronJobKind } from '../../../src/api/kinds/batch/cron-job.ts';
import { jobKind } from '../../../src/api/kinds/batch/job.ts';
import type { Draft } from '../../../src/client/client.ts';
import { Informers } from '../../../src/client/informers/informers.ts';
import { badNetwork, SimulatedNetwork } from '../../../src/sim/world/network.ts';
import { SimulatedProcess } from '../../../src/sim/world/process.ts';
import { seeds } from '../../../src/sim/world/seeds.ts';
import { type SimulatedWorld, simulate } from '../../../src/sim/world/world.ts';
import { inCluster, inDefault, ok, WorkloadCluster, startWorkloadCluster, startWorkloads } from './workload-cluster.ts';

const minute = 60_000;
const jobTemplate = { spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } } } };

async function createCronJob(workloads: WorkloadCluster, spec: Draft<CronJobSpec> = {}): Promise<void> {
  ok(await workloads.client.create(cronJobKind, { metadata: inDefault('nightly'), spec: { schedule: '*/10 * * * *', jobTemplate, ...spec } }));
  await workloads.wait();
}

async function jobNames(workloads: WorkloadCluster): Promise<string[]> {
  return ok(await workloads.client.list(jobKind))
    .items.map(({ metadata }) => metadata.name ?? '')
    .sort();
}

/** The last full ten minutes, in minutes. */
const lastTime = (world: SimulatedWorld): number => Math.floor(world.clock.now() / (10 * minute)) * 10;

/** Waits until just after the next full ten minutes. */
const nextTime = (workloads: WorkloadCluster, world: SimulatedWorld): Promise<void> => workloads.wait(10 * minute - (world.clock.now() % (10 * minute)) + 1000);

test(
  'a job is started at each time, named after the minute, and the status follows it',
  inCluster(async (workloads, world) => {
    await createCronJob(workloads);
    await nextTime(workloads, world);
    const name = `nightly-${lastTime(world)}`;
    expect(await jobNames(workloads)).toEqual([name]);
    const started = await workloads.getCronJob();
    expect(started.status).toEqual({
      active: [{ kind: 'Job', namespace: 'default', name, uid: expect.any(String), apiVersion: 'batch/v1', resourceVersion: expect.any(String) }],
      lastScheduleTime: new Date(lastTime(world) * minute).toISOString().replace('.000', ''),
    });
    await workloads.succeed(await workloads.onePod());
    const done = await workloads.getCronJob();
    expect(done.status).toEqual({ lastScheduleTime: started.status.lastScheduleTime, lastSuccessfulTime: expect.any(String) });
    expect((await workloads.events()).filter((event) => event.includes('ob'))).toEqual(
      expect.arrayContaining([`SuccessfulCreate: Created job ${name}`, `SawCompletedJob: Saw completed job: ${name}, condition: Complete`]),
    );
  }),
);

test(
  'nothing is polled: there are no requests between two times',
  inCluster(async (workloads, world) => {
    await createCronJob(workloads, { schedule: '0 0 1 1 *' });
    await workloads.wait(minute);
    const decisions = () => world.lines.filter(({ message, fields }) => message === 'decided' && fields['controller'] === 'cron-job').length;
    const before = decisions();
    await workloads.wait(6 * 60 * minute);
    expect(before).toBeGreaterThan(0);
    expect(decisions()).toBe(before);
  }),
);

test(
  'three successes and one failure are kept',
  inCluster(async (workloads, world) => {
    await createCronJob(workloads);
    for (let i = 0; i < 6; i++) {
      await nextTime(workloads, world);
      await workloads.succeed(await workloads.onePod());
    }
    expect(await jobNames(workloads)).toHaveLength(3);
    expect((await workloads.events()).filter((event) => event.startsWith('SuccessfulDelete: Deleted job nightly-'))).toHaveLength(3);
  }),
);

test(
  'Forbid waits for the active job, Replace does not, and missed times give one job',
  inCluster(async (workloads, world) => {
    await createCronJob(workloads, { concurrencyPolicy: 'Forbid' });
    await nextTime(workloads, world);
    const first = `nightly-${lastTime(world)}`;
    await nextTime(workloads, world);
    await nextTime(workloads, world);
    expect(await jobNames(workloads)).toEqual([first]);
    await workloads.succeed(await workloads.onePod());
    expect(await jobNames(workloads)).toEqual([first, `nightly-${lastTime(world)}`]);
    ok(await workloads.client.patch(cronJobKind, inDefault('nightly'), { type: 'merge', body: { spec: { concurrencyPolicy: 'Replace' } } }));
    await nextTime(workloads, world);
    expect(await jobNames(workloads)).toEqual([first, `nightly-${lastTime(world)}`]);
    expect((await workloads.getCronJob()).status.active).toMatchObject([{ name: `nightly-${lastTime(world)}` }]);
    expect((await workloads.events()).filter((event) => event.startsWith('MissingJob'))).toEqual([]);
  }),
);

test(
  'a changed schedule starts at its next time, not at an earlier one',
  inCluster(async (workloads, world) => {
    await createCronJob(workloads, { schedule: '0 0 1 1 *' });
    await workloads.wait(25 * minute);
    ok(await workloads.client.patch(cronJobKind, inDefault('nightly'), { type: 'merge', body: { spec: { schedule: '*/10 * * * *' } } }));
    await workloads.wait(1000);
    expect(await jobNames(workloads)).toEqual([]);
    await nextTime(workloads, world);
    expect(await jobNames(workloads)).toEqual([`nightly-${lastTime(world)}`]);
  }),
);

test(
  'a job that cannot be created is retried, with an event',
  inCluster(async (workloads, world) => {
    ok(await workloads.client.create(resourceQuotaKind, { metadata: inDefault('q'), spec: { hard: { 'count/jobs.batch': '0' } } }));
    await createCronJob(workloads);
    await nextTime(workloads, world);
    expect((await workloads.events()).join('\n')).toContain(
      `FailedCreate: Error creating job: jobs.batch "nightly-${lastTime(world)}" is forbidden: exceeded quota: q`,
    );
    ok(await workloads.client.delete(resourceQuotaKind, inDefault('q')));
    await workloads.wait(2 * minute);
    expect(await jobNames(workloads)).toEqual([`nightly-${lastTime(world)}`]);
  }),
);

test(
  'in a terminating namespace nothing is started or retried',
  inCluster(async (workloads, world) => {
    ok(await workloads.client.create(namespaceKind, { metadata: { name: 'team' } }));
    ok(await workloads.client.create(cronJobKind, { metadata: { namespace: 'team', name: 'nightly' }, spec: { schedule: '*/10 * * * *', jobTemplate } }));
    ok(await workloads.client.delete(namespaceKind, { name: 'team' }));
    await nextTime(workloads, world);
    expect(await jobNames(workloads)).toEqual([]);
    expect(await workloads.events()).toEqual([]);
  }),
);

test('with crashes anywhere and a faulty network, each time gets one job at most, and the last one always', async () => {
  for (const seed of seeds(10)) {
    await simulate(seed, async (world) => {
      const cluster = await startWorkloadCluster(world);
      const workloads = new WorkloadCluster(cluster, world);
      const network = new SimulatedNetwork(world, badNetwork);
      const made = new Map<string, number>();
      await createCronJob(workloads, { concurrencyPolicy: world.random.chance(0.5) ? 'Allow' : 'Replace', successfulJobsHistoryLimit: 1 });
      const informers = new Informers({ client: workloads.client, world });
      informers.cache(jobKind).subscribe(({ before, after }) => {
        const name = after?.metadata.name ?? '';
        if (after !== undefined && before === undefined) made.set(name, (made.get(name) ?? 0) + 1);
      });
      informers.start();
      for (let i = 0; i < 8; i++) {
        const process = new SimulatedProcess(world, `cron ${i}`);
        let left = world.random.below(5);
        startWorkloads(process.transport(network.transport(cluster.transport)), process, ({ controller }) => {
          if (controller !== 'cron-job' || left-- > 0) return 'go';
          process.kill();
          return 'crash';
        });
        await nextTime(workloads, world);
        process.kill();
        for (const pod of await workloads.activePods()) if (world.random.chance(0.7)) await workloads.succeed(pod);
      }
      startWorkloads(cluster.transport, world);
      await nextTime(workloads, world);
      expect([...made].filter(([, times]) => times > 1)).toEqual([]);
      expect(made.has(`nightly-${lastTime(world)}`)).toBe(true);
      const { active = [], lastScheduleTime } = (await workloads.getCronJob()).status;
      expect(Date.parse(lastScheduleTime ?? '')).toBe(lastTime(world) * minute);
      const running = ok(await workloads.client.list(jobKind)).items.filter(({ status }) => status.completionTime === undefined);
      expect(active.map(({ uid }) => uid ?? '').sort()).toEqual(running.map(({ metadata }) => metadata.uid ?? '').sort());
      informers.stop();
    });
  }
});
