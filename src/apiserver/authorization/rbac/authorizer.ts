import { LRUCache } from 'lru-cache';
import type { PolicyRule, RoleRef } from '../../../api/generated/types.ts';
import type { RequestInfo } from '../../../api/request-info.ts';
import type { User } from '../../api.ts';
import type { AuthorizationDecision, Authorizer } from '../authorizer.ts';
import { superusers } from '../../user.ts';
import { type GrantedRule, type Grants, RbacPolicy, type RbacObject, type ResolvedRole } from './rbac-policy.ts';
import { ruleAllows } from './rule.ts';

/** The rules of one user in one namespace, and the decisions that followed from them. */
interface CachedGrants {
  readonly grants: Grants;
  /** By question without the object's name: rules with resourceNames are not applied. */
  readonly decisions: LRUCache<string, AuthorizationDecision>;
  readonly named: readonly GrantedRule[];
}

/** Pairs of user and namespace whose rules are cached, and decisions for each: clients make up names. */
const MAX_CACHED_GRANTS = 1_024;
const MAX_CACHED_DECISIONS = 256;
/** Decisions on longer questions are not cached: a SubjectAccessReview may hold megabytes. */
const MAX_KEY_LENGTH = 512;

const allowed: AuthorizationDecision = { allowed: true };

/** Decides by roles. Decisions are cached until any role or binding changes. */
export class RbacAuthorizer implements Authorizer {
  readonly #policy = new RbacPolicy();
  readonly #grants = new LRUCache<string, CachedGrants>({ max: MAX_CACHED_GRANTS });

  put(object: RbacObject): void {
    this.#grants.clear();
    this.#policy.put(object);
  }

  remove(object: RbacObject): void {
    this.#grants.clear();
    this.#policy.remove(object);
  }

  authorize(user: User, info: RequestInfo): AuthorizationDecision {
    if (user.groups.includes(superusers)) return allowed;
    const cached = this.#grantsOf(user, info.type === 'path' ? '' : info.namespace);
    const decision = decide(cached, info);
    if (decision.allowed || info.type === 'path' || info.name === '') return decision;
    return allowedBy(cached.named, info) ?? decision;
  }

  /** All rules of a user in a namespace: SelfSubjectRulesReview shows them. */
  rulesFor(user: User, namespace: string): { readonly rules: readonly PolicyRule[]; readonly errors: readonly string[] } {
    const { rules, errors } = this.#grantsOf(user, namespace).grants;
    return { rules: rules.map(({ rule }) => rule), errors };
  }

  resolve(role: RoleRef, namespace: string): ResolvedRole {
    return this.#policy.resolve(role, namespace);
  }

  #grantsOf(user: User, namespace: string): CachedGrants {
    const key = keyOf(user, namespace);
    const before = this.#grants.get(key);
    if (before !== undefined) return before;
    const grants = this.#policy.grants(user, namespace);
    const named = grants.rules.filter(({ rule }) => (rule.resourceNames ?? []).length > 0);
    const cached: CachedGrants = { grants, decisions: new LRUCache({ max: MAX_CACHED_DECISIONS }), named };
    if (key.length <= MAX_KEY_LENGTH) this.#grants.set(key, cached);
    return cached;
  }
}

/** Names carry their length: a path or certificate may hold a name with any characters, and two users must not share a key. */
function keyOf({ name, groups }: User, namespace: string): string {
  let key = `${namespace.length} ${namespace} ${name.length} ${name}`;
  for (const group of groups) key += ` ${group.length} ${group}`;
  return key;
}

/** Parts carry their length, too: a SubjectAccessReview may hold any text. */
function decisionKey(wanted: RequestInfo): string {
  if (wanted.type === 'path') return `path ${wanted.verb.length} ${wanted.verb}${wanted.path}`;
  const { verb, group, resource, subresource } = wanted;
  return `${verb.length} ${group.length} ${resource.length} ${verb}${group}${resource}${subresource}`;
}

/** Ignores the object's name. */
function decide({ grants, decisions }: CachedGrants, wanted: RequestInfo): AuthorizationDecision {
  const key = decisionKey(wanted);
  const before = decisions.get(key);
  if (before !== undefined) return before;
  const nameless: RequestInfo = wanted.type === 'path' ? wanted : { ...wanted, name: '' };
  const decision = allowedBy(grants.rules, nameless) ?? { allowed: false, reason: grants.errors.length === 0 ? '' : `RBAC: ${aggregate(grants.errors)}` };
  if (key.length <= MAX_KEY_LENGTH) decisions.set(key, decision);
  return decision;
}

function allowedBy(rules: readonly GrantedRule[], wanted: RequestInfo): AuthorizationDecision | undefined {
  const found = rules.find(({ rule }) => ruleAllows(rule, wanted));
  return found === undefined ? undefined : { allowed: true, reason: `RBAC: allowed by ${found.source()}` };
}

/** One error by itself, several in brackets. */
export const aggregate = (errors: readonly string[]): string => (errors.length === 1 ? (errors[0] ?? '') : `[${errors.join(', ')}]`);
