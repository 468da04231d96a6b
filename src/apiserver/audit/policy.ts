import type { RequestInfo, ResourceRequestInfo } from '../../api/request-info.ts';
import type { User } from '../api.ts';

export type AuditLevel = 'None' | 'Metadata' | 'Request' | 'RequestResponse';
export const levels: readonly AuditLevel[] = ['None', 'Metadata', 'Request', 'RequestResponse'];

export type AuditStage = 'RequestReceived' | 'ResponseStarted' | 'ResponseComplete' | 'Panic';
export const stages: readonly AuditStage[] = ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'];

/** What is written down of a request. */
export interface RequestAuditConfig {
  readonly level: AuditLevel;
  readonly omitStages: ReadonlySet<AuditStage>;
  readonly omitManagedFields: boolean;
}

/** An audit policy (audit.k8s.io/v1): the first rule that matches a request says what is written down of it; without one, nothing. */
export interface AuditPolicy {
  readonly rules: readonly AuditPolicyRule[];
}

/** Empty lists match everything. */
export interface AuditPolicyRule extends RequestAuditConfig {
  readonly users: readonly string[];
  readonly userGroups: readonly string[];
  readonly verbs: readonly string[];
  readonly resources: readonly GroupResources[];
  /** '' is where resources are that have no namespace. */
  readonly namespaces: readonly string[];
  /** '*', a path, or the beginning of one with a '*' behind it. */
  readonly nonResourceUrls: readonly string[];
}

export interface GroupResources {
  /** '' is the core group, '*' any. */
  readonly group: string;
  /** 'pods', 'pods/log', 'pods/*', '*\/scale', '*'. */
  readonly resources: readonly string[];
  readonly resourceNames: readonly string[];
}

/** `user` undefined: nobody knows who asked. As v1.36.4 matches (apiserver/pkg/audit/policy/checker.go). */
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
  return url === '*' || url === path || (url.endsWith('*') && path.startsWith(url.replace(/\*+$/, '')));
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
