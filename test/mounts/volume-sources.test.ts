/** Every source of the API's schema, as a pod's volume and behind a PersistentVolume: it has a driver, or its pods wait with FailedMount. */
import { describe, expect, test } from 'vitest';
import type { PersistentVolumeSpec, Volume } from '../../src/api/generated/types.ts';
import { eventKind } from '../../src/api/kinds/core/event.ts';
import { persistentVolumeClaimKind } from '../../src/api/kinds/core/persistent-volume-claim.ts';
import { podKind } from '../../src/api/kinds/pod/pod.ts';
import { volumeAttachmentKind } from '../../src/api/kinds/storage/volume-attachment.ts';
import { typeSchema } from '../../src/api/schema/type-schema.ts';
import type { Draft } from '../../src/client/client.ts';
import { nodeDrivers } from '../../src/cluster/nodes/node-drivers.ts';
import { pluginOf } from '../../src/node/volumes/volume-plugins.ts';
import { Machine, SimulatedHost } from '../../src/sim/host/simulated-host.ts';
import { ok, SimulatedCluster } from '../../src/sim/cluster/simulated-cluster.ts';
import { simulate } from '../../src/sim/world/world.ts';
import { attachableOf } from '../../src/storage/volumes/attachable.ts';
import { bound, inDefault, MountCluster, prepare } from './mount-cluster.ts';

/** What becomes of a source. `mounted`: a driver of this repository mounts it, by its conformance suite. */
type Fate =
  | 'mounted'
  /** The volume is the claim's. */
  | 'claim'
  /** No driver here has it: pods wait on sandbox nodes. Hollow nodes stand for nodes of other clusters, which may have it. */
  | 'not-on-sandbox'
  /** A CSI driver has it, if it is registered on the node. */
  | 'by-csi-driver'
  /** No node has it. */
  | 'nowhere';

interface SourceCase {
  readonly fate: Fate;
  /** As a pod writes it. */
  readonly inline?: Draft<Omit<Volume, 'name'>>;
  /** As a PersistentVolume has it. */
  readonly behind?: Draft<PersistentVolumeSpec>;
}

/** Of all sources: a new one without a decision fails the first test. */
const cases: Readonly<Record<string, SourceCase>> = {
  emptyDir: { fate: 'mounted' },
  hostPath: { fate: 'mounted' },
  local: { fate: 'mounted' },
  configMap: { fate: 'mounted' },
  secret: { fate: 'mounted' },
  downwardAPI: { fate: 'mounted' },
  projected: { fate: 'mounted' },
  nfs: { fate: 'mounted' },
  glusterfs: { fate: 'mounted' },
  iscsi: { fate: 'mounted' },
  gitRepo: { fate: 'mounted' },
  persistentVolumeClaim: { fate: 'claim' },
  ephemeral: { fate: 'claim' },
  flexVolume: { fate: 'not-on-sandbox', inline: { flexVolume: { driver: 'example.com/none' } }, behind: { flexVolume: { driver: 'example.com/none' } } },
  fc: { fate: 'not-on-sandbox', inline: { fc: { targetWWNs: ['50060e801049cfd1'], lun: 0 } }, behind: { fc: { targetWWNs: ['50060e801049cfd1'], lun: 0 } } },
  image: { fate: 'mounted' },
  csi: {
    fate: 'by-csi-driver',
    inline: { csi: { driver: 'none.example.com' } },
    behind: { csi: { driver: 'none.example.com', volumeHandle: 'vol' } },
  },
  awsElasticBlockStore: byDriver({ awsElasticBlockStore: { volumeID: 'vol-1' } }),
  gcePersistentDisk: byDriver({ gcePersistentDisk: { pdName: 'disk' } }),
  azureDisk: byDriver({ azureDisk: { diskName: 'disk', diskURI: '/subscriptions/1/disk', kind: 'Managed' } }),
  azureFile: {
    fate: 'by-csi-driver',
    inline: { azureFile: { secretName: 'password', shareName: 'share' } },
    behind: { azureFile: { secretName: 'password', secretNamespace: 'default', shareName: 'share' } },
  },
  cinder: byDriver({ cinder: { volumeID: 'vol-1' } }),
  vsphereVolume: byDriver({ vsphereVolume: { volumePath: '[store] disk.vmdk' } }),
  portworxVolume: byDriver({ portworxVolume: { volumeID: 'vol-1' } }),
  rbd: nowhere({ rbd: { monitors: ['192.0.2.1'], image: 'image' } }),
  cephfs: nowhere({ cephfs: { monitors: ['192.0.2.1'] } }),
  flocker: nowhere({ flocker: { datasetName: 'set' } }),
  quobyte: nowhere({ quobyte: { registry: '192.0.2.1:7861', volume: 'vol' } }),
  photonPersistentDisk: nowhere({ photonPersistentDisk: { pdID: 'disk' } }),
  scaleIO: {
    fate: 'nowhere',
    inline: { scaleIO: { gateway: 'https://192.0.2.1', system: 'system', volumeName: 'vol', secretRef: { name: 'password' } } },
    behind: { scaleIO: { gateway: 'https://192.0.2.1', system: 'system', volumeName: 'vol', secretRef: { name: 'password', namespace: 'default' } } },
  },
  storageos: nowhere({ storageos: { volumeName: 'vol', volumeNamespace: 'default' } }),
};

type Same = Draft<Omit<Volume, 'name'>> & Draft<PersistentVolumeSpec>;
function byDriver(source: Same): SourceCase {
  return { fate: 'by-csi-driver', inline: source, behind: source };
}
function nowhere(source: Same): SourceCase {
  return { fate: 'nowhere', inline: source, behind: source };
}

const notSources = ['capacity', 'accessModes', 'claimRef', 'persistentVolumeReclaimPolicy', 'storageClassName', 'mountOptions', 'volumeMode'];
const notSource = new Set(['name', ...notSources, 'nodeAffinity', 'volumeAttributesClassName']);
const sourcesOf = (type: string) => Array.from(typeSchema(type).byName.keys()).filter((field) => !notSource.has(field));
const waitingOn = (runtime: 'hollow' | 'sandbox') =>
  Object.entries(cases).filter(([, { fate }]) => fate === 'nowhere' || fate === 'by-csi-driver' || (fate === 'not-on-sandbox' && runtime === 'sandbox'));
const lower = (field: string) => field.toLowerCase();

describe('the sources of the schema', () => {
  const [ofPods, ofVolumes] = [sourcesOf('Volume'), sourcesOf('PersistentVolumeSpec')];

  test('are all decided', () => {
    expect(ofPods.length).toBeGreaterThan(25);
    expect([...new Set([...ofPods, ...ofVolumes])].sort()).toEqual(Object.keys(cases).sort());
    for (const [field, { fate, inline, behind }] of Object.entries(cases)) {
      const isTried = fate !== 'mounted' && fate !== 'claim';
      expect([field, inline !== undefined, behind !== undefined]).toEqual([field, isTried && ofPods.includes(field), isTried && ofVolumes.includes(field)]);
    }
  });

  test('that are mounted have a driver on sandbox nodes, and no others', () => {
    const host = new SimulatedHost(new Machine());
    const [machine, world] = [
      { mounts: host, files: host, root: '/node', programs: { run: () => Promise.reject(new Error('none')) } },
      { clock: {}, timers: {} },
    ];
    const { drivers } = nodeDrivers(machine, world as never, { allocatable: () => ({}) } as never);
    const wanted = Object.entries(cases).flatMap(([field, { fate }]) => (fate === 'mounted' || field === 'csi' ? pluginOf({ [field]: {} }) : []));
    expect(drivers.map(({ capabilities }) => capabilities.name).sort()).toEqual(wanted.sort());
  });

  test('that no CSI driver has are never attached by the control plane', () => {
    for (const [field, { fate, behind }] of Object.entries(cases)) {
      if (behind === undefined) continue;
      const attachable = attachableOf({ apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name: 'vol' }, spec: behind, status: {} } as never);
      expect([field, attachable !== undefined]).toEqual([field, fate === 'by-csi-driver']);
    }
  });
});

const problems = /^FailedMount: .*(no volume plugin matched|not found in the list of registered CSI drivers)/;

test('a pod on a sandbox node waits with FailedMount, and nothing is mounted for it', () =>
  simulate(
    1,
    async (world) => {
      const cluster = await SimulatedCluster.start(world, { controllers: false });
      await prepare(cluster);
      const node = await MountCluster.open(world, cluster);
      const { volumeManager } = await node.agent();
      for (const [field, { inline, behind, fate }] of waitingOn('sandbox')) {
        const pods = [];
        if (inline !== undefined) pods.push(await node.pod(`inline-${lower(field)}`, [{ name: lower(field), ...inline }]));
        if (behind !== undefined) {
          await bound(cluster, lower(field), behind);
          pods.push(await node.pod(`claim-${lower(field)}`, [{ name: lower(field), persistentVolumeClaim: { claimName: lower(field) } }]));
        }
        await cluster.wait();
        for (const pod of pods) {
          expect([pod.metadata.name, volumeManager.mountState(pod).ready]).toEqual([pod.metadata.name, false]);
          const said = ok(await cluster.client.list(eventKind)).items.filter(({ involvedObject }) => involvedObject.name === pod.metadata.name);
          const texts = said.map(({ reason, message }) => `${reason}: ${message}`);
          // A volume that has to be attached first is waited for without an event.
          const isAttachedFirst = fate === 'by-csi-driver' && pod.metadata.name.startsWith('claim-');
          expect([pod.metadata.name, texts.some((text) => problems.test(text))], texts.join('\n')).toEqual([pod.metadata.name, !isAttachedFirst]);
        }
      }
      expect(await node.mounted()).toEqual([]);
    },
    { steps: 3_000_000 },
  ));

test('a pod on a hollow node is scheduled, waits with FailedMount, and runs never', () =>
  simulate(
    1,
    async (world) => {
      const cluster = await SimulatedCluster.start(world);
      await cluster.startNodes({ hosts: cluster.hosts({ count: 1 }) }).ready;
      const names: string[] = [];
      const pod = async (name: string, volume: Draft<Volume>) => {
        names.push(name);
        await cluster.create(podKind, {
          metadata: inDefault(name),
          spec: {
            automountServiceAccountToken: false,
            containers: [{ name: 'app', image: 'image', volumeMounts: [{ name: volume.name ?? '', mountPath: '/data' }] }],
            volumes: [volume],
          },
        });
      };
      for (const [field, { inline, behind }] of waitingOn('hollow')) {
        if (inline !== undefined) await pod(`inline-${lower(field)}`, { name: lower(field), ...inline });
        if (behind === undefined) continue;
        await cluster.volume(lower(field), { ...behind, hostPath: undefined });
        await cluster.create(persistentVolumeClaimKind, {
          metadata: inDefault(lower(field)),
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, storageClassName: '', volumeName: lower(field) },
        });
        await pod(`claim-${lower(field)}`, { name: lower(field), persistentVolumeClaim: { claimName: lower(field) } });
      }
      await world.sleep(30_000);
      const events = ok(await cluster.client.list(eventKind)).items;
      const attachments = ok(await cluster.client.list(volumeAttachmentKind)).items;
      for (const name of names) {
        const { spec, status } = ok(await cluster.client.get(podKind, inDefault(name)));
        expect([name, spec.nodeName, status.phase]).toEqual([name, 'node-1', 'Pending']);
        const field = name.replace(/^(claim|inline)-/, '');
        const { fate } = Object.entries(cases).find(([each]) => lower(each) === field)?.[1] ?? {};
        const said = events.filter(({ involvedObject }) => involvedObject.name === name).map(({ reason, message }) => `${reason}: ${message}`);
        // What has to be attached first waits for its attacher, without an event.
        const isAttachedFirst = fate === 'by-csi-driver' && name.startsWith('claim-');
        expect([name, said.some((text) => problems.test(text))], said.join('\n')).toEqual([name, !isAttachedFirst]);
        if (fate === 'nowhere') expect(attachments.filter(({ spec: of }) => of.source.persistentVolumeName === field)).toEqual([]);
      }
    },
    { steps: 3_000_000 },
  ));
