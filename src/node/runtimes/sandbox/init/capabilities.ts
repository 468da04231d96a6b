import { boundingSet, capabilityNames, capabilityProblem } from '../../../security/capabilities.ts';
import type { ContainerSpec } from '../../../runtime.ts';

export const sysPtrace = capabilityNames.indexOf('SYS_PTRACE');

/** The numbers of the capabilities that root has in a container. `all`: those of the shim. @throws on an unknown name, which the agent refuses before */
export function capabilitiesOf(
  { privileged, capabilities }: Pick<ContainerSpec, 'privileged' | 'capabilities'>,
  all: ReadonlySet<number>,
): ReadonlySet<number> {
  if (privileged) return all;
  const wanted = { capabilities: { add: [...capabilities.add], drop: [...capabilities.drop] } };
  const problem = capabilityProblem(wanted, capabilityNames);
  if (problem !== undefined) throw new Error(problem);
  const numbers = boundingSet(wanted).map((name) => capabilityNames.indexOf(name));
  return new Set(numbers.filter((number) => all.has(number)));
}
