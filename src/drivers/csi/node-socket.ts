import type { CSIDriver, Pod } from '../../api/generated/types.ts';
import { quantityValue } from '../../api/quantity.ts';
import type { CsiSource } from '../../api/volumes/csi-translation.ts';
import {
  type CsiSocket,
  done,
  type DriverAnswer,
  failed,
  type NodeExpandVolumeRequest,
  type NodePublishVolumeRequest,
  type NodePublishVolumeResponse,
  type NodeStageVolumeRequest,
  type NodeUnpublishVolumeRequest,
  type NodeUnstageVolumeRequest,
  succeeded,
  type VolumeHealth,
  type VolumeStats,
} from '../contract.ts';
import type { NodeGetVolumeStatsResponse } from '../../grpc/generated/csi.ts';
import { directoryOf, ensureBound, mountAt, removeMountPoint } from '../mount/node-host.ts';
import { setVolumeOwnership } from '../mount/volume-ownership.ts';
import {
  callOptions,
  capabilityOf,
  type CsiSocketOptions,
  type CsiVolume,
  csiVolumeOf,
  type NodeService,
  openNodeService,
  secretsOf,
  statsOptions,
} from './node-calls.ts';
import {
  blockPaths,
  type BlockTarget,
  blockTarget,
  readVolumeData,
  removeBlockDirectories,
  removeUnlessMounted,
  removeVolumeDirectory,
  writeVolumeData,
} from './node-layout.ts';
import { podAttributes, Tokens } from './node-pod-attributes.ts';
import { answerOf, isFinalRpc } from './rpc-failure.ts';
import { volumeHealth } from './volume-health.ts';
import { volumeUsage } from './volume-usage.ts';

/** A pod is synchronized about once a minute: as often, the kubelet publishes a volume again whose driver requires it. */
const republishMs = 60_000;
const silenceMs = 60_000;
const recentMs = 50_000;

/**
 * The node service of drivers behind sockets, called as the kubelet does (v1.36.4, pkg/volume/csi): vol_data.json before each call that mounts, and
 * until the volume is unmounted; NodeGetCapabilities before each use; two minutes for a call.
 */
export class SocketNode {
  readonly #options: CsiSocketOptions;
  readonly #tokens: Tokens;
  /** When a driver that did not answer NodeGetVolumeStats is asked again. */
  readonly #silentUntil = new WeakMap<CsiSocket['channel'], number>();
  /** The answer to NodeGetCapabilities, for as long as one round of health calls takes. */
  readonly #services = new WeakMap<CsiSocket['channel'], { readonly service: DriverAnswer<NodeService>; readonly until: number }>();

  constructor(options: CsiSocketOptions) {
    this.#options = options;
    this.#tokens = new Tokens(options);
  }

  async stage(socket: CsiSocket, request: NodeStageVolumeRequest): Promise<DriverAnswer<undefined>> {
    const opened = await this.#open(socket, request);
    if (!opened.ok) return opened;
    const { service, volume } = opened.value;
    if (!service.has.stage) return done;
    const secrets = secretsOf(volume.secrets.stage, 'NodeStageSecretRef', this.#options);
    if (!secrets.ok) return secrets;
    const group = volume.isBlock ? undefined : request.pod?.spec.securityContext?.fsGroup;
    const volumeCapability = capabilityOf(volume, service, group);
    if (!volumeCapability.ok) return volumeCapability;
    const paths = blockPaths(this.#options.root, request.volume.name);
    const stagingPath = volume.isBlock ? paths.staging : request.stagingPath;
    await this.#options.files.makeDirectory(stagingPath, 0o750);
    // Both beside the kubelet's path and beside the one that the journal names: after a crash, unstaging begins there.
    const data = { volumeHandle: volume.handle, driverName: volume.driver };
    await writeVolumeData(this.#options, directoryOf(request.stagingPath), data);
    if (volume.isBlock) await writeVolumeData(this.#options, paths.data, { ...data, specVolID: request.volume.name });
    const answer = await answerOf(
      service.client.nodeStageVolume(
        {
          volumeId: volume.handle,
          publishContext: request.volume.publishContext,
          stagingTargetPath: service.path(stagingPath),
          volumeCapability: volumeCapability.value,
          secrets: secrets.value,
          volumeContext: volume.attributes,
        },
        callOptions,
      ),
    );
    if (answer.ok) return done;
    if (isFinalRpc(answer)) await this.#forgetStaging(request.stagingPath, volume.isBlock ? request.volume.name : undefined).catch(() => undefined);
    return answer;
  }

  async unstage(
    socket: CsiSocket,
    { handle: name, stagingPath, csi }: NodeUnstageVolumeRequest & { readonly csi: CsiSource },
  ): Promise<DriverAnswer<undefined>> {
    const { files, root } = this.#options;
    const paths = blockPaths(root, name);
    const data = await readVolumeData(this.#options, paths.data);
    const isBlock = data?.volumeHandle === csi.handle && data.driverName === csi.driver;
    const staged = isBlock ? paths.staging : stagingPath;
    const service = await openNodeService(socket);
    if (!service.ok) return service;
    if (service.value.has.stage && (!isBlock || (await files.stat(staged)) !== undefined)) {
      const answer = await answerOf(
        service.value.client.nodeUnstageVolume({ volumeId: csi.handle, stagingTargetPath: service.value.path(staged) }, callOptions),
      );
      if (!answer.ok) return answer;
    }
    await this.#removeStaging(stagingPath, isBlock ? name : undefined);
    return done;
  }

  async publish(socket: CsiSocket, request: NodePublishVolumeRequest): Promise<DriverAnswer<NodePublishVolumeResponse>> {
    const { csiDriver, clock } = this.#options;
    const opened = await this.#open(socket, request);
    if (!opened.ok) return opened;
    const { service, volume } = opened.value;
    const driver = csiDriver(volume.driver);
    const refused = volume.isBlock ? undefined : unsupportedMode(volume, driver);
    if (refused !== undefined) return failed('InvalidArgument', refused);
    const answer = await this.#publishWith(service, request, { volume, driver });
    if (!answer.ok) return answer;
    return succeeded({ path: answer.value, ...(driver?.spec.requiresRepublish === true ? { republishAt: clock.now() + republishMs } : {}) });
  }

  /** Resolves with the path. */
  async #publishWith(service: NodeService, request: NodePublishVolumeRequest, { volume, driver }: PublishedVolume): Promise<DriverAnswer<string>> {
    const { nodeName, sha256, root } = this.#options;
    const { pod, target, stagingPath } = request;
    const secrets = secretsOf(volume.secrets.publish, 'NodePublishSecretRef', this.#options);
    if (!secrets.ok) return secrets;
    const attributes = await podAttributes(pod, volume, { driver, tokens: this.#tokens });
    if (!attributes.ok) return attributes;
    const volumeCapability = capabilityOf(volume, service, volume.isBlock ? undefined : pod.spec.securityContext?.fsGroup);
    if (!volumeCapability.ok) return volumeCapability;
    const paths = blockPaths(root, request.volume.name);
    const block = blockTarget(paths, pod.metadata.uid ?? '', target);
    const targetPath = volume.isBlock ? block.published : `${target}/mount`;
    const data = {
      specVolID: request.volume.name,
      volumeHandle: volume.handle,
      driverName: volume.driver,
      nodeName,
      attachmentID: `csi-${sha256(volume.handle + volume.driver + nodeName)}`,
      volumeLifecycleMode: volume.mode,
    };
    await this.#options.files.makeDirectory(directoryOf(targetPath), 0o750);
    await writeVolumeData(this.#options, volume.isBlock ? paths.data : target, data);
    const staged = volume.isBlock ? paths.staging : service.has.stage ? stagingPath : undefined;
    const answer = await answerOf(
      service.client.nodePublishVolume(
        {
          volumeId: volume.handle,
          publishContext: request.volume.publishContext,
          stagingTargetPath: volume.mode === 'Ephemeral' || staged === undefined ? '' : service.path(staged),
          targetPath: service.path(targetPath),
          volumeCapability: volumeCapability.value,
          readonly: request.volume.readOnly,
          secrets: { ...secrets.value, ...attributes.value.secrets },
          volumeContext: { ...volume.attributes, ...attributes.value.context },
        },
        callOptions,
      ),
    );
    if (!answer.ok) {
      // A container may see what is mounted there: a later republish could not repair it.
      if (isFinalRpc(answer) && request.isRepublish !== true && !volume.isBlock) await removeUnlessMounted(this.#options, targetPath).catch(() => undefined);
      return answer;
    }
    return volume.isBlock ? this.#mapDevice(request, block) : this.#own(request, { targetPath, volume, driver, service });
  }

  /** The node's own mount of the device, and the pod's link to it. */
  async #mapDevice({ target }: NodePublishVolumeRequest, { published: device, mapped }: BlockTarget): Promise<DriverAnswer<string>> {
    const { files } = this.#options;
    const type = (await files.stat(device, 'follow'))?.type;
    if (type !== 'block-device') return failed('Internal', `kubernetes.io/csi: the driver published no block device at ${device}, but ${type ?? 'nothing'}`);
    await files.makeDirectory(directoryOf(mapped), 0o750);
    await ensureBound(this.#options, { source: device, target: mapped, readOnly: false, options: [] });
    if ((await files.stat(target)) === undefined) {
      await files.makeDirectory(directoryOf(target), 0o750);
      await files.makeLink(target, device);
    }
    return succeeded(device);
  }

  async #own(
    { pod, volume: { readOnly }, recordEvent }: NodePublishVolumeRequest,
    { targetPath, volume, driver, service }: PublishedVolume & { readonly targetPath: string; readonly service: NodeService },
  ): Promise<DriverAnswer<string>> {
    const { files, clock } = this.#options;
    if ((await files.stat(targetPath)) === undefined)
      return failed('Internal', `kubernetes.io/csi: the driver answered OK, and published nothing at ${targetPath}`);
    if (!service.has.mountGroup && !readOnly && appliesGroup(volume, pod, driver))
      await setVolumeOwnership(targetPath, { files, clock, pod, readOnly, when: 'policy', recordEvent });
    return succeeded(targetPath);
  }

  async unpublish(
    socket: CsiSocket,
    { target, name, podUid, csi }: NodeUnpublishVolumeRequest & { readonly csi: CsiSource },
    isBlock: boolean,
  ): Promise<DriverAnswer<undefined>> {
    const block = blockTarget(blockPaths(this.#options.root, name), podUid, target);
    const targetPath = isBlock ? block.published : `${target}/mount`;
    const service = await openNodeService(socket);
    if (!service.ok) return service;
    const { client, path } = service.value;
    // As the kubelet: the driver may not be able to unmount a device that is mapped.
    if (isBlock) await this.#unmapDevice(target, block);
    const answer = await answerOf(client.nodeUnpublishVolume({ volumeId: csi.handle, targetPath: path(targetPath) }, callOptions));
    if (!answer.ok) return answer;
    await (isBlock ? removeMountPoint(this.#options, targetPath) : removeVolumeDirectory(this.#options, targetPath));
    return done;
  }

  async #unmapDevice(target: string, { mapped }: BlockTarget): Promise<void> {
    const { files } = this.#options;
    if ((await files.stat(target))?.type === 'link') await files.removeFile(target);
    await removeMountPoint(this.#options, mapped);
  }

  async expand(socket: CsiSocket, request: NodeExpandVolumeRequest): Promise<DriverAnswer<undefined>> {
    const opened = await this.#open(socket, request);
    if (!opened.ok) return opened;
    const { service, volume } = opened.value;
    // The node has nothing to do: volumes of such a driver grow by the controller's call alone.
    if (!service.has.expand) return done;
    const secrets = secretsOf(volume.secrets.expand, 'NodeExpandSecretRef', this.#options);
    if (!secrets.ok) return secrets;
    const volumeCapability = capabilityOf(volume, service);
    if (!volumeCapability.ok) return volumeCapability;
    const paths = blockPaths(this.#options.root, request.volume.name);
    const staged = volume.isBlock ? paths.staging : request.stagingPath;
    const block = blockTarget(paths, request.pod?.metadata.uid ?? '', request.target ?? '');
    const published = volume.isBlock ? block.published : `${request.target ?? ''}/mount`;
    const answer = await answerOf(
      service.client.nodeExpandVolume(
        {
          volumeId: volume.handle,
          volumePath: service.path(request.target === undefined ? staged : published),
          stagingTargetPath: service.has.stage ? service.path(staged) : '',
          capacityRange: { requiredBytes: quantityValue(request.capacity) },
          volumeCapability: volumeCapability.value,
          secrets: secrets.value,
        },
        callOptions,
      ),
    );
    return answer.ok ? done : { ...answer, message: `Expander.NodeExpand failed to expand the volume : ${answer.message}` };
  }

  /** A driver that does not answer is not asked again for a minute: a page with the usage of a hundred volumes must not wait for each. */
  async stats(socket: CsiSocket, volumeId: string, path: string): Promise<DriverAnswer<VolumeStats>> {
    return this.#unlessSilent(socket, async () => {
      const service = await openNodeService(socket, statsOptions);
      if (!service.ok) return service;
      const answer = await statsOf(service.value, volumeId, path);
      if (!answer.ok) return answer;
      const usage = volumeUsage(answer.value.usage);
      const health = volumeHealth(service.value.has.condition, answer.value);
      return usage.ok && health !== undefined ? succeeded({ ...usage.value, health }) : usage;
    });
  }

  /** One call for a volume of a driver that tells, and none for others: a thousand volumes are asked about each minute. */
  async health(socket: CsiSocket, volumeId: string, path: string): Promise<DriverAnswer<VolumeHealth | undefined>> {
    return this.#unlessSilent(socket, async () => {
      const service = await this.#recentService(socket);
      if (!service.ok) return service;
      if (!service.value.has.condition) return done;
      const answer = await statsOf(service.value, volumeId, path);
      return answer.ok ? succeeded(volumeHealth(true, answer.value)) : answer;
    });
  }

  async #unlessSilent<T>({ channel }: CsiSocket, ask: () => Promise<DriverAnswer<T>>): Promise<DriverAnswer<T>> {
    const { clock } = this.#options;
    const until = this.#silentUntil.get(channel) ?? 0;
    if (clock.now() < until) return failed('Unavailable', 'the driver did not answer when it was asked last');
    const answer = await ask();
    if (!answer.ok && answer.code === 'DeadlineExceeded') this.#silentUntil.set(channel, clock.now() + silenceMs);
    return answer;
  }

  async #recentService(socket: CsiSocket): Promise<DriverAnswer<NodeService>> {
    const { clock } = this.#options;
    const recent = this.#services.get(socket.channel);
    if (recent !== undefined && clock.now() < recent.until) return recent.service;
    const service = await openNodeService(socket, statsOptions);
    this.#services.set(socket.channel, { service, until: clock.now() + recentMs });
    return service;
  }

  async #open(
    socket: CsiSocket,
    request: Pick<NodeStageVolumeRequest, 'volume' | 'pod'>,
  ): Promise<DriverAnswer<{ readonly service: NodeService; readonly volume: CsiVolume }>> {
    const volume = csiVolumeOf(request.volume, request.pod, this.#options.sha256);
    if (volume === undefined) return failed('InvalidArgument', 'volume source not found in volume.Spec');
    const service = await openNodeService(socket);
    return service.ok ? succeeded({ service: service.value, volume }) : service;
  }

  async #removeStaging(stagingPath: string, blockName: string | undefined): Promise<void> {
    if (blockName !== undefined) await removeBlockDirectories(this.#options, blockPaths(this.#options.root, blockName));
    await removeVolumeDirectory(this.#options, stagingPath);
  }

  /** After a failed call: what is mounted stays. A volume that was staged before may be in use. */
  async #forgetStaging(stagingPath: string, blockName: string | undefined): Promise<void> {
    if (blockName === undefined) return removeUnlessMounted(this.#options, stagingPath);
    const { staging, publishDirectory } = blockPaths(this.#options.root, blockName);
    const isUsed = (await mountAt(this.#options, staging)) !== undefined || (await this.#options.files.stat(publishDirectory)) !== undefined;
    if (!isUsed) await this.#removeStaging(stagingPath, blockName);
  }
}

async function statsOf({ client, has, path: pathInDriver }: NodeService, volumeId: string, path: string): Promise<DriverAnswer<NodeGetVolumeStatsResponse>> {
  if (!has.stats) return failed('Unimplemented', 'the driver has no GET_VOLUME_STATS capability');
  return answerOf(client.nodeGetVolumeStats({ volumeId, volumePath: pathInDriver(path) }, statsOptions));
}

interface PublishedVolume {
  readonly volume: CsiVolume;
  readonly driver: CSIDriver | undefined;
}

/** CSIDriver.spec.volumeLifecycleModes. Without the object, only persistent volumes are supported. */
function unsupportedMode({ mode, driver: name }: CsiVolume, driver: CSIDriver | undefined): string | undefined {
  const says = (why: string): string =>
    `kubernetes.io/csi: mounter.SetupAt failed to check volume lifecycle mode: volume mode ${JSON.stringify(mode)} not supported by driver ${name} (${why})`;
  if (driver === undefined) return mode === 'Persistent' ? undefined : says('no CSIDriver object');
  const modes = driver.spec.volumeLifecycleModes ?? ['Persistent'];
  return modes.includes(mode) ? undefined : says(`only supports [${modes.map((each) => JSON.stringify(each)).join(' ')}]`);
}

/** Whether the node changes the group of all files, by CSIDriver.spec.fsGroupPolicy. */
function appliesGroup({ fsType, accessModes, mode }: CsiVolume, pod: Pod, driver: CSIDriver | undefined): boolean {
  const policy = driver?.spec.fsGroupPolicy ?? 'ReadWriteOnceWithFSType';
  if (pod.spec.securityContext?.fsGroup === undefined || policy === 'None') return false;
  if (policy === 'File') return true;
  if (fsType === '') return false;
  return mode === 'Ephemeral' || accessModes.includes('ReadWriteOnce') || accessModes.includes('ReadWriteOncePod');
}
