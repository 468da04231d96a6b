/** EBS through its API, as the CSI driver uses it: every call waits for its effect, and can be repeated. */
import type { World } from '../../world/world.ts';
import { freeDeviceName } from './device-names.ts';
import { type Ec2Client, Ec2Error, type QueryRecord } from './ec2-client.ts';
import { child, type Element, itemsOf, textOf } from './xml.ts';

export interface EbsVolume {
  readonly id: string;
  readonly zone: string;
  readonly sizeGiB: number;
  readonly state: string;
  readonly kmsKeyId: string;
  readonly tags: ReadonlyMap<string, string>;
  readonly attachments: readonly EbsAttachment[];
}

export interface EbsAttachment {
  readonly instanceId: string;
  readonly device: string;
  readonly state: string;
}

export interface EbsSnapshot {
  readonly id: string;
  readonly volumeId: string;
  readonly sizeGiB: number;
  readonly state: string;
  /** Milliseconds since 1970. */
  readonly startTime: number;
}

export interface EbsOptions {
  readonly world: World;
  readonly client: Ec2Client;
}

/** The driver's own pauses between two looks, in milliseconds (aws-ebs-csi-driver, pkg/cloud/cloud.go, volumeWaitParameters). */
const creation = { first: 1250, next: 500, factor: 1.5, steps: 11 };
const attachment = { first: 1000, next: 1800, factor: 1.8, steps: 12 };
const modificationWait = { first: 1000, next: 1700, factor: 1.7, steps: 9 };
/** An attachment that is attaching for longer is given up, so that it can be tried again. */
const stuckAttachingMs = 90_000;

interface Pauses {
  readonly first: number;
  readonly next: number;
  readonly factor: number;
  readonly steps: number;
}

/** The call had an effect, or may have, and what was waited for did not come. */
export class EbsTimeout extends Error {}

export class Ebs {
  readonly #options: EbsOptions;
  /** Instance → names that EC2 refused though no volume has them. */
  readonly #unlikely = new Map<string, Set<string>>();
  /** Instance → device names that attachments under way have taken. */
  readonly #reserved = new Map<string, Set<string>>();

  constructor(options: EbsOptions) {
    this.#options = options;
  }

  /** CreateVolume or CopyVolumes. Resolves once it is available. @throws Ec2Error, EbsTimeout */
  async create(action: 'CreateVolume' | 'CopyVolumes', parameters: QueryRecord): Promise<EbsVolume> {
    const answer = await this.#options.client.call(action, parameters);
    const made = action === 'CopyVolumes' ? itemsOf(answer, 'volumeSet')[0] : answer;
    const id = textOf(made, 'volumeId');
    return this.#until(creation, `volume ${id} is not available`, async () => {
      const volume = await this.volume(id);
      if (volume.state === 'error') throw new Ec2Error('IncorrectState', `volume ${id} is in the state error`);
      return volume.state === 'creating' ? undefined : volume;
    });
  }

  /** @throws Ec2Error */
  async volume(id: string): Promise<EbsVolume> {
    const [volume] = await this.volumes({ VolumeId: [id] });
    if (volume === undefined) throw new Ec2Error('InvalidVolume.NotFound', `The volume '${id}' does not exist.`);
    return volume;
  }

  /** All pages. @throws Ec2Error */
  async volumes(parameters: QueryRecord): Promise<readonly EbsVolume[]> {
    return (await this.#all('DescribeVolumes', parameters, 'volumeSet')).map(volumeOf);
  }

  async snapshots(parameters: QueryRecord): Promise<readonly EbsSnapshot[]> {
    return (await this.#all('DescribeSnapshots', parameters, 'snapshotSet')).map(snapshotOf);
  }

  async createSnapshot(parameters: QueryRecord): Promise<EbsSnapshot> {
    return snapshotOf(await this.#options.client.call('CreateSnapshot', parameters));
  }

  /** The names of the zones that answer. */
  async zones(): Promise<readonly string[]> {
    const answer = await this.#options.client.call('DescribeAvailabilityZones', { Filter: [{ Name: 'state', Value: ['available'] }] });
    return itemsOf(answer, 'availabilityZoneInfo').map((zone) => textOf(zone, 'zoneName'));
  }

  async call(action: string, parameters: QueryRecord): Promise<void> {
    await this.#options.client.call(action, parameters);
  }

  /** Resolves with the device name once it is attached. @throws Ec2Error, EbsTimeout */
  async attach(volumeId: string, instanceId: string): Promise<string> {
    const device = (await this.#attachmentOf(volumeId, instanceId))?.device ?? (await this.#request(volumeId, instanceId));
    const began = this.#options.world.clock.monotonic();
    await this.#until(attachment, `volume ${volumeId} is not attached to ${instanceId}`, async () => {
      const found = await this.#attachmentOf(volumeId, instanceId);
      if (found?.state === 'attached') return found;
      if (found === undefined) throw new EbsTimeout(`volume ${volumeId} is detached from ${instanceId} again`);
      if (found.state === 'attaching' && this.#options.world.clock.monotonic() - began > stuckAttachingMs) {
        await this.call('DetachVolume', { VolumeId: volumeId, InstanceId: instanceId, Force: true });
        throw new EbsTimeout(`volume ${volumeId} was stuck attaching to ${instanceId}, and is detached again`);
      }
      return undefined;
    });
    return device;
  }

  /** Asks for the attachment, under a name that no volume of the instance has. */
  async #request(volumeId: string, instanceId: string): Promise<string> {
    const taken = await this.#devicesOf(instanceId);
    const unlikely = setAt(this.#unlikely, instanceId);
    const reserved = setAt(this.#reserved, instanceId);
    const device = freeDeviceName(new Set([...taken, ...reserved]), unlikely);
    if (device === undefined) throw new Ec2Error('AttachmentLimitExceeded', `there are no device names left on ${instanceId}`);
    reserved.add(device);
    try {
      await this.call('AttachVolume', { VolumeId: volumeId, InstanceId: instanceId, Device: device });
      unlikely.delete(device);
      return device;
    } catch (error) {
      if (error instanceof Ec2Error && error.code === 'InvalidParameterValue' && error.message.includes('already in use')) unlikely.add(device);
      throw error;
    } finally {
      reserved.delete(device);
    }
  }

  /** Resolves once it is detached. @throws Ec2Error, EbsTimeout */
  async detach(volumeId: string, instanceId: string): Promise<void> {
    try {
      await this.call('DetachVolume', { VolumeId: volumeId, InstanceId: instanceId });
    } catch (error) {
      // It is detached, or the volume or the instance is gone.
      const gone = ['IncorrectState', 'InvalidAttachment.NotFound', 'InvalidVolume.NotFound', 'InvalidInstanceID.NotFound'];
      if (error instanceof Ec2Error && gone.includes(error.code)) return;
      throw error;
    }
    await this.#until(attachment, `volume ${volumeId} is not detached from ${instanceId}`, async () =>
      (await this.#attachmentOf(volumeId, instanceId)) === undefined ? true : undefined,
    );
  }

  /** Resolves once the volume can be used in its new shape. @throws Ec2Error, EbsTimeout */
  async modify(volumeId: string, parameters: QueryRecord): Promise<void> {
    await this.call('ModifyVolume', { VolumeId: volumeId, ...parameters });
    await this.#until(modificationWait, `volume ${volumeId} is still being modified`, async () => {
      const answer = await this.#options.client.call('DescribeVolumesModifications', { VolumeId: [volumeId] });
      const state = textOf(itemsOf(answer, 'volumeModificationSet')[0], 'modificationState');
      return state === 'optimizing' || state === 'completed' ? true : undefined;
    });
  }

  async #attachmentOf(volumeId: string, instanceId: string): Promise<EbsAttachment | undefined> {
    return (await this.volume(volumeId)).attachments.find((each) => each.instanceId === instanceId);
  }

  async #devicesOf(instanceId: string): Promise<readonly string[]> {
    const answer = await this.#options.client.call('DescribeInstances', { InstanceId: [instanceId] });
    const instance = itemsOf(itemsOf(answer, 'reservationSet')[0], 'instancesSet')[0];
    return itemsOf(instance, 'blockDeviceMapping').map((mapping) => textOf(mapping, 'deviceName'));
  }

  async #all(action: string, parameters: QueryRecord, list: string): Promise<readonly Element[]> {
    const found: Element[] = [];
    let token = '';
    do {
      const answer = await this.#options.client.call(action, { ...parameters, NextToken: token === '' ? undefined : token });
      found.push(...itemsOf(answer, list));
      token = textOf(answer, 'nextToken');
    } while (token !== '');
    return found;
  }

  async #until<T>({ first, next, factor, steps }: Pauses, otherwise: string, look: () => Promise<T | undefined>): Promise<T> {
    const { timers } = this.#options.world;
    for (let [step, ms] = [0, first]; step <= steps; step++, ms = next * factor ** (step - 1)) {
      await new Promise<void>((resolve) => void timers.after(ms, resolve));
      const found = await look();
      if (found !== undefined) return found;
    }
    throw new EbsTimeout(otherwise);
  }
}

function setAt(map: Map<string, Set<string>>, key: string): Set<string> {
  let found = map.get(key);
  if (found === undefined) map.set(key, (found = new Set()));
  return found;
}

const volumeOf = (element: Element): EbsVolume => ({
  id: textOf(element, 'volumeId'),
  zone: textOf(element, 'availabilityZone'),
  sizeGiB: Number(textOf(element, 'size')),
  state: textOf(element, 'status'),
  kmsKeyId: textOf(element, 'kmsKeyId'),
  tags: new Map(itemsOf(element, 'tagSet').map((tag) => [textOf(tag, 'key'), textOf(tag, 'value')])),
  attachments: (child(element, 'attachmentSet')?.children ?? []).map((each) => ({
    instanceId: textOf(each, 'instanceId'),
    device: textOf(each, 'device'),
    state: textOf(each, 'status'),
  })),
});

const snapshotOf = (element: Element): EbsSnapshot => ({
  id: textOf(element, 'snapshotId'),
  volumeId: textOf(element, 'volumeId'),
  sizeGiB: Number(textOf(element, 'volumeSize')),
  state: textOf(element, 'status'),
  startTime: Date.parse(textOf(element, 'startTime')) || 0,
});
