/** The EBS driver against the EC2 endpoint, both on virtual time: what it makes, in which states it leaves the cloud, and what it answers. */
import { expect, test } from 'vitest';
import { Cloud } from '../../src/cloud/engine/cloud.ts';
import type { Fault } from '../../src/cloud/engine/faults.ts';
import { Ec2Endpoint } from '../../src/cloud/ec2/endpoint.ts';
import { sha256 } from '../../src/cluster/sha256.ts';
import { ebsDriver } from '../../src/drivers/aws-ebs/driver.ts';
import { Ec2Client } from '../../src/drivers/aws-ebs/ec2-client.ts';
import type { CreateVolumeRequest, VolumeDriver } from '../../src/drivers/contract.ts';
import { simulate, type SimulatedWorld } from '../../src/sim/world/world.ts';

const leader = { lease: 'kube-system/moor-controllers', epoch: 1 };

interface Setting {
  readonly cloud: Cloud;
  readonly driver: VolumeDriver;
  readonly world: SimulatedWorld;
  /** A running instance of the type in eu-west-2a. */
  readonly launch: (instanceType?: string) => Promise<string>;
}

const withDriver = (run: (setting: Setting) => Promise<void>, faults: readonly Fault[] = [], seed = 1): Promise<void> =>
  simulate(seed, async (world) => {
    const cloud = new Cloud({ world, region: 'eu-west-2', faults });
    const endpoint = new Ec2Endpoint({ cloud, newRequestId: () => 'r', now: () => world.clock.now() });
    const client = new Ec2Client({
      world,
      host: 'localhost',
      region: 'eu-west-2',
      credentials: () => ({ accessKeyId: 'a', secretAccessKey: 'b' }),
      transport: ({ headers, body }) => endpoint.handle({ method: 'POST', path: '/', headers, body }),
    });
    const launch = async (instanceType = 'm7g.xlarge') => {
      const [instance] = await cloud.call('RunInstances', { instanceType, zone: 'eu-west-2a' });
      await world.sleep(60_000);
      return instance?.id ?? '';
    };
    await run({ cloud, world, launch, driver: ebsDriver({ world, client, sha256 }) });
    cloud.close();
  });

const requestOf = (changes: Partial<CreateVolumeRequest> = {}, zones = ['eu-west-2a']): CreateVolumeRequest => ({
  name: 'pvc-1',
  capacity: '4Gi',
  accessModes: ['ReadWriteOnce'],
  volumeMode: 'Filesystem',
  storageClassName: 'storage-gp3',
  reclaimPolicy: 'Delete',
  csi: {
    fsType: '',
    secrets: {},
    accessibilityRequirements: {
      requisite: zones.map((zone) => ({ segments: { 'topology.ebs.csi.aws.com/zone': zone } })),
      preferred: zones.map((zone) => ({ segments: { 'topology.ebs.csi.aws.com/zone': zone } })),
    },
  },
  ...changes,
});

async function created(driver: VolumeDriver, request = requestOf()): Promise<string> {
  const answer = await driver.createVolume(request, leader);
  return answer.ok ? answer.value.handle : expect.unreachable(answer.message);
}

test('a volume is created in the zone, with the driver’s tags, and once however often it is asked for', () =>
  withDriver(async ({ cloud, driver }) => {
    const request = requestOf({ parameters: { type: 'gp3', 'csi.storage.k8s.io/pvc/name': 'ebs-claim', tagSpecification_1: 'team=storage' } });
    const answer = await driver.createVolume(request, leader);
    expect(answer).toEqual({
      ok: true,
      value: {
        handle: expect.stringMatching(/^vol-[0-9a-f]{17}$/),
        capacity: '4Gi',
        source: {
          csi: {
            driver: 'ebs.csi.aws.com',
            volumeHandle: expect.stringMatching(/^vol-/),
            volumeAttributes: { 'storage.kubernetes.io/csiProvisionerIdentity': 'mooring-ebs.csi.aws.com' },
            fsType: 'ext4',
          },
        },
        nodeAffinity: {
          required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'topology.kubernetes.io/zone', operator: 'In', values: ['eu-west-2a'] }] }] },
        },
        annotations: expect.any(Object),
      },
    });
    expect(await driver.createVolume(request, leader)).toEqual(answer);
    expect([...cloud.state.volumes.values()]).toMatchObject([
      {
        state: 'available',
        type: 'gp3',
        tags: { CSIVolumeName: 'pvc-1', 'ebs.csi.aws.com/cluster': 'true', 'kubernetes.io/created-for/pvc/name': 'ebs-claim', team: 'storage' },
      },
    ]);
  }));

test.each([
  [{ parameters: { zone: 'eu-west-2a' } }, 'Invalid parameter key zone for CreateVolume'],
  [{ parameters: { iops: 'many' } }, 'Could not parse invalid iops: strconv.ParseInt: parsing "many": invalid syntax'],
  [
    { parameters: { type: 'io1', iops: '100', iopsPerGB: '10' } },
    'Could not create volume "pvc-1": invalid StorageClass parameters; specify either IOPS or IOPSPerGb, not both',
  ],
  [{ parameters: { type: 'gp9' } }, "api error UnknownVolumeType: Unsupported volume type 'gp9' for volume creation."],
  [{ parameters: { tagSpecification_1: 'aws:a=b' } }, "Invalid tag value: Tag key 'aws:a' is reserved"],
  [{ accessModes: ['ReadWriteMany'] }, 'Volume capabilities not supported'],
] as const)('%j is refused, and nothing is made', (changes, message) =>
  withDriver(async ({ cloud, driver }) => {
    expect(await driver.createVolume(requestOf(changes), leader)).toEqual({ ok: false, code: 'InvalidArgument', message });
    expect(cloud.state.volumes.size).toBe(0);
  }),
);

test('a volume is attached under the first free name, found attached, detached and deleted', () =>
  withDriver(async ({ cloud, driver, launch }) => {
    const nodeId = await launch();
    const [first, second] = [await created(driver), await created(driver, requestOf({ name: 'pvc-2' }))];
    const publish = (handle: string) =>
      driver.attacher?.controllerPublishVolume({ handle, nodeId, readOnly: false, accessModes: ['ReadWriteOnce'], volumeAttributes: {} }, leader);
    expect(await Promise.all([publish(first), publish(second)])).toEqual([
      { ok: true, value: { devicePath: '/dev/xvdaa' } },
      { ok: true, value: { devicePath: '/dev/xvdab' } },
    ]);
    expect(await publish(first)).toEqual({ ok: true, value: { devicePath: '/dev/xvdaa' } });
    expect(await driver.attacher?.listPublishedVolumes?.()).toMatchObject({ value: expect.arrayContaining([{ handle: first, nodeId }]) });
    expect(await driver.deleteVolume(first, leader)).toMatchObject({ ok: false, code: 'FailedPrecondition' });
    for (const _ of [1, 2]) expect(await driver.attacher?.controllerUnpublishVolume({ handle: first, nodeId }, leader)).toEqual({ ok: true, value: undefined });
    for (const _ of [1, 2]) expect(await driver.deleteVolume(first, leader)).toEqual({ ok: true, value: undefined });
    expect(cloud.state.volumes.get(second)?.state).toBe('in-use');
  }));

test('a volume too many is ResourceExhausted', () =>
  withDriver(async ({ driver, launch, cloud, world }) => {
    const nodeId = await launch();
    for (let i = 0; i < 26; i++) {
      const { id } = await cloud.call('CreateVolume', { zone: 'eu-west-2a', sizeGiB: 1 });
      await world.sleep(10_000);
      await cloud.call('AttachVolume', { volumeId: id, instanceId: nodeId, device: `/dev/xvdb${String.fromCharCode(97 + i)}` });
    }
    const handle = await created(driver);
    const answer = await driver.attacher?.controllerPublishVolume({ handle, nodeId, readOnly: false, accessModes: [], volumeAttributes: {} }, leader);
    expect(answer).toMatchObject({
      ok: false,
      code: 'ResourceExhausted',
      message: expect.stringContaining(`Attachment limit exceeded for volume "${handle}" on node`),
    });
  }));

test('an attachment that stays attaching is given up after 90 seconds, and the volume can be attached again', () =>
  withDriver(
    async ({ driver, launch, cloud, world }) => {
      const nodeId = await launch();
      const handle = await created(driver);
      const publish = () => driver.attacher?.controllerPublishVolume({ handle, nodeId, readOnly: false, accessModes: [], volumeAttributes: {} }, leader);
      expect(await publish()).toMatchObject({ ok: false, code: 'Internal', message: expect.stringContaining('stuck attaching') });
      cloud.setFaults([]);
      await world.sleep(60_000);
      expect(await publish()).toMatchObject({ ok: true });
    },
    [{ fault: 'stuck-attaching' }],
  ));

test.each([1, 2, 3, 4])('throttling and lost answers leave one volume for each name (seed %d)', (seed) =>
  withDriver(
    async ({ driver, cloud }) => {
      for (let i = 0; i < 6; i++) {
        for (let attempt = 0; attempt < 20; attempt++) if ((await driver.createVolume(requestOf({ name: `pvc-${i}` }), leader)).ok) break;
      }
      const names = [...cloud.state.volumes.values()].map(({ tags }) => tags.CSIVolumeName);
      expect(names.toSorted((a = '', b = '') => a.localeCompare(b))).toEqual(['pvc-0', 'pvc-1', 'pvc-2', 'pvc-3', 'pvc-4', 'pvc-5']);
    },
    [
      { fault: 'throttling', probability: 0.3 },
      { fault: 'lost-answer', actions: ['CreateVolume'], probability: 0.5 },
    ],
    seed,
  ),
);

test('volumes grow, change their type, are copied to snapshots and clones', () =>
  withDriver(async ({ driver, cloud, world }) => {
    const handle = await created(driver);
    expect(await driver.controllerExpandVolume?.({ handle, capacity: '10Gi' }, leader)).toEqual({
      ok: true,
      value: { capacity: '10Gi', nodeExpansionRequired: true },
    });
    expect(await driver.controllerModifyVolume?.({ handle, mutableParameters: { iops: '4000' } }, leader)).toMatchObject({ ok: false });
    await world.sleep(7 * 3_600_000);
    expect(await driver.controllerModifyVolume?.({ handle, mutableParameters: { iops: '4000', tagSpecification_1: 'a=b' } }, leader)).toEqual({
      ok: true,
      value: undefined,
    });
    expect(cloud.state.volumes.get(handle)).toMatchObject({ sizeGiB: 10, iops: 4000, tags: { a: 'b' } });
    const snapshot = () => driver.snapshotter?.createSnapshot({ name: 'snapshot-1', sourceHandle: handle, parameters: {} }, leader);
    const [first, second] = [await snapshot(), await snapshot()];
    expect(second).toEqual(first);
    await world.sleep(600_000);
    const ready = await snapshot();
    expect(ready).toMatchObject({ ok: true, value: { readyToUse: true, sourceHandle: handle, sizeBytes: 10 * 1024 ** 3 } });
    const snapshotId = ready?.ok === true ? ready.value.handle : '';
    const restored = await created(driver, requestOf({ name: 'pvc-2', capacity: '10Gi', source: { type: 'snapshot', handle: snapshotId } }));
    const copy = await created(driver, requestOf({ name: 'pvc-3', capacity: '10Gi', source: { type: 'volume', handle } }));
    expect([cloud.state.volumes.get(restored)?.snapshotId, cloud.state.volumes.get(copy)?.sourceVolumeId]).toEqual([snapshotId, handle]);
    for (const _ of [1, 2]) expect(await driver.snapshotter?.deleteSnapshot({ handle: snapshotId }, leader)).toEqual({ ok: true, value: undefined });
  }));

test('volumes of the in-tree plugin are its own', () =>
  withDriver(async ({ driver }) => {
    expect(driver.handleOf({ awsElasticBlockStore: { volumeID: 'aws://eu-west-2a/vol-0123456789abcdef0' } })).toBe('vol-0123456789abcdef0');
    expect(driver.handleOf({ hostPath: { path: '/a' } })).toBeUndefined();
  }));
