import { readFileSync } from 'node:fs';
import type { ContainerSpec } from '../../../runtime.ts';
import { capabilitiesIn, capabilitiesOf } from './capabilities.ts';
import type { InitSpec } from './container-init.ts';
import { defaultPath } from './execute.ts';
import { inTerminal } from '../terminal.ts';

/** What the processes of a container have in common. */
export function initSpec(spec: ContainerSpec, command: readonly string[], groups: readonly string[]): InitSpec {
  const { uid = 0, gid = 0, groups: supplemental } = spec.user;
  const { noNewPrivileges, seccompFilter, appArmorProfile } = spec;
  return {
    command,
    ...(spec.tty ? { launcher: inTerminal(command) } : {}),
    variables: variablesOf(spec),
    workingDir: spec.workingDir === '' ? '/' : spec.workingDir,
    groups,
    appArmorProfile,
    identity: {
      uid,
      gid,
      groups: supplemental,
      capabilities: capabilitiesOf(spec, ownCapabilities()),
      noNewPrivileges,
      seccompFilter: seccompFilter === undefined ? undefined : Buffer.from(seccompFilter, 'base64'),
    },
  };
}

/** The container's variables, and no others: 'NAME=value'. */
function variablesOf({ env, user, tty }: ContainerSpec): readonly string[] {
  const usual = { PATH: defaultPath, HOME: (user.uid ?? 0) === 0 ? '/root' : '/', ...(tty ? { TERM: 'xterm' } : {}) };
  const all = new Map([...Object.entries(usual), ...env.map(({ name, value }) => [name, value] as const)]);
  return [...all].map(([name, value]) => `${name}=${value}`);
}

/** The capabilities that this process could give to others. */
function ownCapabilities(): ReadonlySet<number> {
  const mask = /^CapPrm:\t([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
  return capabilitiesIn(mask ?? '0');
}
