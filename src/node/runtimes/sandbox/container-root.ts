/** A container's root file system, as data: a `RootMaker` makes it by system calls, in the container's mount namespace. */
import type { ContainerDevice, ContainerMount } from '../../contract.ts';
import type { ContainerSpec } from '../../runtime.ts';

export interface RootPaths {
  /** An empty directory on which the root is assembled; several containers may use it at the same time. */
  readonly scratch: string;
  /** The devices of every container, as seen from the scratch directory. */
  readonly devices: string;
  /** Files of the pod: /etc/hosts, /etc/resolv.conf, /etc/hostname. Undefined: the host's own. */
  readonly files: { readonly hosts: string; readonly resolvConf: string; readonly hostname: string };
  readonly terminationMessage: string;
  /** Paths of the host that are hidden from containers. */
  readonly hidden: readonly string[];
}

/**
 * An overlay: the host's root is the lower layer, the container's writes go to memory. Everything is mounted after the root has been changed, so that symbolic
 * links on the way (/var/run) never lead to the host, which stays mounted at an unknown path until all is done.
 */
export interface ContainerRoot {
  readonly scratch: string;
  /** Paths that are removed, such as links to targets that the container does not have. */
  readonly cleared: readonly string[];
  /** Paths with bidirectional mount propagation: what the container mounts there appears on the host. */
  readonly shared: readonly string[];
  /** In this order. Overlays name their layers as seen from the scratch directory. */
  readonly mounts: readonly RootMount[];
  readonly devices: readonly ContainerDevice[];
  /** Made if it is missing, where that is possible. */
  readonly workingDir: string;
  readonly readOnly: boolean;
}

export type RootMount =
  /** `target`: a directory, made if it is missing. `mayFail`: not every kernel has it. */
  | { readonly type: 'file-system'; readonly fileSystem: string; readonly target: string; readonly options: readonly string[]; readonly mayFail?: boolean }
  | ({ readonly type: 'bind' } & RootBind);

export interface RootBind {
  /** On the host; or, `from: 'inside'`, in the container. */
  readonly source: string;
  readonly from?: 'inside';
  /** Made if it is missing, as a file or directory like the source. */
  readonly target: string;
  /** With the mounts below it. */
  readonly recursive: boolean;
  readonly readOnly: false | 'itself' | 'with all below';
  readonly propagation: ContainerMount['propagation'];
  /** 'directory': only if the source is one; 'file': only if it is none. Undefined: in both cases. */
  readonly only?: 'directory' | 'file';
  /** A missing source is no error. */
  readonly mayFail?: boolean;
}

export function containerRoot(spec: ContainerSpec, paths: RootPaths): ContainerRoot {
  const { scratch: stage } = paths;
  return {
    scratch: stage,
    cleared: Object.keys(ownFiles(paths)),
    shared: spec.mounts.filter(({ propagation }) => propagation === 'shared').map(({ hostPath }) => hostPath),
    mounts: [...defaultMounts(paths), ...ownMounts(paths), ...(spec.privileged ? [] : protectedProc), ...volumes(spec, paths)],
    devices: spec.devices,
    workingDir: spec.workingDir,
    readOnly: spec.readOnlyRoot,
  };
}

/** A directory that every host has, on a file system that can be made private. */
export const sharedScratch = '/proc/fs';

const fileSystem = (name: string, target: string, options: readonly string[]): RootMount => ({ type: 'file-system', fileSystem: name, target, options });

const memory = (target: string, mode: string): RootMount => fileSystem('tmpfs', target, [`mode=${mode}`, 'nosuid']);

const bind = (source: string, target: string, more: Partial<RootBind> = {}): RootMount => ({
  type: 'bind',
  source,
  target,
  recursive: false,
  readOnly: false,
  propagation: 'private',
  ...more,
});

/** /proc is mounted already: only a process of the container's namespace can do that. */
const defaultMounts = ({ devices: lower, hidden }: RootPaths): readonly RootMount[] => [
  bind('/proc', '/proc'),
  fileSystem('overlay', '/dev', ['nosuid', `lowerdir=${lower}`, 'upperdir=dev/upper', 'workdir=dev/work']),
  fileSystem('devpts', '/dev/pts', ['newinstance', 'ptmxmode=0666', 'mode=0620', 'gid=5', 'nosuid', 'noexec']),
  fileSystem('tmpfs', '/dev/shm', ['mode=1777', 'nosuid', 'nodev', 'noexec', 'size=64m']),
  { type: 'file-system', fileSystem: 'mqueue', target: '/dev/mqueue', options: ['nosuid', 'nodev', 'noexec'], mayFail: true },
  bind('/sys', '/sys', { readOnly: 'itself' }),
  memory('/tmp', '1777'),
  memory('/var/tmp', '1777'),
  memory('/run', '755'),
  memory('/root', '700'),
  ...hidden.filter((path) => !clearedPaths.some((one) => path === one || path.startsWith(`${one}/`))).map((path) => memory(path, '755')),
];

/** Directories of the host that no image has content in. */
const clearedPaths = ['/tmp', '/var/tmp', '/run', '/root', '/dev', '/sys', '/proc'];

/**
 * Parts of /proc that concern the whole machine, and that root can write whatever its capabilities: read-only, as with runc. Not every kernel has all of them.
 */
const protectedProc: readonly RootMount[] = ['acpi', 'asound', 'bus', 'fs', 'irq', 'scsi', 'sys', 'sysrq-trigger'].map((name) =>
  bind(`/proc/${name}`, `/proc/${name}`, { from: 'inside', readOnly: 'itself', mayFail: true }),
);

const usualMessage = '/dev/termination-log';

const ownFiles = ({ files: { hosts, resolvConf, hostname } }: RootPaths): Readonly<Record<string, string>> => ({
  '/etc/hosts': hosts,
  '/etc/resolv.conf': resolvConf,
  '/etc/hostname': hostname,
});

const ownMounts = (paths: RootPaths): readonly RootMount[] =>
  Object.entries({ ...ownFiles(paths), [usualMessage]: paths.terminationMessage }).map(([target, source]) => bind(source, target));

/** Directories before files, and by depth: a mount comes after the mount that it lies in. */
function volumes({ mounts, terminationMessage: { path } }: ContainerSpec, paths: RootPaths): readonly RootMount[] {
  const inOrder = mounts.toSorted((a, b) => depth(a.containerPath) - depth(b.containerPath));
  const all = (only: 'directory' | 'file') => inOrder.map((mount) => volume(mount, only));
  const message = path === '' || path === usualMessage ? [] : [bind(paths.terminationMessage, path)];
  return [...all('directory'), ...message, ...all('file')];
}

const volume = ({ hostPath, containerPath, readOnly, recursiveReadOnly, propagation }: ContainerMount, only: 'directory' | 'file'): RootMount =>
  bind(hostPath, containerPath, {
    recursive: only === 'directory',
    readOnly: readOnly && (recursiveReadOnly ? 'with all below' : 'itself'),
    propagation,
    only,
  });

const depth = (path: string): number => path.split('/').filter((part) => part !== '').length;
