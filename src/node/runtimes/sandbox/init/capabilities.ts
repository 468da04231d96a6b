import type { ContainerSpec } from '../../../runtime.ts';

/** In the order of their numbers: linux/capability.h. */
const names = [
  'chown',
  'dac_override',
  'dac_read_search',
  'fowner',
  'fsetid',
  'kill',
  'setgid',
  'setuid',
  'setpcap',
  'linux_immutable',
  'net_bind_service',
  'net_broadcast',
  'net_admin',
  'net_raw',
  'ipc_lock',
  'ipc_owner',
  'sys_module',
  'sys_rawio',
  'sys_chroot',
  'sys_ptrace',
  'sys_pacct',
  'sys_admin',
  'sys_boot',
  'sys_nice',
  'sys_resource',
  'sys_time',
  'sys_tty_config',
  'mknod',
  'lease',
  'audit_write',
  'audit_control',
  'setfcap',
  'mac_override',
  'mac_admin',
  'syslog',
  'wake_alarm',
  'block_suspend',
  'audit_read',
  'perfmon',
  'bpf',
  'checkpoint_restore',
];

export const sysPtrace = names.indexOf('sys_ptrace');

/** Linux keeps room for so many. */
export const mostCapabilities = 64;

/**
 * The default capabilities of container runtimes; like CRI-O without `mknod`: nothing here keeps a container from opening the host's disks by a
 * device node of its own.
 */
const usual = [
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

/** The numbers of the capabilities that root has in a container. `all`: those of the shim. @throws on an unknown name */
export function capabilitiesOf(
  { privileged, capabilities: { add, drop } }: Pick<ContainerSpec, 'privileged' | 'capabilities'>,
  all: ReadonlySet<number>,
): ReadonlySet<number> {
  if (privileged) return all;
  const plain = (list: readonly string[]) => list.map((name) => name.toLowerCase().replace(/^cap_/, ''));
  const [added, dropped] = [plain(add), plain(drop)];
  const base = added.includes('all') ? all : new Set(dropped.includes('all') ? [] : usual.map(numberOf));
  const minus = new Set(dropped.filter((name) => name !== 'all').map(numberOf));
  const plus = added.filter((name) => name !== 'all').map(numberOf);
  return new Set([...[...base].filter((number) => !minus.has(number)), ...plus]);
}

function numberOf(name: string): number {
  const number = names.indexOf(name);
  if (number < 0) throw new Error(`unknown capability "CAP_${name.toUpperCase()}"`);
  return number;
}

/** The numbers in a mask as /proc/PID/status shows it: '000001ffffffffff'. */
export function capabilitiesIn(mask: string): ReadonlySet<number> {
  const bits = BigInt(`0x${mask}`);
  return new Set(Array.from({ length: mostCapabilities }, (_, number) => number).filter((number) => (bits >> BigInt(number)) & 1n));
}
