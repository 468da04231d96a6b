/** Work for the Job, CronJob and DaemonSet controllers. */
import { nodeKind } from '../../../src/api/kinds/core/node.ts';
import { cronJobKind } from '../../../src/api/kinds/batch/cron-job.ts';
import { daemonSetKind } from '../../../src/api/kinds/apps/daemon-set.ts';
import { jobKind } from '../../../src/api/kinds/batch/job.ts';
import { podKind } from '../../../src/api/kinds/pod/pod.ts';
import { ok, type SimulatedCluster } from '../../../src/sim/cluster/simulated-cluster.ts';

const inDefault = (name: string) => ({ namespace: 'default', name });
const containers = [{ name: 'app', image: 'image' }];
const once = { spec: { containers, restartPolicy: 'Never' } };

async function finishPods(cluster: SimulatedCluster, phase: string): Promise<void> {
  for (const { metadata } of ok(await cluster.client.list(podKind, { namespace: 'default' })).items) {
    await cluster.changeStatus(podKind, inDefault(metadata.name ?? ''), (pod) => ({ ...pod, status: { ...pod.status, phase } }));
  }
  await cluster.wait();
}

/** A Job adopts a pod, is suspended several times, completes, and is deleted after its TTL. */
export const batch = async (cluster: SimulatedCluster): Promise<void> => {
  const labels = { run: 'backup' };
  await cluster.create(podKind, { metadata: { ...inDefault('found'), labels }, spec: { ...once.spec, terminationGracePeriodSeconds: 0 } });
  await cluster.create(jobKind, {
    metadata: inDefault('backup'),
    spec: { manualSelector: true, selector: { matchLabels: labels }, template: { metadata: { labels }, ...once }, ttlSecondsAfterFinished: 60, completions: 2 },
  });
  await cluster.wait();
  for (const suspend of [true, false, true, false]) {
    await cluster.change(jobKind, inDefault('backup'), (job) => ({ ...job, spec: { ...job.spec, suspend } }));
    await cluster.wait();
  }
  await finishPods(cluster, 'Succeeded');
  await finishPods(cluster, 'Succeeded');
  await cluster.wait(120_000);
};

/** A CronJob runs every minute: one Job vanishes, one lasts for several minutes, and none is kept. */
export const schedule = async (cluster: SimulatedCluster): Promise<void> => {
  await cluster.create(cronJobKind, {
    metadata: inDefault('minutely'),
    spec: { schedule: '* * * * *', concurrencyPolicy: 'Forbid', successfulJobsHistoryLimit: 0, jobTemplate: { spec: { template: once } } },
  });
  await cluster.wait(61_000);
  for (const { metadata } of ok(await cluster.client.list(jobKind)).items) await cluster.delete(jobKind, inDefault(metadata.name ?? ''));
  await cluster.wait(200_000);
  await finishPods(cluster, 'Succeeded');
  await cluster.delete(cronJobKind, inDefault('minutely'));
};

/** A DaemonSet adopts the pods of an earlier one, is changed twice and rolled back, with a short history. */
export const daemons = async (cluster: SimulatedCluster): Promise<void> => {
  const nodes = Array.from({ length: 12 }, (_, i) => `node-${i}`);
  for (const name of nodes) await cluster.create(nodeKind, { metadata: { name } });
  const labels = { app: 'driver' };
  const create = (image: string) =>
    cluster.create(daemonSetKind, {
      metadata: inDefault('driver'),
      spec: {
        selector: { matchLabels: labels },
        revisionHistoryLimit: 1,
        template: { metadata: { labels }, spec: { containers: [{ name: 'app', image }], terminationGracePeriodSeconds: 0 } },
      },
    });
  await create('v1');
  await cluster.wait();
  await cluster.delete(daemonSetKind, inDefault('driver'), 'Orphan');
  await create('v2');
  await cluster.wait();
  for (const image of ['v3', 'v2', 'v3']) {
    const template = { spec: { containers: [{ name: 'app', image }] } };
    ok(await cluster.client.patch(daemonSetKind, inDefault('driver'), { type: 'strategic', body: { spec: { template } } }));
    await cluster.wait();
  }
  await cluster.delete(nodeKind, { name: 'node-0' });
  await cluster.wait();
  await cluster.delete(daemonSetKind, inDefault('driver'));
};
