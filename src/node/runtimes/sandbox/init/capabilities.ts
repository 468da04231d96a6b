import { boundingSet, capabilityNames } from '../../../security/capabilities.ts';
import type { ContainerSpec } from '../../../runtime.ts';

export const sysPtrace = capabilityNames.indexOf('SYS_PTRACE');

/** Linux keeps room for so many. */
export const mostCapabilities = 64;

/** The numbers of the capabilities that root has in a container. `all`: those of the shim. */
export const capabilitiesOf = (
  { privileged, capabilities: { add, drop } }: Pick<ContainerSpec, 'privileged' | 'capabilities'>,
  all: ReadonlySet<number>,
): ReadonlySet<number> =>
  privileged
    ? all
    : new Set(
        boundingSet({ capabilities: { add: [...add], drop: [...drop] } })
          .map((name) => capabilityNames.indexOf(name))
          .filter((number) => all.has(number)),
      );

/** The numbers in a mask as /proc/PID/status shows it: '000001ffffffffff'. */
export function capabilitiesIn(mask: string): ReadonlySet<number> {
  const bits = BigInt(`0x${mask}`);
  return new Set(Array.from({ length: mostCapabilities }, (_, number) => number).filter((number) => (bits >> BigInt(number)) & 1n));
}
