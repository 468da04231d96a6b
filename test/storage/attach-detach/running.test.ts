/** The attach/detach controllers, running, on the real registry, in simulated time: volumes and pods. */
import { expect, test } from 'vitest';
import { csiDriverKind } from '../../../src/api/kinds/storage/csi-driver.ts';
import { persistentVolumeClaimKind } from '../../../src/api/kinds/core/persistent-volume-claim.ts';
import { persistentVolumeKind } from '../../../src/api/kinds/core/persistent-volume.ts';
import { volumeAttachmentKind } from '../../../src/api/kinds/storage/volume-attachment.ts';
import { podKind } from '../../../src/api/kinds/pod/pod.ts';
import { ApiError } from '../../../src/api/status.ts';
import type { TransportRequest } from '../../../src/client/transport.ts';
import { SimulatedProcess } from '../../../src/sim/world/process.ts';
import { simulate } from '../../../src/sim/world/world.ts';
import { attachmentName, Cluster, runAttachDetach } from './cluster.ts';
import { attachedWeb, minutes, withCluster, settled } from './fixture.ts';

test(
  'a volume is attached for a pod, listed, and detached after it: off the list first, then its attachment',
  withCluster(async ({ cluster, world, shows }) => {
    await cluster.volume('vol');
    await cluster.pod('web', 'n1', 'vol');
    await shows('va/vol@n1');
    expect((await cluster.attachments())[0]?.metadata.name).toBe(attachmentName('vol', 'n1'));
    await cluster.attached('vol', 'n1');
    await shows('node/n1 vol', 'va/vol@n1 attached');
    expect(await cluster.events()).toEqual(['web SuccessfulAttachVolume: AttachVolume.Attach succeeded for volume "vol" ']);
    await cluster.deletePod('web');
    await shows('va/vol@n1 attached deleting');
    await cluster.detached('vol', 'n1');
    await shows();
    const revision = cluster.revision();
    await world.sleep(60 * minutes);
    expect(cluster.revision()).toBe(revision);
  }),
);

test(
  'a failed attach is an event of the pod; the attachment stays until the node’s next status',
  withCluster(async ({ cluster, shows }) => {
    await cluster.volume('vol');
    await cluster.pod('web', 'n1', 'vol');
    await shows('va/vol@n1');
    await cluster.answer('vol', 'n1', { attached: false, attachError: { message: 'disk is on fire', time: '2026-01-01T00:00:00Z' } });
    await shows('va/vol@n1');
    expect(await cluster.events()).toEqual(['web FailedAttachVolume: AttachVolume.Attach failed for volume "vol" : disk is on fire']);
    await cluster.deletePod('web');
    await shows('va/vol@n1');
    await cluster.report('n1', { conditions: [{ type: 'Ready', status: 'True', reason: 'KubeletReady', lastHeartbeatTime: null, lastTransitionTime: null }] });
    await shows();
  }),
);

test(
  'an attach without an answer is an event after two minutes, and is not undone before',
  withCluster(async ({ cluster, world, shows }) => {
    await cluster.volume('vol');
    await cluster.volume('other');
    await cluster.pod('web', 'n1', 'vol');
    await cluster.pod('short', 'n2', 'other');
    await world.sleep(settled);
    await cluster.deletePod('short');
    await shows('va/other@n2', 'va/vol@n1');
    await world.sleep(2 * minutes);
    await cluster.report('n2', { volumesInUse: [] });
    await cluster.inUse('n2', 'unrelated');
    await shows('node/n2 in use: unrelated', 'va/vol@n1');
    expect(await cluster.events()).toEqual([
      'web FailedAttachVolume: AttachVolume.Attach failed for volume "vol" : timed out waiting for external-attacher of driver CSI driver to attach volume handle-vol',
    ]);
  }),
);

test(
  'a volume for one node waits until the other node is done with it, and its pod gets an event',
  withCluster(async ({ cluster, shows }) => {
    await cluster.volume('vol');
    await cluster.pod('one', 'n1', 'vol');
    await shows('va/vol@n1');
    await cluster.attached('vol', 'n1');
    await cluster.pod('two', 'n2', 'vol');
    await shows('node/n1 vol', 'va/vol@n1 attached');
    await cluster.deletePod('one');
    await shows('va/vol@n1 attached deleting');
    await cluster.detached('vol', 'n1');
    await shows('va/vol@n2');
    await cluster.attached('vol', 'n2');
    await shows('node/n2 vol', 'va/vol@n2 attached');
    expect(await cluster.events()).toEqual([
      'one SuccessfulAttachVolume: AttachVolume.Attach succeeded for volume "vol" ',
      'two FailedAttachVolume: Waiting for detach for volume "vol" Volume is already used by pod(s) one',
      'two SuccessfulAttachVolume: AttachVolume.Attach succeeded for volume "vol" ',
    ]);
  }),
);

test('an attachment that the server refuses is an event of the pod', () =>
  simulate(1, async (world) => {
    const cluster = await Cluster.start(world);
    const { transport } = cluster;
    const error = new ApiError(403, 'Forbidden', 'volumeattachments is forbidden: not today');
    const isRefused = ({ info }: TransportRequest) => info.type === 'resource' && info.verb === 'create' && info.resource === 'volumeattachments';
    runAttachDetach({ ...transport, send: async (request) => (isRefused(request) ? { type: 'failed', error } : transport.send(request)) }, world);
    await cluster.node('n1');
    await cluster.volume('vol');
    await cluster.pod('web', 'n1', 'vol');
    await world.sleep(settled);
    expect(await cluster.events()).toEqual([
      'web FailedAttachVolume: AttachVolume.Attach failed for volume "vol" : kubernetes.io/csi: attacher.Attach failed: volumeattachments is forbidden: not today',
    ]);
  }));

test(
  'two pods that want a volume for one node at the same moment: one gets it',
  withCluster(async ({ cluster, world }) => {
    await cluster.volume('vol');
    await Promise.all([cluster.pod('one', 'n1', 'vol'), cluster.pod('two', 'n2', 'vol')]);
    await world.sleep(settled);
    expect(await cluster.attachments()).toHaveLength(1);
  }),
);

test(
  'a volume for many nodes is attached to each',
  withCluster(async ({ cluster, shows }) => {
    await cluster.volume('vol', 'ReadWriteMany');
    await cluster.pod('one', 'n1', 'vol');
    await cluster.pod('two', 'n2', 'vol');
    await shows('va/vol@n1', 'va/vol@n2');
    await cluster.attached('vol', 'n1');
    await cluster.attached('vol', 'n2');
    await shows('node/n1 vol', 'node/n2 vol', 'va/vol@n1 attached', 'va/vol@n2 attached');
    await cluster.deletePod('one');
    await shows('node/n2 vol', 'va/vol@n1 attached deleting', 'va/vol@n2 attached');
  }),
);

test(
  'a driver wants attachments unless it says otherwise, and may say so late',
  withCluster(async ({ cluster, shows }) => {
    await cluster.driver(false);
    await cluster.volume('vol');
    await cluster.pod('web', 'n1', 'vol');
    await shows();
    await cluster.delete(csiDriverKind, { name: 'driver' });
    await shows('va/vol@n1');
    await cluster.attached('vol', 'n1');
    await shows('node/n1 vol', 'va/vol@n1 attached');
    await cluster.driver(false);
    await shows('va/vol@n1 attached deleting');
  }),
);

test(
  'pods that are over need no volumes; pods that stop need them as long as a container runs',
  withCluster(async ({ cluster, world, shows }) => {
    for (const name of ['done', 'idle', 'busy']) {
      await cluster.volume(name);
      await cluster.pod(name, 'n1', name);
      await world.sleep(settled);
      await cluster.attached(name, 'n1');
    }
    const image = { name: 'app', image: 'image', imageID: 'x', ready: true, restartCount: 0, lastState: {} };
    const running = { containerStatuses: [{ ...image, state: { running: { startedAt: '2026-01-01T00:00:00Z' } } }] };
    const ended = { containerStatuses: [{ ...image, state: { terminated: { exitCode: 0, startedAt: null, finishedAt: null } } }] };
    await cluster.podStatus('done', { phase: 'Succeeded' });
    await cluster.podStatus('idle', ended);
    await cluster.podStatus('busy', running);
    await cluster.deletePod('idle', 30);
    await cluster.deletePod('busy', 30);
    await shows('node/n1 busy', 'va/busy@n1 attached', 'va/done@n1 attached deleting', 'va/idle@n1 attached deleting');
    await cluster.podStatus('busy', ended);
    await shows('va/busy@n1 attached deleting', 'va/done@n1 attached deleting', 'va/idle@n1 attached deleting');
  }),
);

test(
  'a claim that is bound after its pod got a node makes its volume attached then',
  withCluster(async ({ cluster, shows }) => {
    await cluster.claim('vol');
    await cluster.pod('web', 'n1', 'vol');
    await shows();
    await cluster.client.create(persistentVolumeKind, {
      metadata: { name: 'vol' },
      spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], csi: { driver: 'driver', volumeHandle: 'handle-vol' } },
    });
    await shows();
    await cluster.bind('vol', 'vol');
    await shows('va/vol@n1');
  }),
);

test(
  'a running pod keeps its volume, whatever becomes of its claim',
  withCluster(async ({ cluster, world, shows }) => {
    await attachedWeb({ cluster, world });
    await cluster.changeStatus(persistentVolumeClaimKind, { namespace: 'default', name: 'vol' }, (claim) => ({ ...claim, status: { phase: 'Lost' } }));
    await shows('node/n1 vol', 'va/vol@n1 attached');
    await cluster.change(persistentVolumeKind, { name: 'vol' }, (volume) => ({ ...volume, metadata: { ...volume.metadata, finalizers: [] } }));
    await cluster.delete(persistentVolumeKind, { name: 'vol' });
    await shows('node/n1 vol', 'va/vol@n1 attached');
    await cluster.deletePod('web');
    await shows('va/vol@n1 attached deleting');
  }),
);

test(
  'an attachment that a user deletes under a pod is created again once it is gone',
  withCluster(async ({ cluster, world, shows }) => {
    await attachedWeb({ cluster, world });
    await cluster.delete(volumeAttachmentKind, { name: attachmentName('vol', 'n1') });
    await shows('node/n1 vol', 'va/vol@n1 attached deleting');
    await cluster.detached('vol', 'n1');
    await shows('va/vol@n1');
    expect(await cluster.events()).toHaveLength(1);
  }),
);

test(
  'a pod that comes back while its volume is being detached waits for the end of that',
  withCluster(async ({ cluster, world, shows }) => {
    await attachedWeb({ cluster, world });
    await cluster.deletePod('web');
    await shows('va/vol@n1 attached deleting');
    await cluster.pod('again', 'n1', 'vol');
    await shows('va/vol@n1 attached deleting');
    await cluster.detached('vol', 'n1');
    await shows('va/vol@n1');
  }),
);

test(
  'attachments that others made are theirs',
  withCluster(async ({ cluster, world, shows }) => {
    await cluster.volume('vol');
    for (const name of ['by-hand', `csi-${'0'.repeat(64)}`]) {
      const spec = { attacher: 'driver', nodeName: 'n1', source: { persistentVolumeName: 'vol' } };
      expect(await cluster.client.create(volumeAttachmentKind, { metadata: { name }, spec })).toMatchObject({ ok: true });
    }
    await world.sleep(10 * minutes);
    await shows('va/vol@n1', 'va/vol@n1');
  }),
);

test(
  'the claim of an ephemeral volume counts only if it was made for the pod',
  withCluster(async ({ cluster, shows }) => {
    await cluster.volume('web-scratch');
    const spec = {
      nodeName: 'n1',
      automountServiceAccountToken: false,
      containers: [{ name: 'app', image: 'image' }],
      volumes: [
        {
          name: 'scratch',
          ephemeral: { volumeClaimTemplate: { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, storageClassName: '' } } },
        },
      ],
    };
    const pod = await cluster.client.create(podKind, { metadata: { name: 'web', namespace: 'default' }, spec });
    if (!pod.ok) throw pod.error;
    await shows();
    const owner = { apiVersion: 'v1', kind: 'Pod', name: 'web', uid: pod.value.metadata.uid ?? '', controller: true };
    await cluster.change(persistentVolumeClaimKind, { namespace: 'default', name: 'web-scratch' }, (claim) => ({
      ...claim,
      metadata: { ...claim.metadata, ownerReferences: [owner] },
    }));
    await shows('va/web-scratch@n1');
  }),
);

test(
  'a volume of a plugin that left the tree is attached by the driver that took over; other kinds never are',
  withCluster(async ({ cluster, world }) => {
    await cluster.volume('ebs', 'ReadWriteOnce', { awsElasticBlockStore: { volumeID: 'aws://eu-west-1a/vol-1' } });
    await cluster.volume('path', 'ReadWriteOnce', { hostPath: { path: '/tmp/path' } });
    await cluster.volume('share', 'ReadWriteOnce', { nfs: { server: 'server', path: '/share' } });
    await cluster.pod('web', 'n1', 'ebs', 'path', 'share');
    await world.sleep(settled);
    expect((await cluster.attachments()).map(({ spec }) => spec)).toEqual([
      { attacher: 'ebs.csi.aws.com', nodeName: 'n1', source: { persistentVolumeName: 'ebs' } },
    ]);
  }),
);

test('a new process finds what an old one left, volumes and pods long gone', () =>
  simulate(1, async (world) => {
    const cluster = await Cluster.start(world);
    const first = new SimulatedProcess(world, 'first');
    runAttachDetach(first.transport(cluster.transport), first);
    await cluster.node('n1');
    await attachedWeb({ cluster, world });
    first.kill();
    await cluster.deletePod('web');
    await cluster.delete(persistentVolumeClaimKind, { namespace: 'default', name: 'vol' });
    await cluster.change(persistentVolumeClaimKind, { namespace: 'default', name: 'vol' }, (claim) => ({
      ...claim,
      metadata: { ...claim.metadata, finalizers: [] },
    }));
    await cluster.delete(persistentVolumeKind, { name: 'vol' });
    await cluster.change(persistentVolumeKind, { name: 'vol' }, (volume) => ({ ...volume, metadata: { ...volume.metadata, finalizers: [] } }));
    runAttachDetach(cluster.transport, world);
    await world.sleep(settled);
    expect(await cluster.look()).toEqual(['node/n1', 'va/vol@n1 attached deleting']);
  }));

test('a volume is detached by what the server says of its node, not by what the caches say', () =>
  simulate(1, async (world) => {
    const cluster = await Cluster.start(world);
    let isDeaf = false;
    // A watch that has stalled: what nodes report is not heard of.
    const stalled: typeof cluster.transport = {
      send: (request) => cluster.transport.send(request),
      watch: (request, sink) => {
        const isOfNodes = request.info.type === 'resource' && request.info.resource === 'nodes';
        return cluster.transport.watch(request, isOfNodes ? { ...sink, events: (batch) => void (isDeaf || sink.events(batch)) } : sink);
      },
    };
    runAttachDetach(stalled, world);
    await cluster.node('n1');
    await cluster.volume('vol');
    await cluster.pod('web', 'n1', 'vol');
    await world.sleep(settled);
    isDeaf = true;
    await cluster.inUse('n1', 'vol');
    await cluster.attached('vol', 'n1');
    await world.sleep(settled);
    await cluster.deletePod('web');
    await world.sleep(10 * settled);
    expect(await cluster.look()).toEqual(['node/n1 in use: vol', 'va/vol@n1 attached']);
    await cluster.inUse('n1');
    await world.sleep(minutes);
    expect(await cluster.look()).toEqual(['node/n1', 'va/vol@n1 attached deleting']);
  }));
