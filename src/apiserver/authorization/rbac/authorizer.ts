import type { PolicyRule, RoleRef } from '../../../api/generated/types.ts';
import type { RequestInfo } from '../../../api/request-info.ts';
import type { User } from '../../api.ts';
import type { AuthorizationDecision, Authorizer } from '../authorizer.ts';
import { superusers } from '../../user.ts';
import { type GrantedRule, type Grants, RbacPolicy, type RbacObject, type ResolvedRole } from './rbac-policy.ts';
import { ruleAllows } from './rule.ts';

/** What one user was found to have in one namespace, and what follows from it for what it asked before. */
interface CachedGrants {
  readonly grants: Grants;
  /** By what was asked, whatever the name of the object: rules for certain names are not in here. */
  readonly decisions: Map<string, AuthorizationDecision>;
  readonly named: readonly GrantedRule[];
}

/** Users and namespaces whose rules are kept at hand, and decisions for each: clients make up names. */
const MAX_CACHED_GRANTS = 1_024;
const MAX_CACHED_DECISIONS = 1_024;
/** Longer questions are answered and forgotten: whoever asks about access may write megabytes. */
const MAX_KEY_LENGTH = 512;

const allowed: AuthorizationDecision = { allowed: true };

/** Decides by roles. What was decided before is looked up, until any role or binding changes. */
export class RbacAuthorizer implements Authorizer {
  readonly #policy = new RbacPolicy();
  readonly #known = new Map<string, CachedGrants>();

  put(object: RbacObject): void {
    this.#known.clear();
    this.#policy.put(object);
  }

  remove(object: RbacObject): void {
    this.#known.clear();
    this.#policy.remove(object);
  }

  authorize(user: User, info: RequestInfo): AuthorizationDecision {
    if (user.groups.includes(superusers)) return allowed;
    const known = this.#grantsOf(user, info.type === 'path' ? '' : info.namespace);
    const decision = decide(known, info);
    if (decision.allowed || info.type === 'path' || info.name === '') return decision;
    return allowedBy(known.named, info) ?? decision;
  }

  /** All rules that a user has in a namespace, for those who want to see them. */
  rulesFor(user: User, namespace: string): { readonly rules: readonly PolicyRule[]; readonly errors: readonly string[] } {
    const { rules, errors } = this.#grantsOf(user, namespace).grants;
    return { rules: rules.map(({ rule }) => rule), errors };
  }

  resolve(role: RoleRef, namespace: string): ResolvedRole {
    return this.#policy.resolve(role, namespace);
  }

  #grantsOf(user: User, namespace: string): CachedGrants {
    const key = keyOf(user, namespace);
    const before = this.#known.get(key);
    if (before !== undefined) return before;
    const grants = this.#policy.grants(user, namespace);
    const known: CachedGrants = { grants, decisions: new Map(), named: grants.rules.filter(({ rule }) => (rule.resourceNames ?? []).length > 0) };
    if (key.length > MAX_KEY_LENGTH) return known;
    if (this.#known.size >= MAX_CACHED_GRANTS) this.#known.clear();
    this.#known.set(key, known);
    return known;
  }
}

/** Names say how long they are: a certificate may bear a name with anything in it, and must not pass for two. */
function keyOf({ name, groups }: User, namespace: string): string {
  let key = `${namespace} ${name.length} ${name}`;
  for (const group of groups) key += ` ${group.length} ${group}`;
  return key;
}

/** The same for what is asked: a review may ask for any text. */
function decisionKey(wanted: RequestInfo): string {
  if (wanted.type === 'path') return `path ${wanted.verb.length} ${wanted.verb}${wanted.path}`;
  const { verb, group, resource, subresource } = wanted;
  return `${verb.length} ${group.length} ${resource.length} ${verb}${group}${resource}${subresource}`;
}

/** Without a look at names. */
function decide({ grants, decisions }: CachedGrants, wanted: RequestInfo): AuthorizationDecision {
  const key = decisionKey(wanted);
  const before = decisions.get(key);
  if (before !== undefined) return before;
  const nameless: RequestInfo = wanted.type === 'path' ? wanted : { ...wanted, name: '' };
  const decision = allowedBy(grants.rules, nameless) ?? { allowed: false, reason: grants.errors.length === 0 ? '' : `RBAC: ${aggregate(grants.errors)}` };
  if (key.length > MAX_KEY_LENGTH) return decision;
  if (decisions.size >= MAX_CACHED_DECISIONS) decisions.clear();
  decisions.set(key, decision);
  return decision;
}

function allowedBy(rules: readonly GrantedRule[], wanted: RequestInfo): AuthorizationDecision | undefined {
  const found = rules.find(({ rule }) => ruleAllows(rule, wanted));
  return found === undefined ? undefined : { allowed: true, reason: `RBAC: allowed by ${found.source()}` };
}

/** One error by itself, several in brackets. */
export const aggregate = (errors: readonly string[]): string => (errors.length === 1 ? (errors[0] ?? '') : `[${errors.join(', ')}]`);
