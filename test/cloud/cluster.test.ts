/** A whole cluster with a cloud of its own: instances are nodes, claims are EBS volumes, and the cloud's ends are the cluster's. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { persistentVolumeClaimKind } from '../../src/api/kinds/core/persistent-volume-claim.ts';
import { persistentVolumeKind } from '../../src/api/kinds/core/persistent-volume.ts';
import { nodeKind } from '../../src/api/kinds/core/node.ts';
import { podKind } from '../../src/api/kinds/pod/pod.ts';
import { csiNodeKind } from '../../src/api/kinds/storage/csi-node.ts';
import { storageClassKind } from '../../src/api/kinds/storage/storage-class.ts';
import { type Client, createClient } from '../../src/client/client.ts';
import { HttpTransport } from '../../src/client/http-transport.ts';
import { loadKubeconfig } from '../../src/client/http-transport-kubeconfig.ts';
import { type Cluster, startCluster } from '../../src/cluster/cluster.ts';
import { Ec2Client } from '../../src/drivers/aws-ebs/ec2-client.ts';
import { type Element, itemsOf, textOf } from '../../src/drivers/aws-ebs/xml.ts';
import { createRealWorld } from '../../src/host/world.ts';

const quick = { median: 5, p99: 20 };
const latencies = { createVolume: quick, deleteVolume: quick, attach: quick, detach: quick, launch: quick, terminate: quick, call: quick };

let cluster: Cluster;
let client: Client;
let ec2: Ec2Client;
beforeAll(async () => {
  cluster = await startCluster({ cloud: { provider: 'aws', region: 'eu-west-2', latencies, bootMs: 10, nodes: 2, keepsNothing: true }, logLevel: 'error' });
  client = createClient({
    transport: new HttpTransport({ access: loadKubeconfig(cluster.kubeconfig), world: createRealWorld({ logLevel: 'error' }), userAgent: 'test' }),
  });
  const url = cluster.cloud?.url ?? '';
  ec2 = new Ec2Client({
    world: createRealWorld({ logLevel: 'error' }),
    host: new URL(url).host,
    region: 'eu-west-2',
    credentials: () => ({ accessKeyId: 'a', secretAccessKey: 'b' }),
    transport: async ({ headers, body }) => {
      const { host: _, ...sent } = headers;
      const answer = await fetch(url, { method: 'POST', headers: sent, body });
      return { status: answer.status, body: await answer.text() };
    },
  });
});
afterAll(() => cluster.stop());

const instanceIn = async (zone: string): Promise<Element | undefined> => {
  const answer = await ec2.call('DescribeInstances', { Filter: [{ Name: 'availability-zone', Value: [zone] }] });
  return itemsOf(itemsOf(answer, 'reservationSet')[0], 'instancesSet')[0];
};

const nodes = async () => {
  const all = await client.list(nodeKind);
  return all.ok ? all.value.items : expect.unreachable(all.error.message);
};

test('the instances are nodes, with the names, labels, provider ids and limits of their types', async () => {
  // The start waits for those that run.
  expect(cluster.nodes.running.map(({ zone }) => zone)).toEqual(['eu-west-2a', 'eu-west-2b']);
  expect((await nodes()).map(({ metadata }) => metadata.name).toSorted()).toEqual(cluster.nodes.running.map(({ name }) => name).toSorted());
  const instance = await instanceIn('eu-west-2a');
  const name = textOf(instance, 'privateDnsName');
  const node = (await nodes()).find(({ metadata }) => metadata.name === name);
  expect(node?.spec.providerID).toBe(`aws:///eu-west-2a/${textOf(instance, 'instanceId')}`);
  expect(node?.metadata.labels).toMatchObject({ 'node.kubernetes.io/instance-type': 'm5.xlarge', 'topology.kubernetes.io/zone': 'eu-west-2a' });
  const csiNode = await client.get(csiNodeKind, { name });
  expect(csiNode.ok && csiNode.value.spec.drivers).toMatchObject([
    { name: 'ebs.csi.aws.com', nodeID: textOf(instance, 'instanceId'), allocatable: { count: 26 } },
  ]);
});

test('a claim of the fourth document’s class becomes a volume in the zone, attached to the pod’s instance', async () => {
  const zone = 'eu-west-2b';
  await client.create(storageClassKind, {
    metadata: { name: 'storage-gp3' },
    provisioner: 'ebs.csi.aws.com',
    parameters: { type: 'gp3', 'csi.storage.k8s.io/fstype': 'ext4' },
    volumeBindingMode: 'WaitForFirstConsumer',
    allowedTopologies: [{ matchLabelExpressions: [{ key: 'topology.ebs.csi.aws.com/zone', values: [zone] }] }],
  });
  const namespace = 'default';
  await client.create(persistentVolumeClaimKind, {
    metadata: { namespace, name: 'ebs-claim' },
    spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'storage-gp3', resources: { requests: { storage: '4Gi' } } },
  });
  await client.create(podKind, {
    metadata: { namespace, name: 'stateful' },
    spec: {
      containers: [{ name: 'stateful', image: 'centos', volumeMounts: [{ name: 'persistent-storage', mountPath: '/data' }] }],
      volumes: [{ name: 'persistent-storage', persistentVolumeClaim: { claimName: 'ebs-claim' } }],
    },
  });
  const pod = async () => {
    const found = await client.get(podKind, { namespace, name: 'stateful' });
    return found.ok ? found.value : expect.unreachable(found.error.message);
  };
  await expect.poll(async () => (await pod()).status.phase).toBe('Running');
  const [volume] = itemsOf(await ec2.call('DescribeVolumes', { Filter: [{ Name: 'tag-key', Value: ['CSIVolumeName'] }] }), 'volumeSet');
  const [attachment] = itemsOf(volume, 'attachmentSet');
  expect([textOf(volume, 'availabilityZone'), textOf(volume, 'status'), textOf(attachment, 'device')]).toEqual([zone, 'in-use', '/dev/xvdaa']);
  const node = (await nodes()).find(({ metadata }) => metadata.name === undefined || metadata.labels?.['topology.kubernetes.io/zone'] === zone);
  expect((await pod()).spec.nodeName).toBe(node?.metadata.name);
  expect(node?.spec.providerID?.endsWith(textOf(attachment, 'instanceId'))).toBe(true);
  await client.delete(podKind, { namespace, name: 'stateful' }, { gracePeriodSeconds: 0 });
  await client.delete(persistentVolumeClaimKind, { namespace, name: 'ebs-claim' });
  await expect
    .poll(async () => itemsOf(await ec2.call('DescribeVolumes', { Filter: [{ Name: 'tag-key', Value: ['CSIVolumeName'] }] }), 'volumeSet').length)
    .toBe(0);
  const volumes = await client.list(persistentVolumeKind);
  expect(volumes.ok && volumes.value.items).toEqual([]);
});

test('an instance that is launched by hand becomes a node', async () => {
  const before = (await nodes()).length;
  await ec2.call('RunInstances', { InstanceType: 'm7g.xlarge', MinCount: 1, MaxCount: 1, Placement: { AvailabilityZone: 'eu-west-2c' } });
  await expect.poll(async () => (await nodes()).length).toBe(before + 1);
});
