import { existsSync, readFileSync } from 'node:fs';
import { capabilityNames, permittedCapabilities } from '../../node/security/capabilities.ts';
import type { HostSecurity } from '../../node/security/host-security.ts';

/** What the administrator of a node permits: the kubelet's --seccomp-default and --allowed-unsafe-sysctls. */
export type SecuritySettings = Pick<HostSecurity, 'seccompDefault' | 'allowedUnsafeSysctls'>;

export const usualSecurity: SecuritySettings = { seccompDefault: false, allowedUnsafeSysctls: [] };

/** What confines containers on this machine. */
export const machineSecurity = (settings: SecuritySettings): HostSecurity => ({
  ...settings,
  appArmorProfiles: appArmorProfiles(),
  isSELinuxEnabled: existsSync('/sys/fs/selinux/enforce'),
  capabilities: ownCapabilities(),
});

/** No container can have others. */
function ownCapabilities(): readonly string[] {
  const numbers = permittedCapabilities(readFileSync('/proc/self/status', 'utf8'));
  return capabilityNames.filter((_, number) => numbers.has(number));
}

/** Undefined: the kernel has no AppArmor, or does not use it. */
function appArmorProfiles(): readonly string[] | undefined {
  const directory = '/sys/kernel/security/apparmor';
  const enabled = '/sys/module/apparmor/parameters/enabled';
  if (!existsSync(directory) || !existsSync(enabled) || !readFileSync(enabled, 'utf8').startsWith('Y')) return undefined;
  // 'name (enforce)'
  return readFileSync(`${directory}/profiles`, 'utf8')
    .split('\n')
    .flatMap((line) => /^(.+) \(\w+\)$/.exec(line)?.[1] ?? []);
}
