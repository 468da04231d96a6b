/** Pods are scheduled, wait for volumes, and preempt each other. */
import { nodeKind } from '../../../src/api/kinds/core/node.ts';
import { persistentVolumeClaimKind } from '../../../src/api/kinds/core/persistent-volume-claim.ts';
import { priorityClassKind } from '../../../src/api/kinds/scheduling/priority-class.ts';
import { storageClassKind } from '../../../src/api/kinds/storage/storage-class.ts';
import { podKind } from '../../../src/api/kinds/pod/pod.ts';
import { requestPath } from '../../../src/api/request-info.ts';
import type { SimulatedCluster } from '../../../src/sim/cluster/simulated-cluster.ts';

type Scenario = (cluster: SimulatedCluster) => Promise<void>;

const inDefault = (name: string) => ({ namespace: 'default', name });
const claimed = (claimName: string) => [{ name: 'data', persistentVolumeClaim: { claimName } }];

async function node(cluster: SimulatedCluster, name: string): Promise<void> {
  const [amount, conditions] = [{ cpu: '1', pods: '1' }, [{ type: 'Ready', status: 'True' }]];
  await cluster.create(nodeKind, {
    metadata: { name, labels: { 'kubernetes.io/hostname': name } },
    status: { capacity: amount, allocatable: amount, conditions },
  });
}

/** Volumes with WaitForFirstConsumer: one exists, one is provisioned. */
export const scheduling: Scenario = async (cluster) => {
  await node(cluster, 'first');
  await node(cluster, 'second');
  for (const [name, provisioner] of [
    ['static', 'kubernetes.io/no-provisioner'],
    ['made', 'kubernetes.io/host-path'],
  ] as const) {
    await cluster.create(storageClassKind, { metadata: { name }, provisioner, volumeBindingMode: 'WaitForFirstConsumer' });
    await cluster.claim(name, name);
  }
  await cluster.volume('waiting', { storageClassName: 'static', persistentVolumeReclaimPolicy: 'Retain' });
  for (const name of ['static', 'made']) await cluster.pod(name, undefined, claimed(name));
  // No node has room: the pod gets an event again and again, until another pod is deleted.
  await cluster.pod('late', undefined, []);
  for (let i = 0; i < 3; i++) {
    await cluster.pod('passing', 'elsewhere', []);
    await cluster.delete(podKind, inDefault('passing'));
  }
  await cluster.delete(podKind, inDefault('static'));
  await cluster.create(priorityClassKind, { metadata: { name: 'important' }, value: 100 });
  await cluster.create(podKind, {
    metadata: inDefault('important'),
    spec: { priorityClassName: 'important', terminationGracePeriodSeconds: 0, containers: [{ name: 'app', image: 'image' }] },
  });
  await cluster.wait();
  for (const name of ['made', 'late', 'important']) await cluster.client.delete(podKind, inDefault(name));
  for (const name of ['static', 'made']) await cluster.delete(persistentVolumeClaimKind, inDefault(name));
};

/** The server binds a pod, and the answer is lost. */
export const unheard: Scenario = async (cluster) => {
  cluster.startScheduler({
    identity: 'deaf',
    takeOver: true,
    through: (server) => ({
      watch: (request, sink) => server.watch(request, sink),
      send: async (request) => {
        const answer = await server.send(request);
        return requestPath(request.info).endsWith('/binding') ? { type: 'unreachable', error: new Error('lost') } : answer;
      },
    }),
  });
  await cluster.wait();
  await node(cluster, 'only');
  await cluster.pod('bound', undefined, []);
  await cluster.delete(podKind, inDefault('bound'));
};
