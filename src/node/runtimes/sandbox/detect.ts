import { spawnSync } from 'node:child_process';
import { arch, platform, release } from 'node:os';

export type SandboxSupport = { readonly can: true } | { readonly can: false; readonly why: string };

const needed = ['unshare', 'nsenter', 'ip'];

/** The first Linux with every system call of inits and roots: mount_setattr(2). */
const oldest = [5, 12] as const;

/** Only for a program that hangs: a busy machine may take seconds. */
const longestMs = 60_000;

/** Whether this user can run containers on this machine, or why not, in one line. Takes some milliseconds. */
export function canSandbox(): SandboxSupport {
  if (platform() !== 'linux') return { can: false, why: `containers need Linux, this is ${platform()}` };
  if (arch() !== 'x64' && arch() !== 'arm64') return { can: false, why: `containers need x64 or arm64, this is ${arch()}` };
  const [major = 0, minor = 0] = release().split('.').map(Number);
  if (major < oldest[0] || (major === oldest[0] && minor < oldest[1]))
    return { can: false, why: `containers need Linux ${oldest.join('.')}, this is ${release()}` };
  if (process.getuid?.() !== 0) return { can: false, why: 'containers need root: only root may mount' };
  // As every container: an overlay of the host's programs, in new namespaces, with a limit of processes.
  const trial = [
    `for program in ${needed.join(' ')}; do command -v "$program" >/dev/null || { echo "there is no $program here" >&2; exit 1; }; done`,
    'groups=/sys/fs/cgroup; [ -w $groups/pids/cgroup.procs ] || { [ -w $groups/cgroup.procs ] && grep -qw pids $groups/cgroup.controllers; } || { echo "there is no pids controller of control groups here that can be changed" >&2; exit 1; }',
    'mount -t tmpfs moor /mnt && mkdir /mnt/upper /mnt/work /mnt/root && mount -t overlay -o lowerdir=/usr/bin,upperdir=/mnt/upper,workdir=/mnt/work overlay /mnt/root',
  ].join('\n');
  const tried = spawnSync('unshare', ['--mount', '--pid', '--net', '--ipc', '--uts', '--cgroup', '--fork', 'sh', '-c', trial], {
    timeout: longestMs,
    encoding: 'utf8',
  });
  if (tried.error !== undefined) return { can: false, why: `containers need util-linux: ${tried.error.message}` };
  return tried.status === 0 ? { can: true } : { can: false, why: `this machine does not permit it: ${tried.stderr.trim().split('\n')[0] ?? ''}` };
}
