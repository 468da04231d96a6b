/** The shell script that runs in the new namespaces until it executes the container's program. */
import type { ContainerSpec } from '../../runtime.ts';

export interface ScriptOptions {
  /** Directories of the container's control groups. */
  readonly groups: readonly string[];
  /** Whether mounts are propagated to the host. */
  readonly isSharing: boolean;
  /** The container's variables and its program, for `execInto`. */
  readonly words: readonly string[];
}

/**
 * The script writes errors to descriptor 3, as well as its process id on the host ('1234\n') and finally 'ok\n'. A line that it reads there says that the root has
 * been made (`ContainerRoot`) and that the process is in it. Starting a program is the main cost here: the only one mounts /proc, which has to be done in the
 * container's process namespace.
 */
export function containerScript(spec: ContainerSpec, { groups, isSharing, words }: ScriptOptions, [program = '']: readonly string[]): string {
  return [
    fail,
    'read -r pid rest </proc/self/stat',
    ...groups.map((group) => `echo 0 >${quote(`${group}/cgroup.procs`)} || fail 'cannot join the control group'`),
    // No mount made here appears on the host.
    ...(isSharing ? ["mount --make-private /proc || fail 'cannot make the root'"] : []),
    "mount -t proc -o nosuid,nodev,noexec proc /proc || fail 'cannot mount /proc'",
    'echo "$pid" >&3; read -r made <&3 || exit 128',
    `cd ${quote(workingDirOf(spec))} || fail ${quote(`chdir to cwd (${JSON.stringify(spec.workingDir)}) failed`)}`,
    ...stayInside(spec),
    ...findProgram(spec, program),
    'echo ok >&3; exec 3>&-',
    execInto([...identity(spec), '--pdeathsig=KILL'], words),
    '',
  ].join('\n');
}

/** For a program beside the container's own. Writes errors to descriptor 3, and nothing else. */
export const execScript = (spec: ContainerSpec, words: readonly string[], [program = '']: readonly string[]): string =>
  [
    fail,
    `cd ${quote(workingDirOf(spec))} 2>/dev/null`,
    ...stayInside(spec),
    ...findProgram(spec, program),
    'exec 3>&-',
    execInto(identity(spec), words),
    '',
  ].join('\n');

const fail = 'fail() { printf \'error %s\\n\' "$1" >&3; exit 128; }';

/** The error that a script wrote to descriptor 3. */
export const scriptError = (report: string): string | undefined =>
  report
    .split('\n')
    .find((line) => line.startsWith('error '))
    ?.slice('error '.length)
    .slice(0, 4096);

/** Executes a program under an identity with its own variables only. `words`: the shell's expressions for variables and arguments ('"$VARIABLE"'). */
const execInto = (as: readonly string[], words: readonly string[]): string => `exec ${as.map(quote).join(' ')} env -i ${words.join(' ')}`;

export const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** A script that makes the devices of every container in this directory. */
export const devicesScript = (directory: string): string =>
  [
    `rm -rf ${quote(`${directory}.new`)} && mkdir -p ${quote(`${directory}.new`)} && cd ${quote(`${directory}.new`)}`,
    `cp -a ${['null', 'zero', 'full', 'random', 'urandom', 'tty'].map((name) => `/dev/${name}`).join(' ')} .`,
    'mkdir pts shm mqueue && ln -s pts/ptmx ptmx && ln -s /proc/self/fd fd && : >termination-log',
    'ln -s /proc/self/fd/0 stdin && ln -s /proc/self/fd/1 stdout && ln -s /proc/self/fd/2 stderr',
    `mv ${quote(`${directory}.new`)} ${quote(directory)}`,
  ].join(' && ');

/** With hostPID, /proc shows the host's processes and their roots: the shell must not start in such a directory. */
const stayInside = ({ hostPid }: ContainerSpec): readonly string[] =>
  hostPid ? [`case "$(sh -c 'pwd -P' 2>/dev/null)" in /*) ;; *) fail 'current working directory is outside of container mount namespace root';; esac`] : [];

const workingDirOf = ({ workingDir }: ContainerSpec): string => (workingDir === '' ? '/' : workingDir);
/** With runc's error messages. */
function findProgram(spec: ContainerSpec, name: string): readonly string[] {
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
 * The default capabilities of container runtimes; like CRI-O without `mknod`: nothing here keeps a container from opening the host's disks by a
 * device node of its own.
 */
const defaultCapabilities = [
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

/** The command that sets the container's user, groups and capabilities. */
function identity({ user, privileged, capabilities, noNewPrivileges }: ContainerSpec): readonly string[] {
  const { uid = 0, gid = 0, groups } = user;
  const ids = [`--reuid=${uid}`, `--regid=${gid}`, groups.length === 0 ? '--clear-groups' : `--groups=${[...new Set(groups)].join(',')}`];
  return ['setpriv', ...ids, ...(noNewPrivileges ? ['--no-new-privs'] : []), ...(privileged ? [] : bounds(capabilities))];
}

function bounds({ add, drop }: ContainerSpec['capabilities']): readonly string[] {
  const plain = (names: readonly string[]) => names.map((name) => name.toLowerCase().replace(/^cap_/, ''));
  const [added, dropped] = [plain(add), plain(drop)];
  if (added.includes('all')) return dropped.filter((name) => name !== 'all').map((name) => `--bounding-set=-${name}`);
  const kept = dropped.includes('all') ? [] : defaultCapabilities.filter((name) => !dropped.includes(name));
  return ['--inh-caps=-all', `--bounding-set=${['-all', ...new Set([...kept, ...added])].join(',+')}`];
}

/** The container's variables, and no others: 'NAME=value'. */
export function variablesOf({ env, user, tty }: ContainerSpec): readonly string[] {
  const usual = { PATH: defaultPath, HOME: (user.uid ?? 0) === 0 ? '/root' : '/', ...(tty ? { TERM: 'xterm' } : {}) };
  const all = new Map([...Object.entries(usual), ...env.map(({ name, value }) => [name, value] as const)]);
  return [...all].map(([name, value]) => `${name}=${value}`);
}
