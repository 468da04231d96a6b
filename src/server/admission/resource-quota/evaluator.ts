import type { ScopedResourceSelectorRequirement } from '../../../api/generated/types.ts';
import type { KubeObject } from '../../../api/object.ts';
import { quantityOf } from '../../../api/quantity.ts';
import type { Resource } from '../../registry/resources.ts';
import type { Operation } from '../chain.ts';
import type { Usage } from './usage.ts';

/** How objects of one resource count against a quota. Pure. */
export interface Evaluator {
  /** Whether such a request can use more than before. */
  handles(operation: Operation, subresource: string): boolean;
  /** Whether a name in a quota's `hard` is about these objects. */
  covers(name: string): boolean;
  /** `now`: milliseconds since 1970. */
  usage(object: KubeObject, now: number): Usage;
  matchesScope(requirement: ScopedResourceSelectorRequirement, object: KubeObject): boolean;
  /** What an object has to say for itself if these names are limited; undefined: nothing is missing. */
  missing?(names: readonly string[], object: KubeObject): string | undefined;
}

export const one = quantityOf(1);

/** 'count/pods', 'count/deployments.apps' */
export const countName = ({ kind }: Resource): string => `count/${kind.plural}${kind.group === '' ? '' : `.${kind.group}`}`;

/** Names from before everything could be counted. */
const plainCounts: ReadonlySet<string> = new Set(['configmaps', 'secrets', 'resourcequotas', 'replicationcontrollers']);

/** Counts objects, and nothing else. Quotas with a scope are about other things. */
export function countEvaluator(resource: Resource): Evaluator {
  const { kind } = resource;
  const names = [countName(resource), ...(kind.group === '' && plainCounts.has(kind.plural) ? [kind.plural] : [])];
  const usage: Usage = new Map(names.map((name) => [name, one]));
  return {
    handles: (operation, subresource) => operation === 'create' && subresource === '',
    covers: (name) => names.includes(name),
    usage: () => usage,
    matchesScope: () => false,
  };
}
