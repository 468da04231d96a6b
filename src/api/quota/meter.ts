import type { ResourceQuota, ScopedResourceSelectorRequirement } from '../generated/types.ts';
import type { KubeObject } from '../object.ts';
import type { Evaluator } from './evaluator.ts';
import { isMeasuredAnyway } from './evaluators.ts';
import { scopesOf } from './scopes.ts';
import { addUsage, nothingUsed, parseUsage, restrict, type Usage, zero } from './usage.ts';

/** One kind's part in a quota: the limited resource names that its objects use, and the scopes that they must match. */
export interface Meter {
  readonly evaluator: Evaluator;
  readonly names: ReadonlySet<string>;
  /** An object counts if it matches all scopes. */
  readonly scopes: readonly ScopedResourceSelectorRequirement[];
}

/** Undefined: the quota limits nothing that these objects use. */
export function meterOf(quota: ResourceQuota, evaluator: Evaluator): Meter | undefined {
  const names = Object.keys(quota.spec.hard ?? {}).filter((name) => evaluator.covers(name));
  return names.length === 0 ? undefined : { evaluator, names: new Set(names), scopes: scopesOf(quota) };
}

export const selects = ({ evaluator, scopes }: Meter, object: KubeObject): boolean => scopes.every((scope) => evaluator.matchesScope(scope, object));

/** What one object uses of the limited resources. */
export const readMeter = (meter: Meter, object: KubeObject, now: number): Usage =>
  selects(meter, object) ? restrict(meter.evaluator.usage(object, now), (name) => meter.names.has(name)) : nothingUsed;

/** The usage of many objects together, zeros included. */
export function readAll(meter: Meter, objects: Iterable<KubeObject>, now: number): Usage {
  let total: Usage = new Map([...meter.names].map((name) => [name, zero]));
  for (const object of objects) total = addUsage(total, readMeter(meter, object, now));
  return total;
}

/** All that is used of what a quota limits. The usage of a resource that no evaluator measures stays as it is in the status. */
export function usedOf({ spec, status }: ResourceQuota, measured: Usage): Usage {
  const known = parseUsage(status.used);
  return new Map(
    Object.keys(spec.hard ?? {}).flatMap((name) => {
      const amount = measured.get(name) ?? (isMeasuredAnyway(name) ? zero : known.get(name));
      return amount === undefined ? [] : [[name, amount]];
    }),
  );
}
