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

async function createCronJob(scene: WorkloadCluster, spec: Draft<CronJobSpec> = {}): Promise<void> {
  ok(await scene.client.create(cronJobKind, { metadata: inDefault('nightly'), spec: { schedule: '*/10 * * * *', jobTemplate, ...spec } }));
  await scene.wait();
}

async function jobNames(scene: WorkloadCluster): Promise<string[]> {
  return ok(await scene.client.list(jobKind))
    .items.map(({ metadata }) => metadata.name ?? '')
    .sort();
}

/** The last full ten minutes, in minutes. */
const lastTime = (world: SimulatedWorld): number => Math.floor(world.clock.now() / (10 * minute)) * 10;

/** Waits until just after the next full ten minutes. */
const nextTime = (scene: WorkloadCluster, world: SimulatedWorld): Promise<void> => scene.wait(10 * minute - (world.clock.now() % (10 * minute)) + 1000);

test(
  'a job is started at each time, named after the minute, and the status follows it',
  inCluster(async (scene, world) => {
    await createCronJob(scene);
    await nextTime(scene, world);
    const name = `nightly-${lastTime(world)}`;
    expect(await jobNames(scene)).toEqual([name]);
    const started = await scene.getCronJob();
    expect(started.status).toEqual({
      active: [{ kind: 'Job', namespace: 'default', name, uid: expect.any(String), apiVersion: 'batch/v1', resourceVersion: expect.any(String) }],
      lastScheduleTime: new Date(lastTime(world) * minute).toISOString().replace('.000', ''),
    });
    await scene.succeed(await scene.onePod());
    const done = await scene.getCronJob();
    expect(done.status).toEqual({ lastScheduleTime: started.status.lastScheduleTime, lastSuccessfulTime: expect.any(String) });
    expect((await scene.events()).filter((event) => event.includes('ob'))).toEqual(
      expect.arrayContaining([`SuccessfulCreate: Created job ${name}`, `SawCompletedJob: Saw completed job: ${name}, condition: Complete`]),
    );
  }),
);

test(
  'nothing is polled: there are no requests between two times',
  inCluster(async (scene, world) => {
    await createCronJob(scene, { schedule: '0 0 1 1 *' });
    await scene.wait(minute);
    const decisions = () => world.lines.filter(({ message, fields }) => message === 'decided' && fields['controller'] === 'cron-job').length;
    const before = decisions();
    await scene.wait(6 * 60 * minute);
    expect(before).toBeGreaterThan(0);
    expect(decisions()).toBe(before);
  }),
);

test(
  'three successes and one failure are kept',
  inCluster(async (scene, world) => {
    await createCronJob(scene);
    for (let i = 0; i < 6; i++) {
      await nextTime(scene, world);
      await scene.succeed(await scene.onePod());
    }
    expect(await jobNames(scene)).toHaveLength(3);
    expect((await scene.events()).filter((event) => event.startsWith('SuccessfulDelete: Deleted job nightly-'))).toHaveLength(3);
  }),
);

test(
  'Forbid waits for the active job, Replace does not, and missed times give one job',
  inCluster(async (scene, world) => {
    await createCronJob(scene, { concurrencyPolicy: 'Forbid' });
    await nextTime(scene, world);
    const first = `nightly-${lastTime(world)}`;
    await nextTime(scene, world);
    await nextTime(scene, world);
    expect(await jobNames(scene)).toEqual([first]);
    await scene.succeed(await scene.onePod());
    expect(await jobNames(scene)).toEqual([first, `nightly-${lastTime(world)}`]);
    ok(await scene.client.patch(cronJobKind, inDefault('nightly'), { type: 'merge', body: { spec: { concurrencyPolicy: 'Replace' } } }));
    await nextTime(scene, world);
    expect(await jobNames(scene)).toEqual([first, `nightly-${lastTime(world)}`]);
    expect((await scene.getCronJob()).status.active).toMatchObject([{ name: `nightly-${lastTime(world)}` }]);
    expect((await scene.events()).filter((event) => event.startsWith('MissingJob'))).toEqual([]);
  }),
);

test(
  'a changed schedule starts at its next time, not at an earlier one',
  inCluster(async (scene, world) => {
    await createCronJob(scene, { schedule: '0 0 1 1 *' });
    await scene.wait(25 * minute);
    ok(await scene.client.patch(cronJobKind, inDefault('nightly'), { type: 'merge', body: { spec: { schedule: '*/10 * * * *' } } }));
    await scene.wait(1000);
    expect(await jobNames(scene)).toEqual([]);
    await nextTime(scene, world);
    expect(await jobNames(scene)).toEqual([`nightly-${lastTime(world)}`]);
  }),
);

test(
  'a job that cannot be created is retried, with an event',
  inCluster(async (scene, world) => {
    ok(await scene.client.create(resourceQuotaKind, { metadata: inDefault('q'), spec: { hard: { 'count/jobs.batch': '0' } } }));
    await createCronJob(scene);
    await nextTime(scene, world);
    expect((await scene.events()).join('\n')).toContain(
      `FailedCreate: Error creating job: jobs.batch "nightly-${lastTime(world)}" is forbidden: exceeded quota: q`,
    );
    ok(await scene.client.delete(resourceQuotaKind, inDefault('q')));
    await scene.wait(2 * minute);
    expect(await jobNames(scene)).toEqual([`nightly-${lastTime(world)}`]);
  }),
);

test(
  'in a terminating namespace nothing is started or retried',
  inCluster(async (scene, world) => {
    ok(await scene.client.create(namespaceKind, { metadata: { name: 'team' } }));
    ok(await scene.client.create(cronJobKind, { metadata: { namespace: 'team', name: 'nightly' }, spec: { schedule: '*/10 * * * *', jobTemplate } }));
    ok(await scene.client.delete(namespaceKind, { name: 'team' }));
    await nextTime(scene, world);
    expect(await jobNames(scene)).toEqual([]);
    expect(await scene.events()).toEqual([]);
  }),
);

test('with crashes anywhere and a faulty network, each time gets one job at most, and the last one always', async () => {
  for (const seed of seeds(10)) {
    await simulate(seed, async (world) => {
      const cluster = await startWorkloadCluster(world);
      const scene = new WorkloadCluster(cluster, world);
      const network = new SimulatedNetwork(world, badNetwork);
      const made = new Map<string, number>();
      await createCronJob(scene, { concurrencyPolicy: world.random.chance(0.5) ? 'Allow' : 'Replace', successfulJobsHistoryLimit: 1 });
      const informers = new Informers({ client: scene.client, world });
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
        await nextTime(scene, world);
        process.kill();
        for (const pod of await scene.activePods()) if (world.random.chance(0.7)) await scene.succeed(pod);
      }
      startWorkloads(cluster.transport, world);
      await nextTime(scene, world);
      expect([...made].filter(([, times]) => times > 1)).toEqual([]);
      expect(made.has(`nightly-${lastTime(world)}`)).toBe(true);
      const { active = [], lastScheduleTime } = (await scene.getCronJob()).status;
      expect(Date.parse(lastScheduleTime ?? '')).toBe(lastTime(world) * minute);
      const running = ok(await scene.client.list(jobKind)).items.filter(({ status }) => status.completionTime === undefined);
      expect(active.map(({ uid }) => uid ?? '').sort()).toEqual(running.map(({ metadata }) => metadata.uid ?? '').sort());
      informers.stop();
    });
  }
});
