import type { ScopedResourceSelectorRequirement } from '../generated/types.ts';
import { type Kind, qualifiedResource } from '../kind.ts';
import type { KubeObject } from '../object.ts';
import { one, type Usage } from './usage.ts';

/** How objects of one kind count against a quota. Pure. */
export interface Evaluator {
  /** Whether a resource name of a quota's `hard` is about these objects. */
  covers(name: string): boolean;
  /** What one object uses. `now`: milliseconds since 1970. */
  usage(object: KubeObject, now: number): Usage;
  /** The time after which an object uses less without a change of the object. Undefined: that never happens. */
  readonly endsAt?: (object: KubeObject) => number | undefined;
  matchesScope(requirement: ScopedResourceSelectorRequirement, object: KubeObject): boolean;
  /** Whether a change of an object may have changed the scopes that it matches. */
  scopeChanged(before: KubeObject, after: KubeObject): boolean;
  /** The error of an object that must set these resources because they are limited; undefined: none. */
  readonly missing?: (names: readonly string[], object: KubeObject) => string | undefined;
}

/** 'count/pods', 'count/deployments.apps' */
export const countName = (kind: Pick<Kind, 'group' | 'plural'>): string => `count/${qualifiedResource(kind)}`;

/** Resource names from before count/<resource>. */
const plainCounts: ReadonlySet<string> = new Set(['configmaps', 'secrets', 'resourcequotas', 'replicationcontrollers']);

/** Counts objects only. Quotas with a scope do not apply. */
export function countEvaluator(kind: Pick<Kind, 'group' | 'plural'>): Evaluator {
  const names = [countName(kind), ...(kind.group === '' && plainCounts.has(kind.plural) ? [kind.plural] : [])];
  const usage: Usage = new Map(names.map((name) => [name, one]));
  return {
    covers: (name) => names.includes(name),
    usage: () => usage,
    matchesScope: () => false,
    scopeChanged: () => false,
  };
}
