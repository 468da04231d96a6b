/** The attacher of drivers in this process, running with attach/detach, on the real registry, in simulated time. */
import { expect, test } from 'vitest';
import type { VolumeAttachment } from '../../src/api/generated/types.ts';
import { csiNodeKind } from '../../src/api/kinds/storage/csi-node.ts';
import { eventKind } from '../../src/api/kinds/core/event.ts';
import { nodeKind } from '../../src/api/kinds/core/node.ts';
import { persistentVolumeClaimKind } from '../../src/api/kinds/core/persistent-volume-claim.ts';
import { persistentVolumeKind } from '../../src/api/kinds/core/persistent-volume.ts';
import { volumeAttachmentKind } from '../../src/api/kinds/storage/volume-attachment.ts';
import { podKind } from '../../src/api/kinds/pod/pod.ts';
import { failed } from '../../src/drivers/contract.ts';
import { simulate } from '../../src/sim/world/world.ts';
import { ok, SimulatedCluster } from '../../src/sim/cluster/simulated-cluster.ts';

const inDefault = (name: string) => ({ namespace: 'default', name });
const uses = (claimName: string) => [{ name: 'data', persistentVolumeClaim: { claimName } }];

/** A disk, a claim on it, and two nodes. */
async function setUp(cluster: SimulatedCluster): Promise<void> {
  const driver = cluster.disks.capabilities.name;
  const annotations = { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' };
  for (const name of ['n1', 'n2']) {
    await cluster.create(nodeKind, { metadata: { name, annotations }, status: { conditions: [{ type: 'Ready', status: 'True' }] } });
    await cluster.create(csiNodeKind, { metadata: { name }, spec: { drivers: [{ name: driver, nodeID: `id-of-${name}`, topologyKeys: [] }] } });
  }
  await cluster.volume('vol', { hostPath: undefined, csi: { driver, volumeHandle: 'disk' } });
  await cluster.claim('data');
}

const inCluster = (body: (cluster: SimulatedCluster) => Promise<void>) => () =>
  simulate(1, async (world) => {
    const cluster = await SimulatedCluster.start(world, {});
    await setUp(cluster);
    await body(cluster);
  });

const attachments = async ({ client }: SimulatedCluster): Promise<readonly VolumeAttachment[]> => ok(await client.list(volumeAttachmentKind)).items;
const attachedOn = ({ disks }: SimulatedCluster): readonly string[] => [...disks.attached].sort();

test(
  'a pod gets its disk, and gives it back',
  inCluster(async (cluster) => {
    await cluster.pod('web', 'n1', uses('data'));
    await cluster.wait();
    expect((await attachments(cluster)).map(({ status }) => status)).toEqual([{ attached: true, attachmentMetadata: { device: '/dev/disk' } }]);
    expect(attachedOn(cluster)).toEqual(['id-of-n1 disk']);
    expect(ok(await cluster.client.get(nodeKind, { name: 'n1' })).status.volumesAttached?.map(({ name }) => name)).toEqual([
      'kubernetes.io/csi/disks.example.com^disk',
    ]);
    await cluster.delete(podKind, inDefault('web'));
    await cluster.wait();
    expect(await attachments(cluster)).toEqual([]);
    expect(attachedOn(cluster)).toEqual([]);
  }),
);

test(
  'a volume is not gone before it is detached',
  inCluster(async (cluster) => {
    await cluster.pod('web', 'n1', uses('data'));
    await cluster.wait();
    await cluster.delete(persistentVolumeKind, { name: 'vol' });
    await cluster.delete(persistentVolumeClaimKind, inDefault('data'));
    await cluster.wait();
    expect(ok(await cluster.client.get(persistentVolumeKind, { name: 'vol' })).metadata.finalizers).toContain('external-attacher/disks-example-com');
    await cluster.delete(podKind, inDefault('web'));
    await cluster.wait(10_000);
    expect(attachedOn(cluster)).toEqual([]);
    expect(await cluster.client.get(persistentVolumeKind, { name: 'vol' })).toMatchObject({ ok: false, reason: 'notFound' });
  }),
);

test(
  'a disk that was detached in the backend is attached again within a minute',
  inCluster(async (cluster) => {
    await cluster.pod('web', 'n1', uses('data'));
    await cluster.wait();
    cluster.disks.attached.clear();
    await cluster.wait(61_000);
    expect(attachedOn(cluster)).toEqual(['id-of-n1 disk']);
    const calls = cluster.disks.calls.length;
    await cluster.wait(600_000);
    expect(cluster.disks.calls).toHaveLength(calls);
  }),
);

test(
  'a disk whose attachment was taken away by force is detached within a minute, unless the node has it mounted',
  inCluster(async (cluster) => {
    const uniqueName = 'kubernetes.io/csi/disks.example.com^disk';
    cluster.disks.attached.add('id-of-n2 disk');
    await cluster.changeStatus(nodeKind, { name: 'n2' }, (node) => ({ ...node, status: { ...node.status, volumesInUse: [uniqueName] } }));
    await cluster.wait(180_000);
    expect(attachedOn(cluster)).toEqual(['id-of-n2 disk']);
    await cluster.changeStatus(nodeKind, { name: 'n2' }, (node) => ({ ...node, status: { ...node.status, volumesInUse: [] } }));
    await cluster.wait(61_000);
    expect(attachedOn(cluster)).toEqual([]);
  }),
);

test(
  'disks and nodes of other clusters are left alone',
  inCluster(async (cluster) => {
    cluster.disks.attached.add('id-of-n1 foreign').add('elsewhere disk');
    await cluster.wait(180_000);
    expect(attachedOn(cluster)).toEqual(['elsewhere disk', 'id-of-n1 foreign']);
    expect(cluster.disks.calls).toEqual([]);
  }),
);

test(
  'a backend that fails is asked again, and the pod gets an event',
  inCluster(async (cluster) => {
    const full = { ok: false, code: 'Internal', message: 'no slots left' } as const;
    cluster.disks.failures.push(full, full, full, { ok: false, code: 'DeadlineExceeded', message: 'slow' });
    await cluster.pod('web', 'n1', uses('data'));
    await cluster.wait(500);
    expect((await attachments(cluster))[0]?.status.attachError?.message).toBe('no slots left');
    const events = ok(await cluster.client.list(eventKind)).items.filter(({ reason }) => reason === 'FailedAttachVolume');
    expect(events.map(({ message }) => message)).toEqual(['AttachVolume.Attach failed for volume "vol" : no slots left']);
    await cluster.wait(30_000);
    expect((await attachments(cluster)).map(({ status }) => status)).toEqual([{ attached: true, attachmentMetadata: { device: '/dev/disk' } }]);
    expect(cluster.disks.calls.filter((call) => call.startsWith('publish'))).toHaveLength(5);
  }),
);

test(
  'a detach that the backend did not confirm is not done: the attachment stays, with the error, until it is',
  inCluster(async (cluster) => {
    await cluster.pod('web', 'n1', uses('data'));
    await cluster.wait();
    const refusals = Array.from({ length: 4 }, () => failed('Unavailable', 'the backend does not answer'));
    cluster.disks.failures.push(...refusals);
    await cluster.delete(podKind, inDefault('web'));
    const [attachment] = await attachments(cluster);
    expect(attachment?.status.detachError?.message).toContain('the backend does not answer');
    expect(attachment?.metadata.finalizers).toEqual(['external-attacher/disks-example-com']);
    expect(attachedOn(cluster)).toEqual(['id-of-n1 disk']);
    await cluster.wait(60_000);
    expect(await attachments(cluster)).toEqual([]);
    expect(attachedOn(cluster)).toEqual([]);
  }),
);
