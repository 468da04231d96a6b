/** A container's root file system, as data: a `RootMaker` makes it by system calls, in the container's mount namespace. */
import type { ContainerDevice, ContainerMount } from '../../contract.ts';
import type { ContainerSpec } from '../../runtime.ts';

/** What a container's root is made of, besides its spec. */
export interface RootContext {
  /** An empty directory on which the root is assembled; several containers may use it at the same time. */
  readonly scratch: string;
  readonly image: RootImage;
  /** How much a container without a limit may write to its root, which is memory of the machine. */
  readonly writableBytes: number;
  /** The devices of every container. */
  readonly devices: string;
  /** Files of the pod. */
  readonly files: { readonly hosts: string; readonly resolvConf: string; readonly hostname: string };
  readonly terminationMessage: string;
  /** The container's own control groups. */
  readonly groups: readonly RootGroup[];
}

/** The files that containers of an image begin with. */
export interface RootImage {
  /** The first is the root's. A layer comes after the layer that it lies in. */
  readonly layers: readonly RootLayer[];
  /** Parts of /sys that concern the machine's hardware, besides those that every machine may have. */
  readonly hardware: readonly string[];
}

/** An overlay: what the container writes goes to memory. */
export interface RootLayer {
  readonly target: string;
  /** Directories of the host, the uppermost first. */
  readonly lower: readonly string[];
}

export interface RootGroup {
  /** Of the controllers ('memory', 'cpu,cpuacct'); version 2 has all of them in one: ''. */
  readonly controllers: string;
  readonly directory: string;
}

/**
 * Every path in it is resolved inside: no link of an image or volume leads to the host, whose root is never mounted in the container's. What it takes from the host
 * has been opened before.
 */
export interface ContainerRoot {
  readonly scratch: string;
  readonly layers: readonly RootLayer[];
  /** How much it may write to them, and how many files. */
  readonly writable: { readonly bytes: number; readonly files: number };
  readonly devices: RootDevices;
  readonly proc: RootView;
  readonly sys: RootView;
  readonly groups: readonly RootGroup[];
  /** Directories are mounted before files, which may lie in them; else in this order. */
  readonly binds: readonly RootBind[];
  /** Made if it is missing, where that is possible. */
  readonly workingDir: string;
  /** The layers. */
  readonly readOnly: boolean;
}

export interface RootDevices {
  /** The lower layer of /dev. */
  readonly usual: string;
  readonly own: readonly ContainerDevice[];
  /** It has those of the host, and nodes that the container makes itself can be opened. */
  readonly anywhere: boolean;
}

/** /proc or /sys. Not every kernel has all of these paths, which begin below it. */
export interface RootView {
  readonly readOnly: boolean;
  /** Empty for the container. */
  readonly masked: readonly string[];
  readonly readOnlyPaths: readonly string[];
}

export interface RootBind {
  /** On the host; of an image: a path in it, without links that lead out. */
  readonly source: string;
  /** Of an image: the directories of its layers, the uppermost first, relative to `scratch`. */
  readonly layers?: readonly string[];
  /** Made if it is missing, as a file or directory like the source. */
  readonly target: string;
  readonly readOnly: false | 'itself' | 'with all below';
  /** Shared: what the container mounts there appears on the host. */
  readonly propagation: ContainerMount['propagation'];
  /** Device nodes in it can be opened. */
  readonly hasDevices: boolean;
}

export function containerRoot(spec: ContainerSpec, context: RootContext): ContainerRoot {
  const { scratch, image, devices, groups } = context;
  const { privileged } = spec;
  const isUnmasked = privileged || spec.unmaskedProc === true;
  return {
    scratch,
    layers: image.layers,
    writable: writableOf(spec.writableBytes ?? context.writableBytes),
    devices: { usual: devices, own: spec.devices, anywhere: privileged },
    proc: { readOnly: false, ...(isUnmasked ? open : { masked: maskedProc, readOnlyPaths: readOnlyProc }) },
    sys: { readOnly: !privileged, ...(isUnmasked ? open : { masked: [...maskedSys, ...image.hardware], readOnlyPaths: [] }) },
    groups,
    binds: [...ownFiles(context), ...volumes(spec, context)],
    workingDir: spec.workingDir,
    readOnly: spec.readOnlyRoot,
  };
}

/** To tmpfs(5), 0 is no limit. Its files without content take memory too: with the least size, as many as the root itself needs. */
function writableOf(bytes: number): ContainerRoot['writable'] {
  const pages = Math.max(1, Math.floor(bytes / pageBytes));
  return { bytes: pages * pageBytes, files: Math.max(fewestFiles, pages) };
}

const pageBytes = 4096;
const fewestFiles = 4096;

const open: Pick<RootView, 'masked' | 'readOnlyPaths'> = { masked: [], readOnlyPaths: [] };

/** As containerd and runc (`DefaultMaskedPaths`, `DefaultReadonlyPaths`). Root could write some of them whatever its capabilities. */
const maskedProc = ['acpi', 'asound', 'interrupts', 'kcore', 'keys', 'latency_stats', 'sched_debug', 'scsi', 'timer_list', 'timer_stats'];
const readOnlyProc = ['bus', 'fs', 'irq', 'sys', 'sysrq-trigger'];
const maskedSys = ['firmware', 'devices/virtual/powercap'];

const bind = (source: string, target: string, more: Partial<RootBind> = {}): RootBind => ({
  source,
  target,
  readOnly: false,
  propagation: 'private',
  hasDevices: false,
  ...more,
});

const usualMessage = '/dev/termination-log';

const ownFiles = ({ files: { hosts, resolvConf, hostname }, terminationMessage }: RootContext): readonly RootBind[] => [
  bind(hosts, '/etc/hosts'),
  bind(resolvConf, '/etc/resolv.conf'),
  bind(hostname, '/etc/hostname'),
  bind(terminationMessage, usualMessage),
];

/** By depth: a volume comes after the volume that it lies in. */
function volumes({ mounts, privileged, terminationMessage: { path } }: ContainerSpec, { terminationMessage }: RootContext): readonly RootBind[] {
  const inOrder = mounts.toSorted((a, b) => depth(a.containerPath) - depth(b.containerPath));
  const message = path === '' || path === usualMessage ? [] : [bind(terminationMessage, path)];
  return [...message, ...inOrder.map((mount) => volume(mount, privileged))];
}

const volume = (mount: ContainerMount, hasDevices: boolean): RootBind => {
  const { hostPath, containerPath, readOnly, recursiveReadOnly, propagation, imageLayers, imageSubPath = '' } = mount;
  if (imageLayers !== undefined) return bind(imageSubPath, containerPath, { layers: imageLayers, readOnly: 'itself' });
  return bind(hostPath, containerPath, { readOnly: readOnly && (recursiveReadOnly ? 'with all below' : 'itself'), propagation, hasDevices });
};

const depth = (path: string): number => path.split('/').filter((part) => part !== '').length;
