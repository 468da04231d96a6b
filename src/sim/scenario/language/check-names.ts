/** Checks that the nodes, zones and drivers that a scenario names exist: a typo would look like a result. */
import { nearestName } from '../../../api/nearest-name.ts';
import type { Statement } from './expectation.ts';
import { podOfNode } from './reference.ts';
import type { ScriptStep } from './script-step.ts';
import type { LocatedYaml } from './located-yaml.ts';
import type { Scenario } from './scenario.ts';

export interface KnownNames {
  readonly nodes: readonly string[];
  readonly zones: readonly string[];
  readonly drivers: readonly string[];
}

/** @throws ScenarioFileError */
export function checkNames({ script, expectations }: Scenario, known: KnownNames): void {
  const nodes = [...known.nodes, ...script.flatMap(({ step }) => (step.type === 'node joins' ? [step.node] : []))];
  const zones = [...known.zones, ...script.flatMap(({ step }) => (step.type === 'node joins' ? [step.zone] : []))];
  const names = { node: nodes, zone: zones, driver: known.drivers };
  for (const { step, written } of script) check(namedByStep(step), { names, written });
  for (const { statement, written } of expectations) check(namedByStatement(statement), { names, written });
}

type Named = Partial<Record<'node' | 'zone' | 'driver', string>>;

function namedByStep(step: ScriptStep): Named {
  const { node, zone, driver } = step as Named;
  const isNamed = node !== undefined && step.type !== 'node joins' && podOfNode(node) === undefined;
  return { ...(isNamed ? { node } : {}), ...(zone === undefined || zone === '' ? {} : { zone }), ...(driver === undefined ? {} : { driver }) };
}

function namedByStatement(statement: Statement): Named {
  if (statement.type === 'disks') return { driver: statement.driver };
  return (statement.type === 'state' || statement.type === 'attached') && statement.place !== undefined ? { ...statement.place } : {};
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
