/** Protection of volumes, running, on the real registry, in simulated time. */
import { expect, test } from 'vitest';
import { deafTo } from '../scheduler/volume-cluster.ts';
import { startStorageCluster } from './storage-cluster.ts';
import { persistentVolumeClaimKind } from '../../src/api/kinds/core/persistent-volume-claim.ts';
import { persistentVolumeKind } from '../../src/api/kinds/core/persistent-volume.ts';
import { volumeAttributesClassKind } from '../../src/api/kinds/storage/volume-attributes-class.ts';
import { podKind } from '../../src/api/kinds/pod/pod.ts';
import { createClient } from '../../src/client/client.ts';
import { Informers } from '../../src/client/informers/informers.ts';
import { runController } from '../../src/client/controller/loop.ts';
import { ok } from '../../src/sim/cluster/simulated-cluster.ts';
import { simulate } from '../../src/sim/world/world.ts';
import { volumeProtection } from '../../src/storage/protection/controller.ts';

const own = 'kubernetes.io/pv-protection';
const provisioners = 'external-provisioner.volume.kubernetes.io/finalizer';
const kinds = { pod: podKind, claim: persistentVolumeClaimKind, volume: persistentVolumeKind, attributesClass: volumeAttributesClassKind };

test.each([
  { what: 'stays protected until the claim has taken it', asked: '1Gi', hears: true, left: [provisioners, own] },
  { what: 'stays protected also if the cache does not have the claim yet', asked: '1Gi', hears: false, left: [provisioners, own] },
  { what: 'goes if the claim cannot take it', asked: '5Gi', hears: true, left: [provisioners] },
  { what: 'goes if the claim is gone', asked: undefined, hears: true, left: [provisioners] },
])('a volume that was provisioned for a claim and deleted before the two were bound $what', ({ asked, hears, left }) =>
  simulate(1, async (world) => {
    const cluster = await startStorageCluster(world, 'plain');
    const { through, letGo } = deafTo(/persistentvolumeclaims/);
    const transport = through(cluster.transport);
    const informers: Informers = new Informers({ world, client: createClient({ transport }) });
    const client = createClient({ transport, observer: informers.observer });
    runController(volumeProtection({ client, informers, kinds }), { world, informers });
    informers.start();
    await world.sleep(1_000);
    if (hears) letGo();
    const [accessModes, claimRef] = [['ReadWriteOnce'], { namespace: 'default', name: 'data', uid: 'gone' }];
    if (asked !== undefined) {
      const spec = { accessModes, resources: { requests: { storage: asked } }, storageClassName: '' };
      claimRef.uid = ok(await cluster.client.create(persistentVolumeClaimKind, { metadata: { namespace: 'default', name: 'data' }, spec })).metadata.uid ?? '';
    }
    const spec = { accessModes, capacity: { storage: '1Gi' }, csi: { driver: 'd', volumeHandle: 'h' }, claimRef };
    ok(await cluster.client.create(persistentVolumeKind, { metadata: { name: 'vol', finalizers: [provisioners] }, spec }));
    ok(await cluster.client.delete(persistentVolumeKind, { name: 'vol' }));
    await world.sleep(10_000);
    const { metadata } = ok(await cluster.client.get(persistentVolumeKind, { name: 'vol' }));
    expect(metadata.finalizers).toEqual(left);
  }),
);
