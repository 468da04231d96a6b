/** The CEL variable `authorizer` (upstream: apiserver/pkg/cel/library/authz.go): builds an authorization check step by step. */
import type { Environment } from '@marcbachmann/cel-js';

/** The attributes that an expression checks. */
export type AuthorizerAttributes =
  | {
      readonly type: 'resource';
      readonly verb: string;
      readonly group: string;
      readonly resource: string;
      readonly subresource: string;
      readonly namespace: string;
      readonly name: string;
    }
  | { readonly type: 'path'; readonly verb: string; readonly path: string };

export interface AuthorizerDecision {
  readonly allowed: boolean;
  readonly reason: string;
}

/** `as`: a service account; undefined: the user of the request. */
export type CheckAccess = (question: AuthorizerAttributes, as: { readonly namespace: string; readonly name: string } | undefined) => AuthorizerDecision;

type CheckFunction = (question: AuthorizerAttributes) => AuthorizerDecision;
type Target = Omit<Extract<AuthorizerAttributes, { type: 'resource' }>, 'type' | 'verb'>;

/** A step of a check. */
class Check<Subject> {
  readonly ask: CheckFunction;
  readonly subject: Subject;
  constructor(ask: CheckFunction, subject: Subject) {
    this.ask = ask;
    this.subject = subject;
  }
}

// CEL distinguishes types by their classes.
class ResourceCheck extends Check<Target> {}
class GroupCheck extends Check<string> {}
class PathCheck extends Check<string> {}

class AccessDecision {
  readonly answer: AuthorizerDecision;
  constructor(answer: AuthorizerDecision) {
    this.answer = answer;
  }
}

export class CelAuthorizer {
  readonly ask: CheckAccess;
  readonly requestResource: ResourceCheck;
  readonly as: { readonly namespace: string; readonly name: string } | undefined;

  /** `requested`: the resource of the request. */
  constructor(ask: CheckAccess, requested: Target, as?: { readonly namespace: string; readonly name: string }) {
    this.ask = ask;
    this.as = as;
    this.requestResource = new ResourceCheck((question) => ask(question, as), requested);
  }
}

const asking =
  ({ ask, as }: CelAuthorizer): CheckFunction =>
  (question) =>
    ask(question, as);

const narrowed = ({ ask, subject }: ResourceCheck, more: Partial<Target>): ResourceCheck => new ResourceCheck(ask, { ...subject, ...more });

const types = {
  authorizer: 'kubernetes.authorization.Authorizer',
  resource: 'kubernetes.authorization.ResourceCheck',
  group: 'kubernetes.authorization.GroupCheck',
  path: 'kubernetes.authorization.PathCheck',
  decision: 'kubernetes.authorization.Decision',
} as const;

export function registerAuthorizer(environment: Environment): Environment {
  const { authorizer, resource, group, path, decision } = types;
  const anything: Target = { group: '', resource: '', subresource: '', namespace: '', name: '' };
  return environment
    .registerType(decision, AccessDecision)
    .registerType(resource, ResourceCheck)
    .registerType(group, GroupCheck)
    .registerType(path, PathCheck)
    .registerType(authorizer, { ctor: CelAuthorizer, fields: { requestResource: resource } })
    .registerFunction(`${authorizer}.path(string): ${path}`, (from: CelAuthorizer, at: string) => new PathCheck(asking(from), at))
    .registerFunction(`${authorizer}.group(string): ${group}`, (from: CelAuthorizer, name: string) => new GroupCheck(asking(from), name))
    .registerFunction(
      `${authorizer}.serviceAccount(string, string): ${authorizer}`,
      (from: CelAuthorizer, namespace: string, name: string) => new CelAuthorizer(from.ask, from.requestResource.subject, { namespace, name }),
    )
    .registerFunction(
      `${path}.check(string): ${decision}`,
      (from: PathCheck, verb: string) => new AccessDecision(from.ask({ type: 'path', verb, path: from.subject })),
    )
    .registerFunction(
      `${group}.resource(string): ${resource}`,
      (from: GroupCheck, name: string) => new ResourceCheck(from.ask, { ...anything, group: from.subject, resource: name }),
    )
    .registerFunction(`${resource}.subresource(string): ${resource}`, (from: ResourceCheck, subresource: string) => narrowed(from, { subresource }))
    .registerFunction(`${resource}.namespace(string): ${resource}`, (from: ResourceCheck, namespace: string) => narrowed(from, { namespace }))
    .registerFunction(`${resource}.name(string): ${resource}`, (from: ResourceCheck, name: string) => narrowed(from, { name }))
    .registerFunction(
      `${resource}.check(string): ${decision}`,
      (from: ResourceCheck, verb: string) => new AccessDecision(from.ask({ type: 'resource', verb, ...from.subject })),
    )
    .registerFunction(`${decision}.allowed(): bool`, ({ answer }: AccessDecision) => answer.allowed)
    .registerFunction(`${decision}.reason(): string`, ({ answer }: AccessDecision) => answer.reason)
    .registerFunction(`${decision}.errored(): bool`, () => false)
    .registerFunction(`${decision}.error(): string`, () => '');
}

export const authorizerType = types.authorizer;
