import type { Labels } from '../../api/selectors/label-selector.ts';
import type { NodeRequirement } from '../../api/kinds/karpenter/node-pool.ts';
import { isWellKnown, normalizedLabel } from '../labels.ts';
import { allowsAbsence, exactly, hasValue, intersection, isEmpty, operatorOf, overlap, type ValueSet, valueSetOf } from './value-set.ts';

/** What the labels of a node have to satisfy, by label (scheduling.Requirements). Keys are normalized. */
export type Requirements = ReadonlyMap<string, ValueSet>;

export const noRequirements: Requirements = new Map();

type Expression = Pick<NodeRequirement, 'key' | 'operator' | 'values' | 'minValues'>;

export function requirementsOf(expressions: Iterable<Expression>): Requirements {
  const requirements = new Map<string, ValueSet>();
  for (const { key, operator, values, minValues } of expressions) restrict(requirements, normalizedLabel(key), valueSetOf(operator, values, minValues));
  return requirements;
}

export const requirementsOfLabels = (labels: Labels | undefined): Requirements =>
  new Map(Object.entries(labels ?? {}).map(([key, value]) => [normalizedLabel(key), exactly(value)]));

function restrict(requirements: Map<string, ValueSet>, key: string, set: ValueSet): void {
  const known = requirements.get(key);
  requirements.set(key, known === undefined ? set : intersection(known, set));
}

/** Both. */
export function combined(...all: readonly Requirements[]): Requirements {
  const [first = noRequirements, ...others] = all.filter(({ size }) => size > 0);
  if (others.length === 0) return first;
  const requirements = new Map(first);
  for (const each of others) for (const [key, set] of each) restrict(requirements, key, set);
  return requirements;
}

/** The first label by which a node with `offered` cannot satisfy `wanted`; undefined: it can (Requirements.Compatible). */
export function conflictOf(offered: Requirements, wanted: Requirements): string | undefined {
  for (const [key, set] of wanted) {
    const there = offered.get(key);
    if (there === undefined) {
      if (!isWellKnown(key) && !allowsAbsence(set)) return key;
    } else if (!overlap(there, set) && !(allowsAbsence(there) && allowsAbsence(set))) return key;
  }
  return undefined;
}

export const areCompatible = (offered: Requirements, wanted: Requirements): boolean => conflictOf(offered, wanted) === undefined;

/** Whether some node can satisfy both; unlike `areCompatible`, a label that one of them does not mention is no conflict. */
export function haveCommonNodes(one: Requirements, other: Requirements): boolean {
  for (const [key, set] of one) {
    const there = other.get(key);
    if (there !== undefined && !overlap(there, set) && !(allowsAbsence(there) && allowsAbsence(set))) return false;
  }
  return true;
}

export const allows = (requirements: Requirements, key: string, value: string): boolean => {
  const set = requirements.get(key);
  return set === undefined || hasValue(set, value);
};

/** As the spec of a NodeClaim has them, in the order of their keys. */
export function expressionsOf(requirements: Requirements): readonly NodeRequirement[] {
  return [...requirements]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([key, set]) => {
      const bounds = [
        ...(set.least === undefined ? [] : [{ key, operator: 'Gte', values: [String(set.least)] }]),
        ...(set.most === undefined ? [] : [{ key, operator: 'Lte', values: [String(set.most)] }]),
      ];
      const operator = operatorOf(set);
      if (operator === 'Exists' && bounds.length > 0) return bounds;
      const values = [...set.values].sort();
      const minValues = set.minValues === undefined ? {} : { minValues: set.minValues };
      return [{ key, operator, ...(values.length === 0 ? {} : { values }), ...minValues }, ...bounds];
    });
}

const mostListed = 5;

/** For messages: 'karpenter.sh/capacity-type In [on-demand spot], …' */
export function requirementsText(requirements: Requirements): string {
  return expressionsOf(requirements)
    .map(({ key, operator, values = [] }) => {
      if (values.length === 0) return `${key} ${operator}`;
      const rest = values.length - mostListed;
      return `${key} ${operator} [${values.slice(0, mostListed).join(' ')}${rest > 0 ? ` and ${rest} others` : ''}]`;
    })
    .join(', ');
}

/** One value for each label that must have one: those of a node as it may come. */
export function labelsOf(requirements: Requirements): Record<string, string> {
  const labels: Record<string, string> = {};
  for (const [key, set] of requirements) {
    if (set.isComplement || isEmpty(set)) continue;
    const [first] = set.values;
    if (first !== undefined) labels[key] = first;
  }
  return labels;
}
