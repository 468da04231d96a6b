import type { Secret } from '../../api/generated/types.ts';
import type { Programs } from '../../world/programs.ts';
import type { Clock } from '../../world/world.ts';
import {
  attempt,
  done,
  type DriverAnswer,
  type DriverFailure,
  failed,
  type NodeDriver,
  type NodePublishVolumeRequest,
  type NodePublishVolumeResponse,
  type NodeStageVolumeRequest,
  succeeded,
  type VolumeOnNode,
} from '../contract.ts';
import { directoryOf, ensureBound, ensureUnmounted, mountAt, type NodeHost } from '../mount/node-host.ts';
import { setVolumeOwnership } from '../mount/volume-ownership.ts';
import { type FlexCapabilities, FlexExecutable, type FlexStatus } from './executable.ts';

export interface FlexOptions extends NodeHost {
  readonly clock: Clock;
  readonly programs: Programs;
  readonly nodeName: string;
  /** 'namespace/name' */
  readonly secret: (key: string) => Secret | undefined;
  /** The driver 'example.com/disk' is `example.com~disk/disk` below it. */
  readonly directory: string;
}

/** The kubelet's --volume-plugin-dir. */
export const usualFlexDirectory = '/usr/libexec/kubernetes/kubelet-plugins/volume/exec';

/**
 * FlexVolume drivers (v1.36.4) by name. The executable is looked up at each use, so that a driver may be installed while the node runs.
 * Undefined: the name is invalid.
 */
export function flexDrivers(options: FlexOptions): (name: string) => NodeDriver | undefined {
  const known = new Map<string, NodeDriver>();
  return (name) => {
    if (!isDriverName.test(name) || name.startsWith('kubernetes.io/')) return undefined;
    const driver = known.get(name) ?? flexNode(options, name);
    known.set(name, driver);
    return driver;
  };
}

/** No path outside of the directory. */
const isDriverName = /^([\w-][\w.-]*\/)?[\w-][\w.-]*$/;

function flexNode(options: FlexOptions, name: string): NodeDriver {
  const flex = new FlexVolume(options, name);
  return {
    capabilities: { name, stages: true, mountOptions: false, block: false, requiresRemount: false },
    nodeStageVolume: (request) => attempt(() => flex.stage(request)),
    nodeUnstageVolume: ({ handle, stagingPath }) => attempt(() => flex.unstage(handle, stagingPath)),
    nodePublishVolume: (request) => attempt(() => flex.publish(request)),
    nodeUnpublishVolume: ({ target }) => attempt(() => flex.unpublish(target)),
  };
}

/**
 * One FlexVolume driver. The node itself attaches: attach, waitforattach, mountdevice, and the reverse. For commands that the driver does not
 * support, the kubelet's defaults apply.
 */
class FlexVolume {
  readonly #options: FlexOptions;
  readonly #name: string;
  readonly #path: string;
  readonly #executable: FlexExecutable;
  #capabilities: FlexCapabilities | undefined;

  constructor(options: FlexOptions, name: string) {
    this.#options = options;
    this.#name = name;
    this.#path = `${options.directory}/${name.replaceAll('/', '~')}/${name.slice(name.indexOf('/') + 1)}`;
    this.#executable = new FlexExecutable(this.#path, options.programs);
  }

  async stage({ volume, stagingPath }: NodeStageVolumeRequest): Promise<DriverAnswer<undefined>> {
    const able = await this.#init();
    if (!able.ok) return able;
    if (!able.value.attach) return done;
    const asked = this.#describe(volume);
    const named = await this.#executable.call('getvolumename', [asked]);
    if (named?.ok === false) return named;
    const isMounted = (await mountAt(this.#options, stagingPath)) !== undefined;
    if (isMounted && (await this.#isAttached(asked))) return done;
    const device = await this.#attach(asked);
    if (!device.ok || isMounted) return device.ok ? done : device;
    await this.#options.files.makeDirectory(stagingPath, 0o750);
    return this.#mountDevice(stagingPath, device.value, volume);
  }

  async unstage(volumeName: string, stagingPath: string): Promise<DriverAnswer<undefined>> {
    const able = await this.#init();
    if (!able.ok) return able;
    if (!able.value.attach) return done;
    if ((await mountAt(this.#options, stagingPath)) !== undefined) {
      const unmounted = await this.#executable.call('unmountdevice', [stagingPath]);
      if (unmounted?.ok === false) return unmounted;
      if (unmounted === undefined) await ensureUnmounted(this.#options, stagingPath);
    }
    // After a crash it may be attached without being mounted.
    const detached = await this.#executable.call('detach', [volumeName, this.#options.nodeName]);
    if (detached?.ok === false) return detached;
    await this.#removeDirectory(stagingPath);
    // The parent was created for this volume; it stays if it is not empty.
    await this.#removeDirectory(directoryOf(stagingPath)).catch(() => undefined);
    return done;
  }

  async publish({ volume, pod, target, stagingPath = '', recordEvent }: NodePublishVolumeRequest): Promise<DriverAnswer<NodePublishVolumeResponse>> {
    const able = await this.#init();
    if (!able.ok) return able;
    const { files, clock } = this.#options;
    if ((await mountAt(this.#options, target)) === undefined) {
      const secrets = this.#secretsFor(volume, pod.metadata.namespace ?? '');
      if (!secrets.ok) return secrets;
      await files.makeDirectory(target, 0o750);
      const mounted = await this.#executable.call('mount', [target, this.#describe(volume, { ...aboutPod(pod), ...secrets.value })]);
      if (mounted?.ok === false) {
        await this.#removeDirectory(target).catch(() => undefined);
        return mounted;
      }
      if (mounted === undefined) await ensureBound(this.#options, { source: stagingPath, target, readOnly: false, options: [] });
    }
    const { readOnly } = volume;
    if (!readOnly && able.value.fsGroup) await setVolumeOwnership(target, { files, clock, pod, readOnly, when: 'policy', recordEvent });
    return succeeded({ path: target });
  }

  async unpublish(target: string): Promise<DriverAnswer<undefined>> {
    if ((await this.#options.files.stat(target)) === undefined) return done;
    const unmounted = await this.#executable.call('unmount', [target]);
    if (unmounted?.ok === false) return unmounted;
    if (unmounted === undefined) await ensureUnmounted(this.#options, target);
    await this.#removeDirectory(target);
    return done;
  }

  async #init(): Promise<DriverAnswer<FlexCapabilities>> {
    if (this.#capabilities !== undefined) return succeeded(this.#capabilities);
    if ((await this.#options.files.stat(this.#path, 'follow')) === undefined) {
      return failed('FailedPrecondition', `no volume plugin matched name: ${this.#name}`);
    }
    const answer = (await this.#executable.call('init', [])) ?? failed('Internal', 'Not supported');
    if (!answer.ok) return answer;
    this.#capabilities = answer.value.capabilities;
    return succeeded(this.#capabilities);
  }

  /** A driver that does not support the command counts as attached. */
  async #isAttached(asked: string): Promise<boolean> {
    const answer = await this.#executable.call('isattached', [asked, this.#options.nodeName]);
    return answer === undefined || !answer.ok || answer.value.attached;
  }

  /** Resolves with the device; '': the driver has no devices. */
  async #attach(asked: string): Promise<DriverAnswer<string>> {
    const attached = deviceIn(await this.#executable.call('attach', [asked, this.#options.nodeName]), '');
    if (!attached.ok) return attached;
    return deviceIn(await this.#executable.call('waitforattach', [attached.value, asked]), attached.value);
  }

  async #mountDevice(stagingPath: string, device: string, volume: VolumeOnNode): Promise<DriverAnswer<undefined>> {
    const mounted = await this.#executable.call('mountdevice', [stagingPath, device, this.#describe(volume)]);
    if (mounted !== undefined) return mounted.ok ? done : mounted;
    if (device === '') return done;
    const { fsType: fileSystem = 'ext4' } = volume.source.flexVolume ?? {};
    const options = volume.readOnly ? ['ro'] : [];
    await this.#options.mounts.mount({ type: 'file-system', fileSystem, source: device, target: stagingPath, options });
    return done;
  }

  /** The driver may have removed it. */
  async #removeDirectory(path: string): Promise<void> {
    if ((await this.#options.files.stat(path)) !== undefined) await this.#options.files.removeDirectory(path);
  }

  /** The volume's own options take precedence. */
  #describe(volume: VolumeOnNode, more: Readonly<Record<string, string>> = {}): string {
    const { fsType = '', options = {} } = volume.source.flexVolume ?? {};
    const usual = { 'kubernetes.io/fsType': fsType, 'kubernetes.io/readwrite': volume.readOnly ? 'ro' : 'rw', 'kubernetes.io/pvOrVolumeName': volume.name };
    const all = Object.entries({ ...usual, ...more, ...options });
    return JSON.stringify(Object.fromEntries(all.sort(([a], [b]) => (a < b ? -1 : 1))));
  }

  #secretsFor({ source }: VolumeOnNode, podNamespace: string): DriverAnswer<Readonly<Record<string, string>>> {
    const reference: { readonly name?: string; readonly namespace?: string } = source.flexVolume?.secretRef ?? {};
    const { name = '', namespace = podNamespace } = reference;
    if (name === '') return succeeded({});
    const secret = this.#options.secret(`${namespace}/${name}`);
    const refused = (why: string): DriverFailure => failed('FailedPrecondition', `couldn't get secret ${namespace}/${name} err: ${why}`);
    if (secret === undefined) return refused(`secrets ${JSON.stringify(name)} not found`);
    if (secret.type !== this.#name) return refused(`cannot get secret of type ${this.#name}`);
    return succeeded(Object.fromEntries(Object.entries(secret.data ?? {}).map(([key, data]) => [`kubernetes.io/secret/${key}`, data])));
  }
}

const deviceIn = (answer: DriverAnswer<FlexStatus> | undefined, otherwise: string): DriverAnswer<string> => {
  if (answer === undefined) return succeeded(otherwise);
  return answer.ok ? succeeded(answer.value.device) : answer;
};

function aboutPod({ metadata, spec }: NodePublishVolumeRequest['pod']): Readonly<Record<string, string>> {
  const group = spec.securityContext?.fsGroup;
  return {
    'kubernetes.io/pod.name': metadata.name ?? '',
    'kubernetes.io/pod.namespace': metadata.namespace ?? '',
    'kubernetes.io/pod.uid': metadata.uid ?? '',
    'kubernetes.io/serviceAccount.name': spec.serviceAccountName ?? '',
    ...(group === undefined ? {} : { 'kubernetes.io/mounterArgs.FsGroup': String(group) }),
  };
}
