/** The shell script that makes a container: what runs inside of the new namespaces until the container's own program takes its place. */
import type { ContainerDevice, ContainerMount } from '../contract.ts';
import type { ContainerSpec } from '../runtime.ts';

export interface Place {
  /** An empty directory that the container's root is put together on; others may do so at the same time. */
  readonly stage: string;
  /** What every container finds in /dev, as seen from the stage. */
  readonly devices: string;
  /** Files of the pod: /etc/hosts, /etc/resolv.conf, /etc/hostname. Undefined: the host's own. */
  readonly files: { readonly hosts: string; readonly resolvConf: string; readonly hostname: string };
  readonly terminationMessage: string;
  /** Directories of control groups that the container belongs to. */
  readonly groups: readonly string[];
  /** What of the host no container is to see. */
  readonly hidden: readonly string[];
}

/**
 * Whatever goes wrong is told on descriptor 3, as is the process's id on the host ('1234\n') and, as the last thing, that all is well ('ok\n').
 *
 * The host's root is the lower layer, whatever the container writes goes to memory that ends with it. Volumes are mounted after the root has been
 * changed, so that symbolic links on the way (/var/run) lead to where they lead inside, and never out. Each program that is started here costs more than all
 * that it does: one mount(8) mounts everything that it can.
 */
export function containerScript(spec: ContainerSpec, place: Place, program: readonly string[]): string {
  const { stage } = place;
  const rest = mountedLast(spec, place);
  const shared = spec.mounts.filter(({ propagation }) => propagation === 'shared');
  return [
    'fail() { printf \'error %s\\n\' "$1" >&3; exit 128; }',
    'read -r pid rest </proc/self/stat; echo "$pid" >&3',
    ...place.groups.map((group) => `echo 0 >${quote(`${group}/cgroup.procs`)} || fail 'cannot join the control group'`),
    ...shared.map(demandShared),
    // Nothing that is put together here is to appear on the host.
    ...(shared.length === 0 ? [] : ["mount --make-private /proc || fail 'cannot make the root'"]),
    `mount -t tmpfs -o mode=755 moor ${quote(stage)} && cd ${quote(stage)} || fail 'cannot make the root'`,
    "mkdir -p work root upper/.host upper/etc dev/upper dev/work || fail 'cannot make the root'",
    // Whatever the host has there, such as a link to what is not there inside, makes room.
    ...Object.keys(ownFiles(place)).map((file) => `: >upper${file}`),
    `printf '%s\\n' ${[...usualMounts(place), ...ownMounts(place)].map(quote).join(' ')} >fstab`,
    ...(spec.privileged ? [] : [guard]),
    ...directories(spec.mounts),
    "mount -t overlay -o lowerdir=/,upperdir=upper,workdir=work overlay root || fail 'cannot make the root'",
    "cd root && pivot_root . .host && cd / || fail 'cannot change the root'",
    `cd ${quote(`/.host${stage}`)} && mount -a -T fstab 2>&3 && cd / || fail 'cannot mount the file systems'`,
    ...devices(spec.devices),
    ...rest,
    // Nor is anything to go there because it goes here.
    ...(shared.length === 0 ? [] : ["mount --make-rslave /.host || fail 'cannot leave the host'"]),
    "umount -l /.host && rmdir /.host || fail 'cannot leave the host'",
    ...workingDirectory(spec),
    ...(spec.readOnlyRoot ? ["mount -o remount,bind,ro / || fail 'cannot make the root read-only'"] : []),
    ...findProgram(spec, program),
    'echo ok >&3; exec 3>&-',
    `exec ${[...identity(spec), '--pdeathsig=KILL', ...environment(spec), ...program].map(quote).join(' ')}`,
    '',
  ].join('\n');
}

/** In a container's own mounts: a directory that is there everywhere, on a file system that can be made private. */
export const stageOfSharing = '/proc/fs';

export const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const memory = (path: string, mode: string): string => `moor ${path} tmpfs mode=${mode},nosuid,X-mount.mkdir 0 0`;

const usualMounts = ({ devices: lower, hidden }: Place): readonly string[] => [
  'proc /proc proc nosuid,nodev,noexec 0 0',
  `overlay /dev overlay nosuid,lowerdir=${lower},upperdir=dev/upper,workdir=dev/work 0 0`,
  'devpts /dev/pts devpts newinstance,ptmxmode=0666,mode=0620,gid=5,nosuid,noexec 0 0',
  'moor /dev/shm tmpfs mode=1777,nosuid,nodev,noexec,size=64m 0 0',
  'mqueue /dev/mqueue mqueue nosuid,nodev,noexec,nofail 0 0',
  '/.host/sys /sys none bind,ro 0 0',
  memory('/tmp', '1777'),
  memory('/var/tmp', '1777'),
  memory('/run', '755'),
  memory('/root', '700'),
  ...hidden.filter((path) => !emptied.some((one) => path === one || path.startsWith(`${one}/`))).map((path) => memory(escaped(path), '755')),
];

/** What of /proc is the whole machine's, and root may write whatever its capabilities: it is read-only, as with runc. Not every kernel has all of it. */
const guard = [
  'for name in bus fs irq sys sysrq-trigger; do',
  '[ ! -e "/proc/$name" ] || echo "/proc/$name /proc/$name none bind,ro 0 0"',
  'done >>fstab',
].join('\n');

/** What of the host is none of an image's. */
const emptied = ['/tmp', '/var/tmp', '/run', '/root', '/dev', '/sys', '/proc'];

/** A script that makes what every container finds in /dev, in this directory. */
export const devicesScript = (directory: string): string =>
  [
    `rm -rf ${quote(`${directory}.new`)} && mkdir -p ${quote(`${directory}.new`)} && cd ${quote(`${directory}.new`)}`,
    `cp -a ${['null', 'zero', 'full', 'random', 'urandom', 'tty'].map((name) => `/dev/${name}`).join(' ')} .`,
    'mkdir pts shm mqueue && ln -s pts/ptmx ptmx && ln -s /proc/self/fd fd && : >termination-log',
    'ln -s /proc/self/fd/0 stdin && ln -s /proc/self/fd/1 stdout && ln -s /proc/self/fd/2 stderr',
    `mv ${quote(`${directory}.new`)} ${quote(directory)}`,
  ].join(' && ');

const usualMessage = '/dev/termination-log';

const devices = (own: readonly ContainerDevice[]): readonly string[] =>
  own.map(({ hostPath, containerPath, readOnly }) => {
    const [from, to] = [quote(`/.host${hostPath}`), quote(containerPath)];
    const bits = readOnly ? ` && chmod a-w ${to}` : '';
    return `mkdir -p ${quote(parentOf(containerPath))} && cp -aL ${from} ${to}${bits} || fail ${quote(`cannot make the device ${containerPath}`)}`;
  });

const ownFiles = ({ files: { hosts, resolvConf, hostname } }: Place): Readonly<Record<string, string>> => ({
  '/etc/hosts': hosts,
  '/etc/resolv.conf': resolvConf,
  '/etc/hostname': hostname,
});

const ownMounts = (place: Place): readonly string[] =>
  Object.entries({ ...ownFiles(place), [usualMessage]: place.terminationMessage }).map(
    ([target, source]) => `${escaped(`/.host${source}`)} ${target} none bind 0 0`,
  );

/** What a container mounts there appears on the host only if the host's own mount is shared. In the words of containerd. */
const demandShared = ({ hostPath }: ContainerMount): string => {
  const [about, rest] = [quote(`path "${hostPath}" is mounted on "`), quote('" but it is not a shared mount')];
  const look = (column: string) => `"$(findmnt -no ${column} -T ${quote(hostPath)})"`;
  return `case ${look('PROPAGATION')} in shared*) ;; *) fail ${about}${look('TARGET')}${rest} ;; esac`;
};

/** What is a directory and what a file is known only there. In the order of their paths, so that one that lies in another comes after it. */
const directories = (mounts: readonly ContainerMount[]): readonly string[] =>
  byDepth(mounts).map(({ hostPath, containerPath, readOnly, propagation }) => {
    const options = ['rbind', ...(readOnly ? ['ro'] : []), ...(propagation === 'private' ? [] : [`r${propagation}`]), 'X-mount.mkdir'];
    const line = `${escaped(`/.host${hostPath}`)} ${escaped(containerPath)} none ${options.join(',')} 0 0`;
    return `[ ! -d ${quote(hostPath)} ] || printf '%s\\n' ${quote(line)} >>fstab`;
  });

/** Files need something to be mounted on, perhaps in a directory that is mounted itself. */
function mountedLast({ mounts, terminationMessage: { path } }: ContainerSpec, place: Place): readonly string[] {
  const message = path === '' || path === usualMessage ? [] : [bindFile({ source: place.terminationMessage, target: path, options: 'bind' })];
  const files = byDepth(mounts).map(({ hostPath, containerPath, readOnly }) => {
    const bind = bindFile({ source: hostPath, target: containerPath, options: readOnly ? 'bind,ro' : 'bind' });
    return `[ -d ${quote(`/.host${hostPath}`)} ] || { ${bind}; }`;
  });
  return [...message, ...files];
}

interface Bind {
  readonly source: string;
  readonly target: string;
  /** Of mount(8). */
  readonly options: string;
}

const bindFile = ({ source, target, options }: Bind): string =>
  `mkdir -p ${quote(parentOf(target))} && { [ -e ${quote(target)} ] || : >${quote(target)}; } && mount -o ${options} ${quote(`/.host${source}`)} ${quote(target)} 2>&3 || fail ${quote(`cannot mount ${target}`)}`;

const parentOf = (path: string): string => path.slice(0, Math.max(1, path.lastIndexOf('/')));

const byDepth = (mounts: readonly ContainerMount[]): readonly ContainerMount[] => mounts.toSorted((a, b) => depth(a.containerPath) - depth(b.containerPath));

const depth = (path: string): number => path.split('/').filter((part) => part !== '').length;

/** As in fstab(5). */
const escaped = (path: string): string => path.replaceAll(/[\s\\]/g, (char) => `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`);

function workingDirectory({ workingDir }: ContainerSpec): readonly string[] {
  if (workingDir === '' || workingDir === '/') return [];
  const quoted = quote(workingDir);
  return [`[ -d ${quoted} ] || mkdir -p ${quoted} 2>/dev/null; cd ${quoted} || fail ${quote(`chdir to cwd (${JSON.stringify(workingDir)}) failed`)}`];
}

/** In the words of runc, which are all that people know. */
function findProgram(spec: ContainerSpec, [name = '']: readonly string[]): readonly string[] {
  const path = spec.env.findLast((variable) => variable.name === 'PATH')?.value ?? defaultPath;
  const quoted = quote(name);
  if (name.includes('/')) {
    return [
      `[ -e ${quoted} ] || fail ${quote(`exec: ${JSON.stringify(name)}: stat ${name}: no such file or directory: unknown`)}`,
      `[ -x ${quoted} ] && [ ! -d ${quoted} ] || fail ${quote(`exec: ${JSON.stringify(name)}: permission denied: unknown`)}`,
    ];
  }
  return [
    `usual=$PATH PATH=${quote(path)}`,
    `command -v ${quoted} >/dev/null 2>&1 || fail ${quote(`exec: ${JSON.stringify(name)}: executable file not found in $PATH: unknown`)}`,
    'PATH=$usual',
  ];
}

export const defaultPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/**
 * What runtimes give to every container that asks for nothing else; of these, as CRI-O does, not `mknod`: nothing here keeps a container from opening
 * the host's disks by a device node of its own.
 */
const usualCapabilities = [
  'audit_write',
  'chown',
  'dac_override',
  'fowner',
  'fsetid',
  'kill',
  'net_bind_service',
  'net_raw',
  'setfcap',
  'setgid',
  'setpcap',
  'setuid',
  'sys_chroot',
];

/** The command that takes on the container's user, groups and capabilities. */
export function identity({ user, privileged, capabilities, noNewPrivileges }: ContainerSpec): readonly string[] {
  const { uid = 0, gid = 0, groups } = user;
  const ids = [`--reuid=${uid}`, `--regid=${gid}`, groups.length === 0 ? '--clear-groups' : `--groups=${[...new Set(groups)].join(',')}`];
  return ['setpriv', ...ids, ...(noNewPrivileges ? ['--no-new-privs'] : []), ...(privileged ? [] : bounds(capabilities))];
}

function bounds({ add, drop }: ContainerSpec['capabilities']): readonly string[] {
  const plain = (names: readonly string[]) => names.map((name) => name.toLowerCase().replace(/^cap_/, ''));
  const [added, dropped] = [plain(add), plain(drop)];
  if (added.includes('all')) return dropped.filter((name) => name !== 'all').map((name) => `--bounding-set=-${name}`);
  const kept = dropped.includes('all') ? [] : usualCapabilities.filter((name) => !dropped.includes(name));
  return ['--inh-caps=-all', `--bounding-set=${['-all', ...new Set([...kept, ...added])].join(',+')}`];
}

/** The command that sets the container's variables, and no others. */
export function environment({ env, user, tty }: ContainerSpec): readonly string[] {
  const usual = { PATH: defaultPath, HOME: (user.uid ?? 0) === 0 ? '/root' : '/', ...(tty ? { TERM: 'xterm' } : {}) };
  const all = new Map([...Object.entries(usual), ...env.map(({ name, value }) => [name, value] as const)]);
  return ['env', '-i', ...[...all].map(([name, value]) => `${name}=${value}`)];
}
