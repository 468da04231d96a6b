/**
 * TokenReview, the access reviews and SelfSubjectReview: `kubectl auth whoami`, `auth can-i`, and the requests of other servers that
 * authenticate and authorize their own clients here. Reviews are answered, not stored.
 */
import type {
  LocalSubjectAccessReview,
  NonResourceRule,
  PolicyRule,
  ResourceRule,
  SelfSubjectAccessReview,
  SelfSubjectReview,
  SelfSubjectRulesReview,
  SubjectAccessReview,
  SubjectRulesReviewStatus,
  TokenReview,
  UserInfo,
} from '../../../api/generated/types.ts';
import { type FieldError } from '../../../api/field-error.ts';
import { apiVersionOf } from '../../../api/kind.ts';
import { type ReviewKind, reviewKinds } from '../../../api/kinds/authorization/reviews.ts';
import type { KubeObject } from '../../../api/object.ts';
import { statusErrors } from '../../../api/status.ts';
import type { Clock } from '../../../world/world.ts';
import type { AccessRules } from '../../admission/plugins/role-escalation.ts';
import type { ApiRequest, ApiResponse, User } from '../../api.ts';
import { aggregate } from '../../authorization/rbac/authorizer.ts';
import type { TokenIssuer } from '../../authentication/token-issuer.ts';
import { authenticated, nodeOf } from '../../user.ts';
import { timestamp } from '../../objects/metadata.ts';
import { parseWriteOptions } from '../../objects/options.ts';
import type { CreateContext, CreateOnlyResource } from '../dispatch.ts';
import { bodyType, decodeBody } from '../registry.ts';
import { accessErrors, accessStatus, localAccessErrors, selfAccessErrors, subjectOf } from './access.ts';

export interface ReviewOptions {
  readonly access: AccessRules;
  /** Absent: every token is invalid. */
  readonly tokens: Partial<Pick<TokenIssuer, 'review'>> | undefined;
  readonly world: { readonly clock: Pick<Clock, 'now'> };
}

interface ReviewRequest {
  readonly user: User;
  /** From the path. */
  readonly namespace: string;
}

type ReviewHandler<T extends KubeObject> = (question: T, request: ReviewRequest) => Promise<T>;

export function createReviews(options: ReviewOptions): readonly CreateOnlyResource[] {
  const reviews: CreateOnlyResource[] = [];
  const serve = <T extends KubeObject>(kind: ReviewKind, answer: ReviewHandler<T>): void => {
    reviews.push({ kind, create: (request, context) => respond(kind, answer, { ...context, request }) });
  };
  serve<SelfSubjectReview>(reviewKinds.selfSubject, async (_, { user }) => ({
    ...typeOf(reviewKinds.selfSubject),
    metadata: { creationTimestamp: timestamp(options.world.clock.now()) },
    status: { userInfo: userInfoOf(user) },
  }));
  serve<TokenReview>(reviewKinds.token, (question) => reviewToken(question, options.tokens));
  serve<SelfSubjectAccessReview>(reviewKinds.selfAccess, async (question, { user }) => {
    refuseInvalid(reviewKinds.selfAccess, selfAccessErrors(question));
    return { ...question, status: await accessStatus(options.access.authorizer, user, question.spec) };
  });
  serve<SubjectAccessReview>(reviewKinds.access, async (question) => {
    refuseInvalid(reviewKinds.access, accessErrors(question));
    return { ...question, status: await accessStatus(options.access.authorizer, subjectOf(question.spec), question.spec) };
  });
  serve<LocalSubjectAccessReview>(reviewKinds.localAccess, async (question, { namespace }) => {
    const local = { ...question, metadata: { ...question.metadata, namespace: question.metadata.namespace ?? namespace } };
    refuseInvalid(reviewKinds.localAccess, localAccessErrors(local));
    if (local.metadata.namespace !== namespace) {
      throw statusErrors.badRequest(`spec.resourceAttributes.namespace must match namespace: ${namespace}`);
    }
    return { ...local, status: await accessStatus(options.access.authorizer, subjectOf(local.spec), local.spec) };
  });
  serve<SelfSubjectRulesReview>(reviewKinds.selfRules, async ({ spec }, { user }) => {
    if ((spec.namespace ?? '') === '') throw statusErrors.badRequest('no namespace on request');
    const { rules, errors } = options.access.rbac.rulesFor(user, spec.namespace ?? '');
    const beyond = nodeOf(user) === undefined ? [] : ['node authorizer does not support user rule resolution'];
    const status = { ...rulesStatus(rules, [...beyond, ...errors]), incomplete: beyond.length > 0 };
    return { ...typeOf(reviewKinds.selfRules), metadata: {}, spec: {}, status };
  });
  return reviews;
}

async function respond<T extends KubeObject>(
  kind: ReviewKind,
  answer: ReviewHandler<T>,
  { request, namespace, warnings }: CreateContext & { readonly request: ApiRequest },
): Promise<ApiResponse> {
  const { fieldValidation } = parseWriteOptions(request.query, 'CreateOptions');
  const question = decodeBody(request.body, bodyType<T>(kind.group, kind.version, kind.kind), { fieldValidation, warnings });
  return { type: 'plain', code: 201, object: await answer(question, { user: request.user, namespace }), warnings: [...warnings] };
}

const typeOf = (kind: ReviewKind) => ({ kind: kind.kind, apiVersion: apiVersionOf(kind) });

function refuseInvalid(kind: ReviewKind, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw statusErrors.invalid(kind, '', errors);
}

/** The token's user, and those of the asked audiences that the token is for; without any, this server's. */
async function reviewToken(question: TokenReview, tokens: ReviewOptions['tokens']): Promise<TokenReview> {
  const { token = '', audiences = [] } = question.spec;
  if (token === '') throw statusErrors.badRequest('token is required for TokenReview in authentication');
  const found = await tokens?.review?.(token, audiences);
  if (found === undefined) return { ...question, status: { user: {}, error: 'invalid bearer token' } };
  return { ...question, status: { authenticated: true, user: userInfoOf(authenticated(found.user)), audiences: [...found.audiences] } };
}

const userInfoOf = ({ name, uid, groups, extra = {} }: User): UserInfo => ({
  username: name,
  ...(uid === undefined ? {} : { uid }),
  ...(groups.length === 0 ? {} : { groups: [...groups] }),
  ...(Object.keys(extra).length === 0 ? {} : { extra: Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, [...values]])) }),
});

function rulesStatus(rules: readonly PolicyRule[], errors: readonly string[]): SubjectRulesReviewStatus {
  // A rule with resources has no paths.
  const resourceRules: ResourceRule[] = rules.filter(({ resources = [] }) => resources.length > 0);
  const nonResourceRules = rules.flatMap(({ verbs, nonResourceURLs = [] }): NonResourceRule[] =>
    nonResourceURLs.length > 0 ? [{ verbs, nonResourceURLs }] : [],
  );
  return { resourceRules, nonResourceRules, incomplete: false, ...(errors.length === 0 ? {} : { evaluationError: aggregate(errors) }) };
}
