/** The capabilities of containers: names as in `securityContext.capabilities`, without 'CAP_'. */
import type { SecurityContext } from '../../api/generated/types.ts';

/** In the order of their numbers in Linux. */
export const capabilityNames: readonly string[] =
  'CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID SETUID SETPCAP LINUX_IMMUTABLE NET_BIND_SERVICE NET_BROADCAST NET_ADMIN NET_RAW IPC_LOCK IPC_OWNER SYS_MODULE SYS_RAWIO SYS_CHROOT SYS_PTRACE SYS_PACCT SYS_ADMIN SYS_BOOT SYS_NICE SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG MKNOD LEASE AUDIT_WRITE AUDIT_CONTROL SETFCAP MAC_OVERRIDE MAC_ADMIN SYSLOG WAKE_ALARM BLOCK_SUSPEND AUDIT_READ PERFMON BPF CHECKPOINT_RESTORE'.split(
    ' ',
  );

/** The default capabilities of container runtimes; like CRI-O without MKNOD. The mounts of a container (nodev) and its control group keep it from the host's devices as well. */
const defaultCapabilities = 'AUDIT_WRITE CHOWN DAC_OVERRIDE FOWNER FSETID KILL NET_BIND_SERVICE NET_RAW SETFCAP SETGID SETPCAP SETUID SYS_CHROOT'.split(' ');

/** Linux keeps room for so many. */
export const mostCapabilities = 64;

/** The numbers of the capabilities that a process has, by its /proc/PID/status: no process that it starts can have others. */
export function permittedCapabilities(status: string): ReadonlySet<number> {
  const bits = BigInt(`0x${/^CapPrm:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? '0'}`);
  return new Set(Array.from({ length: mostCapabilities }, (_, number) => number).filter((number) => (bits >> BigInt(number)) & 1n));
}

/** Either case, with or without 'CAP_'. */
const plain = (names: readonly string[] = []): readonly string[] => names.map((name) => name.toUpperCase().replace(/^CAP_/, ''));

/** What a container may have at most, in the order of the numbers: its bounding set. As with containerd, ALL comes before single names, and drop comes last. */
export function boundingSet({ privileged, capabilities = {} }: SecurityContext): readonly string[] {
  const [added, dropped] = [plain(capabilities.add), plain(capabilities.drop)];
  if (privileged === true) return capabilityNames;
  const first = dropped.includes('ALL') ? [] : added.includes('ALL') ? capabilityNames : defaultCapabilities;
  return capabilityNames.filter((name) => (added.includes(name) || first.includes(name)) && !dropped.includes(name));
}

/** Why the capabilities cannot be given or taken; undefined: they can. `available`: those of the machine. */
export function capabilityProblem({ privileged, capabilities = {} }: SecurityContext, available: readonly string[]): string | undefined {
  for (const list of ['add', 'drop'] as const) {
    for (const [index, name] of plain(capabilities[list]).entries()) {
      const at = `securityContext.capabilities.${list}: ${JSON.stringify(capabilities[list]?.[index])}`;
      if (name !== 'ALL' && !capabilityNames.includes(name)) return `${at} is not a capability of Linux`;
      if (list === 'add' && privileged !== true && name !== 'ALL' && !available.includes(name)) return `${at} is not available on this node`;
    }
  }
  return undefined;
}
