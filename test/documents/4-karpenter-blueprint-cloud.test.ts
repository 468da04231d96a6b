/** The blueprint for stateful workloads with its cloud and its autoscaler: every command in its order, on virtual time. */
import { expect, test } from 'vitest';
import { deploymentKind } from '../../src/api/kinds/apps/deployment.ts';
import { persistentVolumeClaimKind } from '../../src/api/kinds/core/persistent-volume-claim.ts';
import { nodeClaimKind } from '../../src/api/kinds/karpenter/node-claim.ts';
import { podKind } from '../../src/api/kinds/pod/pod.ts';
import { storageClassKind } from '../../src/api/kinds/storage/storage-class.ts';
import { ok } from '../../src/sim/cluster/simulated-cluster.ts';
import { type CloudCluster, ebs, inCloud } from '../autoscaler/cloud-cluster.ts';

const zoneLabel = 'topology.kubernetes.io/zone';

/** Texts of the document that are others by now: v1.28 and Karpenter v0.30 against v1.36.4 and v1.14. */
const dialect: readonly (readonly [old: RegExp, now: RegExp])[] = [
  [/^Pod should schedule on: machine\//, /^Pod should schedule on: nodeclaim\/default-[a-z0-9]{5}$/],
  [
    /^Multi-Attach error for volume "pvc-.*" Volume is already exclusively attached to one node and can't be attached to another$/,
    /^Waiting for detach for volume "pvc-.*" Volume is already exclusively attached to one node, waiting on detach before it can be attached to another node$/,
  ],
  [
    /timed out waiting for the condition$/,
    /^Unable to attach or mount volumes: unmounted volumes=\[persistent-storage\], unattached volumes=\[\w*(-storage)?\], failed to process volumes=\[\]: context deadline exceeded$/,
  ],
];
const today = (old: string): RegExp => dialect.find(([text]) => text.test(old))?.[1] ?? new RegExp(`^${old.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`);

const storage = (zones: readonly string[]) => ({
  class: {
    metadata: { name: 'storage-gp3' },
    provisioner: ebs,
    volumeBindingMode: 'WaitForFirstConsumer',
    parameters: { type: 'gp3' },
    allowedTopologies: [{ matchLabelExpressions: [{ key: 'topology.ebs.csi.aws.com/zone', values: [...zones] }] }],
  },
  claim: {
    metadata: { namespace: 'default', name: 'ebs-claim' },
    spec: { storageClassName: 'storage-gp3', accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '4Gi' } } },
  },
});

const workload = {
  metadata: { namespace: 'default', name: 'stateful' },
  spec: {
    replicas: 3,
    selector: { matchLabels: { app: 'stateful' } },
    template: {
      metadata: { labels: { app: 'stateful' } },
      spec: {
        terminationGracePeriodSeconds: 0,
        containers: [
          {
            name: 'stateful',
            image: 'centos',
            resources: { requests: { cpu: '1' } },
            volumeMounts: [{ name: 'persistent-storage', mountPath: '/data' }],
          },
        ],
        volumes: [{ name: 'persistent-storage', persistentVolumeClaim: { claimName: 'ebs-claim' } }],
      },
    },
  },
};

/** Until three pods run, none of them on a node that is lost. */
async function threeRun(cluster: CloudCluster, mostSeconds = 180): Promise<number> {
  return cluster.until(
    'three pods run',
    async () => {
      const pods = await cluster.list(podKind);
      return pods.length === 3 && pods.every(({ status, metadata }) => status.phase === 'Running' && metadata.deletionTimestamp === undefined);
    },
    mostSeconds,
  );
}

async function scale(cluster: CloudCluster, replicas: number): Promise<void> {
  ok(await cluster.client.patch(deploymentKind, { namespace: 'default', name: 'stateful' }, { type: 'merge', body: { spec: { replicas } } }));
}

async function deploy(cluster: CloudCluster, zones: readonly string[]): Promise<void> {
  const { class: storageClass, claim } = storage(zones);
  await cluster.apply(storageClassKind, storageClass);
  await cluster.apply(persistentVolumeClaimKind, claim);
  await cluster.world.sleep(60_000);
  const [waiting] = await cluster.events('PersistentVolumeClaim', 'ebs-claim');
  expect(waiting).toMatchObject({
    type: 'Normal',
    reason: 'WaitForFirstConsumer',
    from: 'persistentvolume-controller',
    message: 'waiting for first consumer to be created before binding',
  });
  expect(await cluster.launched()).toEqual([]);
  await cluster.apply(deploymentKind, workload);
}

const claimOf = async (cluster: CloudCluster) => ok(await cluster.client.get(persistentVolumeClaimKind, { namespace: 'default', name: 'ebs-claim' }));

test('the node is launched where the class says, three pods share it, consolidation removes it, and scaling out brings one in the same zone', async () => {
  await inCloud(async (cluster) => {
    // aws ec2 describe-availability-zones --query 'AvailabilityZones[0].ZoneName'
    const firstZone = cluster.cloud.region.zones[0]?.name ?? '';
    expect(firstZone).toBe('eu-west-2a');
    await deploy(cluster, [firstZone]);
    expect(await threeRun(cluster)).toBeLessThan(120);
    const claim = await claimOf(cluster);
    expect(claim.status).toMatchObject({ phase: 'Bound', capacity: { storage: '4Gi' }, accessModes: ['ReadWriteOnce'] });
    // kubectl get nodes -L … -l karpenter.sh/initialized=true
    const columns = ['karpenter.sh/initialized', 'karpenter.sh/capacity-type', 'beta.kubernetes.io/instance-type', 'karpenter.sh/nodepool', zoneLabel];
    expect(await cluster.nodes(...columns)).toEqual([['true', 'spot', expect.stringMatching(/^[a-z0-9]+\.xlarge$/), 'default', firstZone]]);
    const { name: nodeName = '' } = (await cluster.onlyNode()).metadata;
    expect(nodeName).toMatch(/^ip-10-0-\d+-\d+\.eu-west-2\.compute\.internal$/);
    expect(new Set((await cluster.list(podKind)).map(({ spec }) => spec.nodeName))).toEqual(new Set([nodeName]));

    // kubectl delete pod $POD
    const [pod] = await cluster.list(podKind);
    ok(await cluster.client.delete(podKind, { namespace: 'default', name: pod?.metadata.name ?? '' }));
    await threeRun(cluster, 30);
    expect((await cluster.list(podKind)).map(({ spec }) => spec.nodeName)).toEqual([nodeName, nodeName, nodeName]);
    expect((await claimOf(cluster)).spec.volumeName).toBe(claim.spec.volumeName);

    // kubectl scale deployment stateful --replicas 0: "Wait around two minutes"
    await scale(cluster, 0);
    expect(await cluster.until('the node is removed', async () => (await cluster.launched()).length === 0)).toBeLessThan(150);
    const disrupted = await cluster.events('Node', nodeName);
    expect(disrupted.map(({ message }) => message)).toContain('Disrupting Node: Empty');
    expect(await cluster.list(nodeClaimKind)).toEqual([]);
    expect(cluster.runningInstances()).toEqual([]);
    // The volume was detached before the instance ended.
    expect(cluster.calls.at(-1)).toMatch(/^ControllerUnpublishVolume /);
    expect((await claimOf(cluster)).status.phase).toBe('Bound');

    // kubectl scale deployment stateful --replicas 3
    await scale(cluster, 3);
    expect(await threeRun(cluster)).toBeLessThan(120);
    expect(await cluster.nodes(zoneLabel)).toEqual([[firstZone]]);
    expect((await claimOf(cluster)).spec.volumeName).toBe(claim.spec.volumeName);
    expect(cluster.calls.filter((call) => call.startsWith('CreateVolume'))).toHaveLength(1);
  });
});

test('a class for several zones: the node comes up in one of them, and the claim stays there', async () => {
  await inCloud(async (cluster) => {
    const zones = ['eu-west-2b', 'eu-west-2c'];
    await deploy(cluster, zones);
    await threeRun(cluster);
    const [[zone = ''] = []] = await cluster.nodes(zoneLabel);
    expect(zones).toContain(zone);
    await scale(cluster, 0);
    await cluster.until('the node is removed', async () => (await cluster.launched()).length === 0);
    await scale(cluster, 3);
    await threeRun(cluster);
    expect(await cluster.nodes(zoneLabel)).toEqual([[zone]]);
  });
});

test('a lost node: the pods get another one, and their volume six minutes later, with the events of the document in order', async () => {
  await inCloud(async (cluster) => {
    await deploy(cluster, ['eu-west-2a']);
    await threeRun(cluster);
    const lost = await cluster.onlyNode();
    const instance = lost.spec.providerID?.split('/').at(-1) ?? '';
    cluster.cloud.setFaults([{ fault: 'frozen-instance', instance }]);
    await cluster.until(
      'three new pods run on another node',
      async () => {
        const pods = (await cluster.list(podKind)).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
        return pods.length === 3 && pods.every(({ spec, status }) => status.phase === 'Running' && spec.nodeName !== lost.metadata.name);
      },
      1200,
    );
    const [pod] = (await cluster.list(podKind)).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    const events = await cluster.events('Pod', pod?.metadata.name ?? '');
    // Events of one second are in no order: the older API counts no fractions.
    const order = [
      'FailedScheduling',
      'Nominated',
      'Scheduled',
      'FailedAttachVolume',
      'FailedMount',
      'SuccessfulAttachVolume',
      'Pulling',
      'Pulled',
      'Created',
      'Started',
    ];
    const seconds = order.map((reason) => events.find((event) => event.reason === reason)?.second ?? Number.NaN);
    expect(seconds).toEqual(seconds.toSorted((a, b) => a - b));
    expect(new Set(events.map(({ reason }) => reason))).toEqual(new Set(order));
    const [scheduled = 0, attached = 0] = ['Scheduled', 'SuccessfulAttachVolume'].map((reason) => events.find((event) => event.reason === reason)?.second);
    expect(attached - scheduled).toBeGreaterThan(5 * 60);
    const says = (reason: string, old: string) => expect(events.find((event) => event.reason === reason)?.message).toMatch(today(old));
    says('Nominated', 'Pod should schedule on: machine/default-75hvl');
    says('FailedAttachVolume', `Multi-Attach error for volume "pvc-1" Volume is already exclusively attached to one node and can't be attached to another`);
    says(
      'FailedMount',
      'Unable to attach or mount volumes: unmounted volumes=[persistent-storage], unattached volumes=[persistent-storage], failed to process volumes=[]: timed out waiting for the condition',
    );
    expect(events.map(({ from }) => from)).toEqual(expect.arrayContaining(['default-scheduler', 'karpenter', 'attachdetach-controller', 'kubelet']));
    expect(cluster.calls.filter((call) => call.startsWith('CreateVolume'))).toHaveLength(1);
  });
});
