/** Nodes, zones and drivers that a scenario names are there: else a slip of the pen would look like an answer. */
import { nearestName } from '../../../api/nearest-name.ts';
import type { Statement } from './expectation.ts';
import { type ScriptStep, podOfNode } from './script-step.ts';
import type { LocatedYaml } from './located-yaml.ts';
import type { Scenario } from './scenario.ts';

export interface KnownNames {
  readonly nodes: readonly string[];
  readonly zones: readonly string[];
  readonly drivers: readonly string[];
}

/** @throws FileError */
export function checkNames({ script, expectations }: Scenario, known: KnownNames): void {
  const nodes = [...known.nodes, ...script.flatMap(({ step: happening }) => (happening.type === 'node joins' ? [happening.node] : []))];
  const zones = [...known.zones, ...script.flatMap(({ step: happening }) => (happening.type === 'node joins' ? [happening.zone] : []))];
  const names = { node: nodes, zone: zones, driver: known.drivers };
  for (const { step: happening, written } of script) check(namedBy(happening), { names, written });
  for (const { statement: claimed, written } of expectations) check(namedIn(claimed), { names, written });
}

type Named = Partial<Record<'node' | 'zone' | 'driver', string>>;

function namedBy(happening: ScriptStep): Named {
  const { node, zone, driver } = happening as Named;
  const isNamed = node !== undefined && happening.type !== 'node joins' && podOfNode(node) === undefined;
  return { ...(isNamed ? { node } : {}), ...(zone === undefined || zone === '' ? {} : { zone }), ...(driver === undefined ? {} : { driver }) };
}

function namedIn(claimed: Statement): Named {
  if (claimed.type === 'disks') return { driver: claimed.driver };
  return (claimed.type === 'state' || claimed.type === 'attached') && claimed.place !== undefined ? { ...claimed.place } : {};
}

function check(named: Named, { names, written }: { readonly names: Readonly<Record<keyof Named, readonly string[]>>; readonly written: LocatedYaml }): void {
  for (const what of ['node', 'zone', 'driver'] as const) {
    const name = named[what];
    if (name === undefined || names[what].includes(name)) continue;
    const near = nearestName(name, names[what]);
    const others = names[what].length === 0 ? 'there is none' : `there are ${names[what].slice(0, 8).join(', ')}`;
    throw written.error(`there is no ${what} "${name}"; ${near === undefined ? others : `did you mean "${near}"?`}`);
  }
}
