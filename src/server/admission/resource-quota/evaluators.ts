import type { ResourceQuota } from '../../../api/generated/types.ts';
import type { KubeObject } from '../../../api/object.ts';
import type { Resource, Resources } from '../../registry/resources.ts';
import type { ClusterReader } from '../cluster-reader.ts';
import { claimEvaluator } from './claims.ts';
import { countEvaluator, type Evaluator } from './evaluator.ts';
import { podEvaluator } from './pods.ts';
import { scopesOf } from './scopes.ts';
import { serviceEvaluator } from './services.ts';
import { addUsage, restrict, type Usage } from './usage.ts';

/** The evaluator of each resource whose objects count. Events do not: they come and go by themselves. */
export function evaluatorsOf(resources: Resources): ReadonlyMap<Resource, Evaluator> {
  const counted = [...resources.all()].filter(({ kind, base }) => kind.namespaced && base.kind.storage.resource !== 'events');
  return new Map(counted.map((resource) => [resource, evaluatorOf(resource)]));
}

function evaluatorOf(resource: Resource): Evaluator {
  if (resource.kind.group !== '') return countEvaluator(resource);
  switch (resource.kind.plural) {
    case 'pods':
      return podEvaluator(resource);
    case 'persistentvolumeclaims':
      return claimEvaluator(resource);
    case 'services':
      return serviceEvaluator(resource);
    default:
      return countEvaluator(resource);
  }
}

export const countsAgainst = (quota: ResourceQuota, evaluator: Evaluator, object: KubeObject): boolean =>
  scopesOf(quota).every((requirement) => evaluator.matchesScope(requirement, object));

interface Measuring {
  readonly evaluators: ReadonlyMap<Resource, Evaluator>;
  readonly reader: ClusterReader;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** What a namespace really uses of what a quota limits: zero is said as well. */
export async function measure(quota: ResourceQuota, { evaluators, reader, now }: Measuring): Promise<Usage> {
  const hard = Object.keys(quota.spec.hard ?? {});
  let total: Usage = new Map(hard.map((name) => [name, zero]));
  for (const [resource, evaluator] of evaluators) {
    const names = new Set(hard.filter((name) => evaluator.covers(name)));
    if (names.size === 0) continue;
    for (const object of await reader.list(resource, quota.metadata.namespace ?? '')) {
      if (countsAgainst(quota, evaluator, object))
        total = addUsage(
          total,
          restrict(evaluator.usage(object, now), (name) => names.has(name)),
        );
    }
  }
  return total;
}

const zero = { unscaled: 0n, exponent: 0, format: 'DecimalSI' } as const;
