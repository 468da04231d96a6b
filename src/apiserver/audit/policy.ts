import type { RequestInfo, ResourceRequestInfo } from '../../api/request-info.ts';
import { withoutTrailing } from '../../api/trailing.ts';
import type { User } from '../api.ts';

export type AuditLevel = 'None' | 'Metadata' | 'Request' | 'RequestResponse';
export const levels: readonly AuditLevel[] = ['None', 'Metadata', 'Request', 'RequestResponse'];

export type AuditStage = 'RequestReceived' | 'ResponseStarted' | 'ResponseComplete' | 'Panic';
export const stages: readonly AuditStage[] = ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'];

export interface RequestAuditConfig {
  readonly level: AuditLevel;
  readonly omitStages: ReadonlySet<AuditStage>;
  readonly omitManagedFields: boolean;
}

/** An audit policy (audit.k8s.io/v1): the first rule that matches a request decides what is recorded; without one, nothing is. */
export interface AuditPolicy {
  readonly rules: readonly AuditPolicyRule[];
}

/** Empty lists match everything. */
export interface AuditPolicyRule extends RequestAuditConfig {
  readonly users: readonly string[];
  readonly userGroups: readonly string[];
  readonly verbs: readonly string[];
  readonly resources: readonly GroupResources[];
  /** '' matches cluster-scoped resources. */
  readonly namespaces: readonly string[];
  /** '*', a path, or a prefix followed by '*'. */
  readonly nonResourceUrls: readonly string[];
}

export interface GroupResources {
  /** '' is the core group, '*' any. */
  readonly group: string;
  /** 'pods', 'pods/log', 'pods/*', '*\/scale', '*'. */
  readonly resources: readonly string[];
  readonly resourceNames: readonly string[];
}

/** `user` undefined: not authenticated. As v1.36.4 matches (apiserver/pkg/audit/policy/checker.go). */
export function evaluatePolicyRule(policy: AuditPolicy, user: User | undefined, info: RequestInfo): RequestAuditConfig | undefined {
  const rule = policy.rules.find((candidate) => matches(candidate, user, info));
  return rule === undefined || rule.level === 'None' ? undefined : rule;
}

function matches(rule: AuditPolicyRule, user: User | undefined, info: RequestInfo): boolean {
  if (rule.users.length > 0 && (user === undefined || !rule.users.includes(user.name))) return false;
  if (rule.userGroups.length > 0 && user?.groups.some((group) => rule.userGroups.includes(group)) !== true) return false;
  if (rule.verbs.length > 0 && !rule.verbs.includes(info.verb)) return false;
  if (rule.namespaces.length > 0 || rule.resources.length > 0) return info.type === 'resource' && matchesResource(rule, info);
  if (rule.nonResourceUrls.length > 0) return info.type === 'path' && rule.nonResourceUrls.some((url) => matchesPath(url, info.path));
  return true;
}

function matchesPath(url: string, path: string): boolean {
  return url === '*' || url === path || (url.endsWith('*') && path.startsWith(withoutTrailing(url, '*')));
}

function matchesResource(rule: AuditPolicyRule, info: ResourceRequestInfo): boolean {
  if (rule.namespaces.length > 0 && !rule.namespaces.includes(info.namespace)) return false;
  return rule.resources.length === 0 || rule.resources.some((wanted) => matchesGroup(wanted, info));
}

function matchesGroup({ group, resources, resourceNames }: GroupResources, info: ResourceRequestInfo): boolean {
  if (group !== '*' && group !== info.group) return false;
  if (resources.length === 0) return true;
  if (resourceNames.length > 0 && !resourceNames.includes(info.name)) return false;
  const { resource, subresource } = info;
  const whole = subresource === '' ? resource : `${resource}/${subresource}`;
  return resources.some((wanted) => wanted === '*' || wanted === whole || wanted === `${resource}/*` || (subresource !== '' && wanted === `*/${subresource}`));
}
