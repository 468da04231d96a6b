import { spawnSync } from 'node:child_process';
import { platform } from 'node:os';

export type SandboxSupport = { readonly can: true } | { readonly can: false; readonly why: string };

const needed = ['unshare', 'nsenter', 'mount', 'pivot_root', 'setpriv', 'ip'];

/** Only for a program that hangs: a busy machine may take seconds. */
const longestMs = 60_000;

/** Whether this user can run containers on this machine, or why not, in one line. Takes some milliseconds. */
export function canSandbox(): SandboxSupport {
  if (platform() !== 'linux') return { can: false, why: `containers need Linux, this is ${platform()}` };
  if (process.getuid?.() !== 0) return { can: false, why: 'containers need root: only root may mount' };
  // As every container: an overlay of the host's files, in new namespaces.
  const trial = [
    `for program in ${needed.join(' ')}; do command -v "$program" >/dev/null || { echo "there is no $program here" >&2; exit 1; }; done`,
    'mount -t tmpfs moor /mnt && mkdir /mnt/upper /mnt/work /mnt/root && mount -t overlay -o lowerdir=/,upperdir=/mnt/upper,workdir=/mnt/work overlay /mnt/root',
  ].join('\n');
  const tried = spawnSync('unshare', ['--mount', '--pid', '--net', '--ipc', '--uts', '--fork', 'sh', '-c', trial], { timeout: longestMs, encoding: 'utf8' });
  if (tried.error !== undefined) return { can: false, why: `containers need util-linux: ${tried.error.message}` };
  return tried.status === 0 ? { can: true } : { can: false, why: `this machine does not permit it: ${tried.stderr.trim().split('\n')[0] ?? ''}` };
}
