/** What a container finds as its root, as data: whoever makes it (`RootMaker`) does so by system calls, in the container's own mounts. */
import type { ContainerDevice, ContainerMount } from '../../contract.ts';
import type { ContainerSpec } from '../../runtime.ts';

export interface RootPaths {
  /** An empty directory that the container's root is put together on; others may do so at the same time. */
  readonly scratch: string;
  /** What every container finds in /dev, as seen from the stage. */
  readonly devices: string;
  /** Files of the pod: /etc/hosts, /etc/resolv.conf, /etc/hostname. Undefined: the host's own. */
  readonly files: { readonly hosts: string; readonly resolvConf: string; readonly hostname: string };
  readonly terminationMessage: string;
  /** What of the host no container is to see. */
  readonly hidden: readonly string[];
}

/**
 * The host's root is the lower layer, whatever the container writes goes to memory that ends with it. Everything is mounted after the root has been changed, so
 * that symbolic links on the way (/var/run) lead to where they lead inside, and never out: the host is at a place that nobody knows, until all is done.
 */
export interface ContainerRoot {
  readonly scratch: string;
  /** Whatever the host has there, such as a link to what is not there inside, makes room. */
  readonly cleared: readonly string[];
  /** Paths that have to lie on mounts of the host that are shared: what the container mounts there is to appear on the host. */
  readonly shared: readonly string[];
  /** In this order. Overlays name their layers as seen from the stage. */
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
  /** Made if it is missing, as what the source is. */
  readonly target: string;
  /** With all that is mounted below it. */
  readonly recursive: boolean;
  readonly readOnly: false | 'itself' | 'with all below';
  readonly propagation: ContainerMount['propagation'];
  /** 'directory': only if it is one; 'file': only if it is none. What a source is, is known only then. Undefined: whatever it is. */
  readonly only?: 'directory' | 'file';
  /** A source that is not there is no error. */
  readonly mayFail?: boolean;
}

export function containerRoot(spec: ContainerSpec, place: RootPaths): ContainerRoot {
  const { scratch: stage } = place;
  return {
    scratch: stage,
    cleared: Object.keys(ownFiles(place)),
    shared: spec.mounts.filter(({ propagation }) => propagation === 'shared').map(({ hostPath }) => hostPath),
    mounts: [...defaultMounts(place), ...ownMounts(place), ...(spec.privileged ? [] : protectedProc), ...volumes(spec, place)],
    devices: spec.devices,
    workingDir: spec.workingDir,
    readOnly: spec.readOnlyRoot,
  };
}

/** In a container's own mounts: a directory that is there everywhere, on a file system that can be made private. */
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

/** /proc is already that of the container's processes: only one of them could mount it. */
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

/** What of the host is none of an image's. */
const clearedPaths = ['/tmp', '/var/tmp', '/run', '/root', '/dev', '/sys', '/proc'];

/**
 * What of /proc is the whole machine's, such as which disks there are, and root may write whatever its capabilities: it is read-only, as with runc, or hidden
 * there. Not every kernel has all of it.
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

const ownMounts = (place: RootPaths): readonly RootMount[] =>
  Object.entries({ ...ownFiles(place), [usualMessage]: place.terminationMessage }).map(([target, source]) => bind(source, target));

/** Directories first, in the order of their depth, so that one that lies in another comes after it: files may lie in any of them. */
function volumes({ mounts, terminationMessage: { path } }: ContainerSpec, place: RootPaths): readonly RootMount[] {
  const inOrder = mounts.toSorted((a, b) => depth(a.containerPath) - depth(b.containerPath));
  const all = (only: 'directory' | 'file') => inOrder.map((mount) => volume(mount, only));
  const message = path === '' || path === usualMessage ? [] : [bind(place.terminationMessage, path)];
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
