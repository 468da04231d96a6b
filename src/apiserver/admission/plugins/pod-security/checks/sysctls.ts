import type { Check, CheckPod } from './check.ts';

/** The safe sysctls, by the version that allowed them first. */
const allowedSince: readonly (readonly [number, readonly string[]])[] = [
  [
    0,
    ['kernel.shm_rmid_forced', 'net.ipv4.ip_local_port_range', 'net.ipv4.tcp_syncookies', 'net.ipv4.ping_group_range', 'net.ipv4.ip_unprivileged_port_start'],
  ],
  [27, ['net.ipv4.ip_local_reserved_ports']],
  [29, ['net.ipv4.tcp_keepalive_time', 'net.ipv4.tcp_fin_timeout', 'net.ipv4.tcp_keepalive_intvl', 'net.ipv4.tcp_keepalive_probes']],
  [32, ['net.ipv4.tcp_rmem', 'net.ipv4.tcp_wmem']],
];

const onlyAllowed =
  (allowed: ReadonlySet<string>): CheckPod =>
  ({ spec }) => {
    const forbidden = (spec.securityContext?.sysctls ?? []).map(({ name }) => name).filter((name) => !allowed.has(name));
    return forbidden.length === 0 ? undefined : { reason: 'forbidden sysctls', detail: forbidden.join(', ') };
  };

export const sysctls: Check['versions'] = allowedSince.map(([since], at) => ({
  since,
  checkPod: onlyAllowed(new Set(allowedSince.slice(0, at + 1).flatMap(([, names]) => names))),
}));
