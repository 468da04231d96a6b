/** Disks that pods name themselves, in the words of plugins that left the tree: attached like volumes of the drivers that took over. */
import { expect, test } from 'vitest';
import type { Pod } from '../../../src/api/generated/types.ts';
import { nodeKind } from '../../../src/api/kinds/core/node.ts';
import { volumeAttachmentKind } from '../../../src/api/kinds/storage/volume-attachment.ts';
import { podKind } from '../../../src/api/kinds/pod/pod.ts';
import type { Draft } from '../../../src/client/client.ts';
import { SimulatedProcess } from '../../../src/sim/world/process.ts';
import { simulate } from '../../../src/sim/world/world.ts';
import { Cluster, runAttachDetach, sha256 } from './cluster.ts';
import { withCluster, settled } from './fixture.ts';

type Source = NonNullable<Draft<Pod['spec']['volumes']>>[number];

const ebs: Source = { name: 'data', awsElasticBlockStore: { volumeID: 'vol-1', fsType: 'ext4' } };
const name = (node: string) => `csi-${sha256(`vol-1ebs.csi.aws.com${node}`)}`;

async function run({ client }: Cluster, pod: string, node: string, volume: Source = ebs): Promise<void> {
  const made = await client.create(podKind, {
    metadata: { namespace: 'default', name: pod },
    spec: {
      nodeName: node,
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 0,
      containers: [{ name: 'app', image: 'x' }],
      volumes: [volume],
    },
  });
  if (!made.ok) throw made.error;
}

const attach = (cluster: Cluster, node: string) =>
  cluster.changeStatus(volumeAttachmentKind, { name: name(node) }, (va) => ({ ...va, status: { attached: true } }));

const listed = async ({ client }: Cluster, node: string): Promise<readonly string[]> => {
  const found = await client.get(nodeKind, { name: node });
  if (!found.ok) throw found.error;
  return (found.value.status.volumesAttached ?? []).map((volume) => volume.name);
};

test(
  'its attachment says itself what it is, since no PersistentVolume does',
  withCluster(async ({ cluster, world }) => {
    await run(cluster, 'web', 'n1');
    await world.sleep(settled);
    const [attachment] = await cluster.attachments();
    expect(attachment?.metadata.name).toBe(name('n1'));
    expect(attachment?.spec).toEqual({
      attacher: 'ebs.csi.aws.com',
      nodeName: 'n1',
      source: {
        inlineVolumeSpec: {
          accessModes: ['ReadWriteOnce'],
          csi: { driver: 'ebs.csi.aws.com', volumeHandle: 'vol-1', fsType: 'ext4', volumeAttributes: { partition: '0' } },
        },
      },
    });
    await attach(cluster, 'n1');
    await world.sleep(settled);
    expect(await listed(cluster, 'n1')).toEqual(['kubernetes.io/csi/ebs.csi.aws.com^vol-1']);
    expect(await cluster.events()).toEqual(['web SuccessfulAttachVolume: AttachVolume.Attach succeeded for volume "ebs.csi.aws.com-vol-1" ']);
    await cluster.deletePod('web');
    await world.sleep(settled);
    expect([await cluster.attachments(), await listed(cluster, 'n1')]).toEqual([[], []]);
  }),
);

test(
  'a second node waits until the first has given it back',
  withCluster(async ({ cluster, world }) => {
    await run(cluster, 'one', 'n1');
    await world.sleep(settled);
    await attach(cluster, 'n1');
    await world.sleep(settled);
    await run(cluster, 'two', 'n2');
    await world.sleep(settled);
    expect((await cluster.attachments()).map(({ spec }) => spec.nodeName)).toEqual(['n1']);
    expect(await cluster.events()).toContain(
      'two FailedAttachVolume: Waiting for detach for volume "ebs.csi.aws.com-vol-1" Volume is already used by pod(s) one',
    );
    await cluster.deletePod('one');
    await world.sleep(settled);
    expect((await cluster.attachments()).map(({ spec }) => spec.nodeName)).toEqual(['n2']);
  }),
);

test(
  'one that is only read goes to many nodes',
  withCluster(async ({ cluster, world }) => {
    const disk: Source = { name: 'data', gcePersistentDisk: { pdName: 'disk', readOnly: true } };
    await run(cluster, 'one', 'n1', disk);
    await run(cluster, 'two', 'n2', disk);
    await world.sleep(settled);
    expect((await cluster.attachments()).map(({ spec }) => spec.nodeName).sort()).toEqual(['n1', 'n2']);
  }),
);

test(
  'it may be that of a PersistentVolume as well, and is one disk all the same',
  withCluster(async ({ cluster, world }) => {
    await cluster.volume('vol', 'ReadWriteOnce', { awsElasticBlockStore: { volumeID: 'vol-1' } });
    await cluster.pod('claimant', 'n1', 'vol');
    await run(cluster, 'web', 'n1');
    await world.sleep(settled);
    await attach(cluster, 'n1');
    await cluster.deletePod('claimant');
    await world.sleep(settled);
    expect((await cluster.attachments()).map(({ metadata, status }) => [metadata.name, status.attached])).toEqual([[name('n1'), true]]);
  }),
);

test('a new process finds what an old one left', () =>
  simulate(1, async (world) => {
    const cluster = await Cluster.start(world);
    await cluster.node('n1');
    const process = new SimulatedProcess(world, 'first');
    runAttachDetach(process.transport(cluster.transport), process);
    await run(cluster, 'web', 'n1');
    await world.sleep(settled);
    await attach(cluster, 'n1');
    await world.sleep(settled);
    process.kill();
    await cluster.deletePod('web');
    runAttachDetach(cluster.transport, world);
    await world.sleep(settled);
    expect([await cluster.attachments(), await listed(cluster, 'n1')]).toEqual([[], []]);
  }));
