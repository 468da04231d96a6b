import type {
  MatchResources,
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import type { Resource, Resources } from '../../objects/resources.ts';
import type { AdmissionRequest } from '../chain.ts';
import { nameOf, operationOf } from '../matching/attributes.ts';
import { matchedResource, type MatchCriteria } from '../matching/rules.ts';
import { type NamespaceReader, type Selectors, selects, selectorsOf } from '../matching/selectors.ts';

type Policy = ValidatingAdmissionPolicy | MutatingAdmissionPolicy;
type Binding = ValidatingAdmissionPolicyBinding | MutatingAdmissionPolicyBinding;

/** Which requests a policy or a binding matches. */
interface PolicyMatch extends MatchCriteria {
  readonly selectors: Selectors;
  readonly excluded: MatchCriteria;
}

export interface BoundPolicy<B extends Binding = Binding> {
  readonly binding: Stored<B>;
  /** undefined: all requests that the policy matches. */
  readonly match: PolicyMatch | undefined;
}

/** A policy with its bindings (upstream: PolicyHook). */
export interface PolicyHook<P extends Policy = Policy, B extends Binding = Binding> extends PolicyMatch {
  readonly policy: Stored<P>;
  readonly bindings: readonly BoundPolicy<B>[];
}

function matchOf(resources: MatchResources): PolicyMatch {
  const { matchPolicy, resourceRules = [], excludeResourceRules = [] } = resources;
  return { rules: resourceRules, matchPolicy, selectors: selectorsOf(resources), excluded: { rules: excludeResourceRules, matchPolicy } };
}

/** By name. A policy without a binding does nothing, nor does a binding without its policy. */
export function policyHooks<P extends Policy, B extends Binding>(policies: readonly Stored<P>[], bindings: readonly Stored<B>[]): PolicyHook<P, B>[] {
  return policies.flatMap((policy) => {
    const bound = bindings.filter(({ spec }) => spec.policyName === policy.metadata.name);
    if (bound.length === 0 || policy.spec.matchConstraints === undefined) return [];
    const all = bound.map((binding) => ({ binding, match: binding.spec.matchResources === undefined ? undefined : matchOf(binding.spec.matchResources) }));
    return [{ policy, bindings: all, ...matchOf(policy.spec.matchConstraints) }];
  });
}

export interface MatchContext {
  readonly resources: Resources;
  readonly namespaces: NamespaceReader;
}

/** The resource in the version that a rule names; undefined: no rule matches. @throws ApiError */
export async function matched(match: PolicyMatch, request: AdmissionRequest, { resources, namespaces }: MatchContext): Promise<Resource | undefined> {
  const { operation, resource, subresource } = request;
  const attributes = { operation: operationOf[operation], resource, subresource, name: nameOf(request) };
  if (matchedResource(match.excluded, attributes, resources) !== undefined) return undefined;
  const found = match.rules.length === 0 ? resource : matchedResource(match, attributes, resources);
  if (found === undefined || !(await selects(match.selectors, request, namespaces))) return undefined;
  return found;
}
