/** Pods on hollow nodes wait for their volumes as with a kubelet; in simulated time, without other controllers. */
import { describe, expect, test } from 'vitest';
import type { PersistentVolume } from '../../src/api/generated/types.ts';
import { configMapKind } from '../../src/api/kinds/core/config-map.ts';
import { csiDriverKind } from '../../src/api/kinds/storage/csi-driver.ts';
import { nodeKind } from '../../src/api/kinds/core/node.ts';
import { persistentVolumeClaimKind } from '../../src/api/kinds/core/persistent-volume-claim.ts';
import { persistentVolumeKind } from '../../src/api/kinds/core/persistent-volume.ts';
import { secretKind } from '../../src/api/kinds/core/secret.ts';
import { volumeAttachmentKind } from '../../src/api/kinds/storage/volume-attachment.ts';
import { requestPath } from '../../src/api/request-info.ts';
import type { Transport } from '../../src/client/transport.ts';
import { simulate } from '../../src/sim/world/world.ts';
import { NodeCluster, sha256 } from './cluster.ts';

const onHollowNodes = (run: (cluster: NodeCluster) => Promise<void>) => () =>
  simulate(1, async (world) => {
    const cluster = await NodeCluster.start(world);
    await cluster.run({ world }).ready;
    await run(cluster);
    expect(world.lines.filter(({ level }) => level === 'error')).toEqual([]);
  });

const inDefault = (name: string) => ({ namespace: 'default', name });
const uniqueName = (volume: string) => `kubernetes.io/csi/driver^handle-${volume}`;
const attachment = (volume: string) => `csi-${sha256(`handle-${volume}drivernode-1`)}`;
const phase = async (cluster: NodeCluster, pod: string) => (await cluster.getPod(pod)).status.phase;
const hostPath = { hostPath: { path: '/tmp/vol' } };

/** As the attach/detach controller does: the attachment, then the node's list. */
async function attach(cluster: NodeCluster, volume: string, listed = true): Promise<void> {
  await cluster.create(volumeAttachmentKind, {
    metadata: { name: attachment(volume) },
    spec: { attacher: 'driver', nodeName: 'node-1', source: { persistentVolumeName: volume } },
  });
  await cluster.changeStatus(volumeAttachmentKind, { name: attachment(volume) }, (va) => ({ ...va, status: { attached: true } }));
  if (listed) await list(cluster, volume);
}

const list = (cluster: NodeCluster, ...volumes: readonly string[]) =>
  cluster.changeStatus(nodeKind, { name: 'node-1' }, (node) => ({
    ...node,
    status: { ...node.status, volumesAttached: volumes.map((volume) => ({ name: uniqueName(volume), devicePath: '' })) },
  }));

describe('a volume that has to be attached', () => {
  test(
    'is listed in volumesInUse, then waited for, and listed until the pod has ended',
    onHollowNodes(async (cluster) => {
      await cluster.volume('vol');
      await cluster.podWith('web', ['vol']);
      await cluster.world.sleep(60_000);
      expect(await cluster.inUse()).toEqual(['handle-vol']);
      expect(await phase(cluster, 'web')).toBe('Pending');
      // The kubelet waits without events.
      expect(await cluster.events('web')).toEqual([]);
      await attach(cluster, 'vol');
      await cluster.world.sleep(1000);
      expect(await phase(cluster, 'web')).toBe('Running');
      await cluster.deletePod('web');
      await cluster.world.sleep(1000);
      expect(await cluster.findPod('web')).toBeUndefined();
      expect(await cluster.inUse()).toEqual([]);
    }),
  );

  test(
    'is in use while its pod is stopping, and no longer once the pod has succeeded',
    onHollowNodes(async (cluster) => {
      for (const name of ['slow', 'done']) {
        await cluster.volume(name);
        await attach(cluster, name, false);
      }
      await list(cluster, 'slow', 'done');
      await cluster.podWith('slow', ['slow'], {}, { 'mooring.dev/stop-after': '10s' });
      await cluster.podWith('done', ['done'], { restartPolicy: 'Never' }, { 'mooring.dev/run-for': '5s' });
      await cluster.world.sleep(2000);
      await cluster.deletePod('slow');
      await cluster.world.sleep(1000);
      expect(await cluster.inUse()).toEqual(['handle-done', 'handle-slow']);
      await cluster.world.sleep(5000);
      expect(await phase(cluster, 'done')).toBe('Succeeded');
      expect(await cluster.inUse()).toEqual(['handle-slow']);
      await cluster.world.sleep(5000);
      expect(await cluster.inUse()).toEqual([]);
    }),
  );

  test.each([
    {
      period: 10,
      phase: 'Failed',
      reason: 'VolumeAttachmentLimitExceeded',
      start: 'VolumeAttachmentLimitExceeded: Node has reached its volume attachment limit',
    },
    { period: undefined, phase: 'Pending', reason: undefined, start: 'FailedMount: Unable to attach or mount volumes' },
  ])('and for which the node has no room, with a limit that changes every $period seconds: the pod is $phase in the end', ({ period, start, ...ends }) =>
    onHollowNodes(async (cluster) => {
      await cluster.create(csiDriverKind, {
        metadata: { name: 'driver' },
        spec: { attachRequired: true, ...(period === undefined ? {} : { nodeAllocatableUpdatePeriodSeconds: period }) },
      });
      await cluster.volume('vol');
      await cluster.podWith('web', ['vol']);
      await attach(cluster, 'vol', false);
      const attachError = { message: 'no room', errorCode: 8, time: '2026-01-01T00:00:00Z' };
      await cluster.changeStatus(volumeAttachmentKind, { name: attachment('vol') }, (va) => ({ ...va, status: { attached: false, attachError } }));
      await cluster.world.sleep(100_000);
      expect(await phase(cluster, 'web')).toBe('Pending');
      await cluster.world.sleep(30_000);
      const { status } = await cluster.getPod('web');
      expect({ phase: status.phase, reason: status.reason }).toEqual(ends);
      expect(await cluster.events('web')).toEqual([expect.stringContaining(start)]);
    })(),
  );

  test(
    'is not mounted without its VolumeAttachment',
    onHollowNodes(async (cluster) => {
      await cluster.volume('vol');
      await cluster.podWith('web', ['vol']);
      await cluster.world.sleep(1000);
      await list(cluster, 'vol');
      await cluster.world.sleep(10_000);
      expect(await phase(cluster, 'web')).toBe('Pending');
      const name = attachment('vol');
      expect((await cluster.events('web'))[0]).toContain(
        `FailedMount: MountVolume.WaitForAttach failed for volume "vol" : volume handle-vol has GET error for volume attachment ${name}: volumeattachments.storage.k8s.io "${name}" not found`,
      );
      await attach(cluster, 'vol');
      await cluster.world.sleep(1000);
      expect(await phase(cluster, 'web')).toBe('Running');
    }),
  );

  test(
    'of a driver that the node does not have cannot be mounted',
    onHollowNodes(async (cluster) => {
      await cluster.create(csiDriverKind, { metadata: { name: 'other' }, spec: { attachRequired: false } });
      await cluster.volume('vol', { csi: { driver: 'other', volumeHandle: 'h' } });
      await cluster.podWith('web', ['vol']);
      await cluster.world.sleep(1000);
      expect(await cluster.inUse()).toEqual([]);
      expect((await cluster.events('web'))[0]).toContain(
        'FailedMount: MountVolume.MountDevice failed for volume "vol" : kubernetes.io/csi: attacher.MountDevice failed to create newCsiDriverClient: driver name other not found in the list of registered CSI drivers',
      );
    }),
  );

  test(
    'needs no attachment any more if its driver says so',
    onHollowNodes(async (cluster) => {
      await cluster.volume('vol');
      await cluster.podWith('web', ['vol']);
      await cluster.world.sleep(1000);
      expect(await phase(cluster, 'web')).toBe('Pending');
      await cluster.create(csiDriverKind, { metadata: { name: 'driver' }, spec: { attachRequired: false } });
      await cluster.world.sleep(1000);
      expect(await phase(cluster, 'web')).toBe('Running');
      expect(await cluster.inUse()).toEqual([]);
    }),
  );

  test('is not mounted for the next pod while the node is about to remove it from volumesInUse', () =>
    simulate(1, async (world) => {
      const cluster = await NodeCluster.start(world);
      let answersTake = 0;
      // The node's status arrives at once, but its answer is late.
      const through = (server: Transport): Transport => ({
        ...server,
        send: async (request) => {
          const answer = await server.send(request);
          if (request.info.verb === 'patch' && requestPath(request.info).endsWith('/nodes/node-1/status')) await world.sleep(answersTake);
          return answer;
        },
        watch: (request, sink) =>
          requestPath(request.info) === '/api/v1/nodes'
            ? server.watch(request, { ...sink, events: (batch) => void world.sleep(answersTake).then(() => sink.events(batch)) })
            : server.watch(request, sink),
      });
      await cluster.run({ world, through }).ready;
      await cluster.volume('vol');
      await attach(cluster, 'vol');
      await cluster.podWith('first', ['vol']);
      await world.sleep(1000);
      expect(await phase(cluster, 'first')).toBe('Running');
      answersTake = 5000;
      await cluster.deletePod('first');
      await world.sleep(1000);
      expect(await cluster.inUse()).toEqual([]);
      await cluster.podWith('second', ['vol']);
      await world.sleep(3000);
      expect(await phase(cluster, 'second')).toBe('Pending');
      await world.sleep(10_000);
      expect(await cluster.inUse()).toEqual(['handle-vol']);
      expect(await phase(cluster, 'second')).toBe('Running');
    }));
});

describe('a claim', () => {
  test(
    'that is missing, unbound or being deleted causes an event every ten seconds, and at once when that changes',
    onHollowNodes(async (cluster) => {
      await cluster.podWith('web', ['data']);
      await cluster.world.sleep(25_000);
      const start = 'FailedMount: Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[], failed to process volumes=[data]: ';
      const said = (why: string, times = '') => `${start}error processing PVC default/data: ${why}${times}`;
      expect(await cluster.events('web')).toEqual([said('failed to fetch PVC from API server: persistentvolumeclaims "data" not found', ' ×3')]);
      await cluster.claim('data');
      await cluster.world.sleep(1000);
      expect((await cluster.events('web')).at(-1)).toBe(said('PVC is not bound'));
      await cluster.create(persistentVolumeKind, {
        metadata: { name: 'data' },
        spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], ...hostPath },
      });
      await cluster.bind('data');
      await cluster.world.sleep(1000);
      expect(await phase(cluster, 'web')).toBe('Running');
    }),
  );

  test.each<[string, (cluster: NodeCluster) => Promise<void>, string]>([
    [
      'whose volume is gone',
      (cluster) => cluster.delete(persistentVolumeKind, { name: 'data' }),
      'failed to fetch PV data from API server: persistentvolumes "data" not found',
    ],
    [
      'whose volume has no claim',
      (cluster) => cluster.change(persistentVolumeKind, { name: 'data' }, withoutClaim),
      'found PV object data but it has a nil pv.Spec.ClaimRef indicating it is not yet bound to the claim',
    ],
  ])('%s cannot be used', (_, spoil, why) =>
    onHollowNodes(async (cluster) => {
      await cluster.volume('data', hostPath);
      if (why.includes('gone') || why.includes('not found')) await removeProtection(cluster);
      await spoil(cluster);
      await cluster.podWith('web', ['data']);
      await cluster.world.sleep(1000);
      expect((await cluster.events('web'))[0]).toMatch(new RegExp(`: error processing PVC default/data: ${why.replaceAll(/[.()]/g, '.')}$`));
    })(),
  );

  test(
    'with volumeMode Block cannot be mounted as files',
    onHollowNodes(async (cluster) => {
      await cluster.create(persistentVolumeClaimKind, {
        metadata: inDefault('disk'),
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, storageClassName: '', volumeMode: 'Block' },
      });
      await cluster.create(persistentVolumeKind, {
        metadata: { name: 'disk' },
        spec: {
          capacity: { storage: '1Gi' },
          accessModes: ['ReadWriteOnce'],
          volumeMode: 'Block',
          local: { path: '/dev/sdb' },
          nodeAffinity: onZone('zone-a'),
        },
      });
      await cluster.bind('disk');
      await cluster.podWith('web', ['disk']);
      await cluster.world.sleep(1000);
      expect((await cluster.events('web'))[0]).toContain(': volume disk has volumeMode Block, but is specified in volumeMounts');
    }),
  );

  test(
    'that the pod does not own is not its ephemeral volume',
    onHollowNodes(async (cluster) => {
      await cluster.volume('web-scratch', hostPath);
      const claim = { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } };
      await cluster.pod('web', {
        containers: [{ name: 'app', image: 'nginx', volumeMounts: [{ name: 'scratch', mountPath: '/scratch' }] }],
        volumes: [{ name: 'scratch', ephemeral: { volumeClaimTemplate: claim } }],
      });
      await cluster.world.sleep(1000);
      expect((await cluster.events('web'))[0]).toContain(': PVC default/web-scratch was not created for pod default/web (pod is not owner)');
    }),
  );

  test(
    'that no container uses is ignored',
    onHollowNodes(async (cluster) => {
      await cluster.pod('web', { volumes: [{ name: 'unused', persistentVolumeClaim: { claimName: 'missing' } }] });
      await cluster.world.sleep(1000);
      expect(await phase(cluster, 'web')).toBe('Running');
    }),
  );
});

function withoutClaim(volume: PersistentVolume): PersistentVolume {
  const { claimRef: _, ...spec } = volume.spec;
  return { ...volume, spec };
}

const onZone = (zone: string) => ({
  required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'topology.kubernetes.io/zone', operator: 'In', values: [zone] }] }] },
});

async function removeProtection(cluster: NodeCluster): Promise<void> {
  await cluster.change(persistentVolumeKind, { name: 'data' }, (pv) => ({ ...pv, metadata: { ...pv.metadata, finalizers: [] } }));
}

describe('a mount', () => {
  test(
    'on a node outside of the volume’s node affinity fails, with back-off',
    onHollowNodes(async (cluster) => {
      await cluster.volume('far', { ...hostPath, nodeAffinity: onZone('zone-b') });
      await cluster.podWith('web', ['far']);
      await cluster.world.sleep(16_000);
      expect(await cluster.events('web')).toEqual(['FailedMount: MountVolume.NodeAffinity check failed for volume "far" : no matching NodeSelectorTerms ×6']);
      await cluster.change(nodeKind, { name: 'node-1' }, (node) => ({
        ...node,
        metadata: { ...node.metadata, labels: { ...node.metadata.labels, 'topology.kubernetes.io/zone': 'zone-b' } },
      }));
      await cluster.world.sleep(1000);
      expect(await phase(cluster, 'web')).toBe('Running');
    }),
  );

  test(
    'of a ReadWriteOncePod volume waits until the other pod has ended',
    onHollowNodes(async (cluster) => {
      await cluster.volume('own', { ...hostPath, accessModes: ['ReadWriteOncePod'] });
      await cluster.podWith('first', ['own']);
      await cluster.world.sleep(1000);
      await cluster.podWith('second', ['own']);
      await cluster.world.sleep(1000);
      expect(await phase(cluster, 'second')).toBe('Pending');
      expect((await cluster.events('second'))[0]).toContain(
        'FailedMount: MountVolume.SetUp failed for volume "own" : volume uses the ReadWriteOncePod access mode and is already in use by another pod',
      );
      await cluster.deletePod('first');
      await cluster.world.sleep(1000);
      expect(await phase(cluster, 'second')).toBe('Running');
    }),
  );

  test('of a ReadWriteOncePod volume starts as soon as the other pod has ended by itself, however long that took', async () => {
    for (const seed of [1, 2, 3, 4, 5, 6]) {
      await simulate(seed, async (world) => {
        const cluster = await NodeCluster.start(world);
        await cluster.run({ world }).ready;
        await cluster.volume('own', { ...hostPath, accessModes: ['ReadWriteOncePod'] });
        await cluster.podWith('first', ['own'], { restartPolicy: 'Never' }, { 'mooring.dev/run-for': '100s' });
        await world.sleep(1000);
        await cluster.podWith('second', ['own']);
        await world.sleep(98_000);
        expect(await phase(cluster, 'second'), `seed ${seed}`).toBe('Pending');
        await world.sleep(2000);
        expect(await phase(cluster, 'first'), `seed ${seed}`).toBe('Succeeded');
        expect(await phase(cluster, 'second'), `seed ${seed}`).toBe('Running');
      });
    }
  });

  test(
    'of a ConfigMap, a Secret or both waits until they exist',
    onHollowNodes(async (cluster) => {
      const volumes = [
        { name: 'settings', configMap: { name: 'settings', items: [{ key: 'a', path: 'a' }] } },
        { name: 'password', secret: { secretName: 'password' } },
        { name: 'both', projected: { sources: [{ configMap: { name: 'settings' } }, { secret: { name: 'password' } }] } },
        { name: 'maybe', configMap: { name: 'absent', optional: true } },
      ];
      await cluster.pod('web', {
        automountServiceAccountToken: false,
        containers: [{ name: 'app', image: 'nginx', volumeMounts: volumes.map(({ name }) => ({ name, mountPath: `/${name}` })) }],
        volumes,
      });
      await cluster.world.sleep(400);
      const said = (volume: string, why: string) => `FailedMount: MountVolume.SetUp failed for volume "${volume}" : ${why}`;
      expect(await cluster.events('web')).toEqual([
        said('settings', 'configmap "settings" not found'),
        said('password', 'secret "password" not found'),
        said('both', '[configmap "settings" not found, secret "password" not found]'),
      ]);
      await cluster.create(secretKind, { metadata: inDefault('password') });
      await cluster.create(configMapKind, { metadata: inDefault('settings'), data: { b: '' } });
      await cluster.world.sleep(400);
      expect((await cluster.events('web')).at(-1)).toBe(said('settings', 'configmap references non-existent config key: a'));
      await cluster.change(configMapKind, inDefault('settings'), (map) => ({ ...map, data: { a: '' } }));
      await cluster.world.sleep(400);
      expect(await phase(cluster, 'web')).toBe('Running');
    }),
  );
});
