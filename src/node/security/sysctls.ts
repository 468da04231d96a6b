/** Kernel parameters of pods: which a node permits (pkg/kubelet/sysctl), and where they are. */
import type { Pod } from '../../api/generated/types.ts';
import { dottedSysctl, sysctlNamespace } from '../../api/kinds/pod/containers/sysctls.ts';
import { isAtLeast } from '../seccomp/profile-file.ts';
import type { Refusal } from './host-security.ts';

/** Namespaced and without effect on other pods, from this version of Linux on. */
const safeSysctls: Readonly<Record<string, string>> = {
  'kernel.shm_rmid_forced': '0.0',
  'net.ipv4.ip_local_port_range': '0.0',
  'net.ipv4.tcp_syncookies': '0.0',
  'net.ipv4.ping_group_range': '0.0',
  'net.ipv4.ip_unprivileged_port_start': '0.0',
  'net.ipv4.ip_local_reserved_ports': '3.16',
  'net.ipv4.tcp_keepalive_time': '4.5',
  'net.ipv4.tcp_fin_timeout': '4.6',
  'net.ipv4.tcp_keepalive_intvl': '4.5',
  'net.ipv4.tcp_keepalive_probes': '4.5',
  'net.ipv4.tcp_rmem': '4.15',
  'net.ipv4.tcp_wmem': '4.15',
};

const sysctlPattern = /^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*([a-z0-9][-_a-z0-9]*)?[a-z0-9*]$/;

/** What is wrong with an entry of `allowedUnsafeSysctls`: 'kernel.msg*', 'net.core.somaxconn'; undefined: nothing. */
export function sysctlPatternProblem(pattern: string): string | undefined {
  if (pattern.length > 253 || !sysctlPattern.test(pattern))
    return `sysctl ${JSON.stringify(pattern)} must have at most 253 characters and match regex ${sysctlPattern.source}`;
  const prefix = dottedSysctl(pattern).replace(/\*$/, '');
  return sysctlNamespace(prefix) === undefined ? `the sysctls ${JSON.stringify(prefix)} are not known to be namespaced` : undefined;
}

export interface SysctlRules {
  readonly kernelVersion: string;
  readonly allowedUnsafeSysctls: readonly string[];
}

/** The kubelet's reason to reject the pod; undefined: there is none. */
export function forbiddenSysctl({ spec }: Pod, { kernelVersion, allowedUnsafeSysctls }: SysctlRules): Refusal | undefined {
  const [net, ipc] = [spec.hostNetwork === true, spec.hostIPC === true];
  const refuse = (message: string) => ({ reason: 'SysctlForbidden', message: `forbidden sysctl: ${message}` });
  for (const { name } of spec.securityContext?.sysctls ?? []) {
    const sysctl = dottedSysctl(name);
    const since = Object.hasOwn(safeSysctls, sysctl) ? safeSysctls[sysctl] : undefined;
    const isSafe = since !== undefined && isAtLeast(kernelVersion, since);
    if (!isSafe && !allowedUnsafeSysctls.some((pattern) => matches(dottedSysctl(pattern), sysctl))) return refuse(`${JSON.stringify(sysctl)} not allowlisted`);
    const namespace = sysctlNamespace(sysctl);
    if (namespace === 'ipc' && ipc) return refuse(`${JSON.stringify(sysctl)} not allowed with host IPC enabled`);
    if (namespace === 'net' && net) return refuse(`${JSON.stringify(sysctl)} not allowed with host Net enabled`);
  }
  return undefined;
}

const matches = (pattern: string, sysctl: string): boolean => (pattern.endsWith('*') ? sysctl.startsWith(pattern.slice(0, -1)) : sysctl === pattern);

/** Below /proc/sys. */
export const sysctlPath = (name: string): string => dottedSysctl(name).replaceAll(/[./]/g, (found) => (found === '.' ? '/' : '.'));
