import { expect, test } from 'vitest';
import { simulate, type SimulatedWorld } from '../../sim/world/world.ts';
import { Cloud, type CloudOptions } from './cloud.ts';
import { CloudError, LostAnswer } from './errors.ts';
import type { Change } from './records.ts';

const zone = 'us-west-2a';

const inCloud = <T>(run: (cloud: Cloud, world: SimulatedWorld) => Promise<T>, options: Omit<CloudOptions, 'world'> = {}): Promise<T> =>
  simulate(1, async (world) => {
    const cloud = new Cloud({ world, ...options });
    const result = await run(cloud, world);
    cloud.close();
    return result;
  });

const codeOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'none',
    (error: unknown) => (error instanceof CloudError ? error.code : String(error)),
  );

async function running(cloud: Cloud, world: SimulatedWorld, instanceType = 'm7g.xlarge') {
  const [instance] = await cloud.call('RunInstances', { instanceType, zone });
  if (instance === undefined) throw new Error('no instance');
  await until(world, () => cloud.state.instances.get(instance.id)?.state === 'running');
  return instance;
}

async function volume(cloud: Cloud, world: SimulatedWorld, tags = {}) {
  const { id } = await cloud.call('CreateVolume', { zone, sizeGiB: 4, type: 'gp3', tags });
  await until(world, () => cloud.state.volumes.get(id)?.state === 'available');
  return id;
}

async function until(world: SimulatedWorld, isTrue: () => boolean): Promise<void> {
  for (let i = 0; i < 6000; i++) {
    if (isTrue()) return;
    await world.sleep(100);
  }
  throw new Error('not within ten minutes');
}

test('an instance is pending, runs, shuts down and is terminated; an hour later it is gone', () =>
  inCloud(async (cloud, world) => {
    const states: string[] = [];
    cloud.onChange((change) => change.in === 'instances' && states.push(change.record?.state ?? 'gone'));
    const { id, rootVolumeId, privateAddress } = await running(cloud, world);
    expect(privateAddress).toMatch(/^10\.0\.(\d|[12]\d|3[01])\.\d+$/);
    expect(cloud.state.attachedTo(id).map(({ attachment }) => attachment.device)).toEqual(['/dev/xvda']);
    await cloud.call('TerminateInstances', [id]);
    await until(world, () => cloud.state.instances.get(id)?.state === 'terminated');
    expect(cloud.state.volumes.has(rootVolumeId)).toBe(false);
    await world.sleep(3_700_000);
    expect(states).toEqual(['pending', 'running', 'shutting-down', 'terminated', 'gone']);
    expect(await codeOf(cloud.call('TerminateInstances', [id]))).toBe('InvalidInstanceID.NotFound');
  }));

test('a volume is creating, available, attaching, attached, detaching, available, deleting and gone', () =>
  inCloud(async (cloud, world) => {
    const states: string[] = [];
    cloud.onChange((change) => {
      if (change.in !== 'volumes' || change.record?.attachments[0]?.device === '/dev/xvda') return;
      states.push([change.record?.state ?? 'gone', ...(change.record?.attachments.map(({ state }) => state) ?? [])].join(' '));
    });
    const { id: instanceId } = await running(cloud, world);
    const volumeId = await volume(cloud, world);
    await cloud.call('AttachVolume', { volumeId, instanceId, device: '/dev/xvdaa' });
    await until(world, () => cloud.state.volumes.get(volumeId)?.attachments[0]?.state === 'attached');
    expect(await codeOf(cloud.call('DeleteVolume', volumeId))).toBe('VolumeInUse');
    await cloud.call('DetachVolume', { volumeId, instanceId });
    await until(world, () => cloud.state.volumes.get(volumeId)?.state === 'available');
    expect(await codeOf(cloud.call('DetachVolume', { volumeId, instanceId }))).toBe('IncorrectState');
    await cloud.call('DeleteVolume', volumeId);
    await until(world, () => !cloud.state.volumes.has(volumeId));
    expect(states).toEqual(['creating', 'available', 'in-use attaching', 'in-use attached', 'in-use detaching', 'available', 'deleting', 'gone']);
  }));

test('what EC2 refuses is refused with its code', () =>
  inCloud(async (cloud, world) => {
    const { id: instanceId } = await running(cloud, world);
    const volumeId = await volume(cloud, world);
    const attach = (changes: object) => codeOf(cloud.call('AttachVolume', { volumeId, instanceId, device: '/dev/xvdaa', ...changes }));
    const create = (changes: object) => codeOf(cloud.call('CreateVolume', { zone, sizeGiB: 4, ...changes }));
    const codes = {
      'unknown volume': await attach({ volumeId: 'vol-0123456789abcdef0' }),
      'unknown instance': await attach({ instanceId: 'i-0123456789abcdef0' }),
      'not an id': await attach({ instanceId: 'node-1' }),
      'device of the root volume': await attach({ device: '/dev/xvda' }),
      'no device': await attach({ device: 'C:' }),
      'unknown zone': await create({ zone: 'us-west-2x' }),
      'unknown type': await create({ type: 'gp9' }),
      'io1 without iops': await create({ type: 'io1' }),
      'iops of gp2': await create({ type: 'gp2', iops: 100 }),
      'too many iops': await create({ type: 'gp3', sizeGiB: 1000, iops: 90_000 }),
      'too many for its size': await create({ type: 'io1', iops: 500 }),
      'small st1': await create({ type: 'st1' }),
      'detach of an available one': await codeOf(cloud.call('DetachVolume', { volumeId, instanceId })),
      'unknown instance type': await codeOf(cloud.call('RunInstances', { instanceType: 'm99.nano', zone })),
      'unknown snapshot': await create({ snapshotId: 'snap-0123456789abcdef0' }),
    };
    expect(codes).toEqual({
      'unknown volume': 'InvalidVolume.NotFound',
      'unknown instance': 'InvalidInstanceID.NotFound',
      'not an id': 'InvalidInstanceID.Malformed',
      'device of the root volume': 'InvalidParameterValue',
      'no device': 'InvalidParameterValue',
      'unknown zone': 'InvalidZone.NotFound',
      'unknown type': 'UnknownVolumeType',
      'io1 without iops': 'MissingParameter',
      'iops of gp2': 'InvalidParameterCombination',
      'too many iops': 'InvalidParameterValue',
      'too many for its size': 'InvalidParameterValue',
      'small st1': 'InvalidParameterValue',
      'detach of an available one': 'IncorrectState',
      'unknown instance type': 'InvalidParameterValue',
      'unknown snapshot': 'InvalidSnapshot.NotFound',
    });
    const { id: elsewhere } = await cloud.call('CreateVolume', { zone: 'us-west-2b', sizeGiB: 1 });
    await until(world, () => cloud.state.volumes.get(elsewhere)?.state === 'available');
    expect(await attach({ volumeId: elsewhere })).toBe('InvalidVolume.ZoneMismatch');
  }));

test('an instance has as many volumes as its type permits', () =>
  inCloud(async (cloud, world) => {
    // 27 with the root volume.
    const { id: instanceId } = await running(cloud, world);
    const codes: string[] = [];
    for (let i = 0; i < 27; i++) {
      const volumeId = await volume(cloud, world);
      const device = `/dev/xvd${i < 26 ? 'a' : 'b'}${String.fromCharCode(97 + (i % 26))}`;
      codes.push(await codeOf(cloud.call('AttachVolume', { volumeId, instanceId, device })));
    }
    expect(codes.filter((code) => code === 'none')).toHaveLength(26);
    expect(codes.at(-1)).toBe('AttachmentLimitExceeded');
  }));

test('a client token makes one volume, and refuses other parameters', () =>
  inCloud(async (cloud) => {
    const request = { zone, sizeGiB: 4, clientToken: 'token' };
    const [first, second] = [await cloud.call('CreateVolume', request), await cloud.call('CreateVolume', request)];
    expect(second.id).toBe(first.id);
    expect(await codeOf(cloud.call('CreateVolume', { ...request, sizeGiB: 5 }))).toBe('IdempotentParameterMismatch');
    expect(cloud.state.volumes.size).toBe(1);
  }));

test('a fleet takes the cheapest type and zone that has capacity, and tells where there was none', () =>
  inCloud(async (cloud) => {
    const overrides = ['m7g.large', 'm5.large', 'r5.large'].map((instanceType) => ({ instanceType }));
    const request = { capacityType: 'on-demand', count: 1, overrides } as const;
    const first = await cloud.call('CreateFleet', request);
    expect(first.instances.map(({ type }) => type)).toEqual(['m7g.large']);
    cloud.setFaults([{ fault: 'insufficient-capacity', instanceTypes: ['m7g.large'] }]);
    const second = await cloud.call('CreateFleet', request);
    expect(second.instances.map(({ type }) => type)).toEqual(['m5.large']);
    expect(new Set(second.errors.map(({ code }) => code))).toEqual(new Set(['InsufficientInstanceCapacity']));
    cloud.setFaults([{ fault: 'insufficient-capacity' }]);
    expect((await cloud.call('CreateFleet', request)).instances).toEqual([]);
  }));

test('a frozen instance keeps its volume until it answers again, or the detach is forced', () =>
  inCloud(async (cloud, world) => {
    const { id: instanceId } = await running(cloud, world);
    const volumes = [await volume(cloud, world), await volume(cloud, world)];
    for (const [i, volumeId] of volumes.entries()) await cloud.call('AttachVolume', { volumeId, instanceId, device: `/dev/xvda${'ab'[i] ?? ''}` });
    await world.sleep(60_000);
    const states = () => volumes.map((id) => cloud.state.volumes.get(id)?.attachments[0]?.state ?? 'detached');
    expect(states()).toEqual(['attached', 'attached']);
    cloud.setFaults([{ fault: 'frozen-instance', instance: instanceId }]);
    for (const volumeId of volumes) await cloud.call('DetachVolume', { volumeId, instanceId });
    await world.sleep(600_000);
    expect(states()).toEqual(['busy', 'busy']);
    await cloud.call('DetachVolume', { volumeId: volumes[0] ?? '', instanceId, force: true });
    await world.sleep(60_000);
    expect(states()).toEqual(['detached', 'busy']);
    cloud.setFaults([]);
    await world.sleep(60_000);
    expect(states()).toEqual(['detached', 'detached']);
  }));

test('calls are throttled, and answers are lost after the effect', () =>
  inCloud(async (cloud) => {
    cloud.setFaults([{ fault: 'throttling', actions: ['CreateVolume'] }]);
    expect(await codeOf(cloud.call('CreateVolume', { zone, sizeGiB: 1 }))).toBe('RequestLimitExceeded');
    expect(cloud.state.volumes.size).toBe(0);
    cloud.setFaults([{ fault: 'lost-answer', actions: ['CreateVolume'] }]);
    await expect(cloud.call('CreateVolume', { zone, sizeGiB: 1 })).rejects.toThrow(LostAnswer);
    expect(cloud.state.volumes.size).toBe(1);
  }));

test('the descriptions of an instance lag behind those of its volumes', () =>
  inCloud(async (cloud, world) => {
    const { id: instanceId } = await running(cloud, world);
    const volumeId = await volume(cloud, world);
    cloud.setFaults([{ fault: 'describe-lag', seconds: 10 }]);
    await world.sleep(20_000);
    await cloud.call('AttachVolume', { volumeId, instanceId, device: '/dev/xvdaa' });
    const described = () => cloud.describedAttachments(instanceId).map((each) => each.volume.id);
    expect(cloud.state.attachedTo(instanceId)).toHaveLength(2);
    expect(described()).not.toContain(volumeId);
    await world.sleep(30_000);
    expect(described()).toContain(volumeId);
  }));

test('a cloud that is started again from its changes goes on where it was', async () => {
  const kept: Change[] = [];
  const volumeId = await inCloud(async (cloud) => (await cloud.call('CreateVolume', { zone, sizeGiB: 4, clientToken: 'a' })).id, {
    keep: async (changes) => void kept.push(...changes),
  });
  await inCloud(
    async (cloud, world) => {
      expect(cloud.state.volumes.get(volumeId)?.state).toBe('creating');
      await world.sleep(60_000);
      expect(cloud.state.volumes.get(volumeId)?.state).toBe('available');
      expect((await cloud.call('CreateVolume', { zone, sizeGiB: 4, clientToken: 'a' })).id).toBe(volumeId);
    },
    { records: kept },
  );
});

test('the same seed gives the same cloud', async () => {
  const play = () =>
    inCloud(async (cloud, world) => {
      const { id } = await running(cloud, world);
      const volumeId = await volume(cloud, world);
      await cloud.call('AttachVolume', { volumeId, instanceId: id, device: '/dev/xvdaa' });
      await world.sleep(10_000);
      return JSON.stringify([...cloud.state.volumes.values(), ...cloud.state.instances.values()]);
    });
  expect(await play()).toBe(await play());
});
