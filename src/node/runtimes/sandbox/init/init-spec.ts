import { readFileSync } from 'node:fs';
import type { ContainerSpec } from '../../../runtime.ts';
import { capabilitiesOf } from './capabilities.ts';
import type { InitSpec } from './container-init.ts';
import { defaultPath } from './execute.ts';
import { clone } from './linux.ts';
import { terminalCalls } from './terminal-steps.ts';
import { permittedCapabilities } from '../../../security/capabilities.ts';
import { architecturesOf } from '../../../seccomp/architectures.ts';
import { actions, allow } from '../../../seccomp/profile.ts';
import { verdictOf } from '../../../seccomp/verdict.ts';

/** What the processes of a container have in common. */
export function initSpec(spec: ContainerSpec, command: readonly string[], groups: readonly string[]): InitSpec {
  const { uid = 0, gid = 0, groups: supplemental } = spec.user;
  const { noNewPrivileges, appArmorProfile } = spec;
  const seccompFilter = spec.seccompFilter === undefined ? undefined : Buffer.from(spec.seccompFilter, 'base64');
  return {
    command,
    tty: spec.tty,
    variables: variablesOf(spec),
    workingDir: spec.workingDir === '' ? '/' : spec.workingDir,
    groups,
    appArmorProfile,
    identity: {
      uid,
      gid,
      groups: supplemental,
      capabilities: capabilitiesOf(spec, permittedCapabilities(readFileSync('/proc/self/status', 'utf8'))),
      noNewPrivileges,
      seccompFilter,
    },
    isFilteredEarly: seccompFilter === undefined || permitsProcesses(seccompFilter, spec.tty),
  };
}

/** What an init calls between its filter and its program, besides what it calls in any case. */
function permitsProcesses(filter: Uint8Array, tty: boolean): boolean {
  const [architecture] = architecturesOf(process.arch === 'x64' ? 'amd64' : process.arch);
  if (architecture === undefined) return false;
  const { audit, numbers } = architecture;
  try {
    return ['clone', 'setsid', ...(tty ? terminalCalls : [])].every(
      (name) => verdictOf(filter, { audit, number: numbers.get(name) ?? -1, args: [BigInt(clone.vfork | clone.parent)] }) >= logged,
    );
  } catch {
    return false; // not a filter that was made here
  }
}
/** From this action on, the call happens. */
const logged = actions['SCMP_ACT_LOG']?.(0) ?? allow;

/** The container's variables, and no others: 'NAME=value'. */
function variablesOf({ env, user, tty }: ContainerSpec): readonly string[] {
  const usual = { PATH: defaultPath, HOME: (user.uid ?? 0) === 0 ? '/root' : '/', ...(tty ? { TERM: 'xterm' } : {}) };
  const all = new Map([...Object.entries(usual), ...env.map(({ name, value }) => [name, value] as const)]);
  return [...all].map(([name, value]) => `${name}=${value}`);
}
