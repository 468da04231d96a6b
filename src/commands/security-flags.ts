import type { SecuritySettings } from '../cluster/nodes/machine-security.ts';
import { sysctlPatternProblem } from '../node/security/sysctls.ts';
import { type Flag, type FlagValues, UsageError } from './command.ts';

/** The kubelet's flags of the same names, for nodes on which pods really run. */
export const securityFlags: readonly Flag[] = [
  { name: 'seccomp-default', about: 'containers without a seccompProfile run under RuntimeDefault instead of unconfined' },
  {
    name: 'allowed-unsafe-sysctls',
    value: 'NAME,…',
    about: 'sysctls that pods may set besides the safe ones; "*" at the end stands for any rest, as in kernel.msg*',
    default: 'none',
  },
];

/** @throws UsageError */
export function securityOptions(flags: FlagValues): SecuritySettings {
  const allowedUnsafeSysctls = (flags.text('allowed-unsafe-sysctls') ?? '')
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');
  for (const pattern of allowedUnsafeSysctls) {
    const problem = sysctlPatternProblem(pattern);
    if (problem !== undefined) throw new UsageError(`--allowed-unsafe-sysctls: ${problem}`);
  }
  return { seccompDefault: flags.on('seccomp-default'), allowedUnsafeSysctls };
}
