/** Which webhooks are called for a request, and how. */
import { loadExpressions } from '../../../api/admission/expressions.ts';
import { statusErrors } from '../../../api/status.ts';
import type { World } from '../../../world/world.ts';
import type { Authorizer } from '../../authorization/authorizer.ts';
import type { AdmissionRequest } from '../chain.ts';
import { nameOf, type VersionedObjects, versionedObjects } from '../matching/attributes.ts';
import { evaluateMatchConditions } from '../matching/match-conditions.ts';
import type { RuleMatch } from '../matching/rule-index.ts';
import { type NamespaceReader, selects } from '../matching/selectors.ts';
import { authorizerValue, activationOf } from '../matching/activation.ts';
import { CallError, callFailure, type WebhookClient } from './client.ts';
import type { Hook } from './hooks.ts';
import { denial, type AdmissionResponse } from './review.ts';

export interface WebhookContext {
  readonly client: WebhookClient;
  readonly namespaces: NamespaceReader;
  readonly authorizer: Authorizer | undefined;
  readonly world: World;
}

const scope = { params: false, authorizer: true };

/** The objects in the version for the webhook; undefined: its selectors or conditions do not match. @throws ApiError */
export async function objectsToReview(
  { entry, resource }: RuleMatch<Hook>,
  request: AdmissionRequest,
  deps: WebhookContext,
): Promise<VersionedObjects | undefined> {
  const { selectors, webhook } = entry;
  if (!(await selects(selectors, request, deps.namespaces))) return undefined;
  const objects = versionedObjects(request, resource);
  const conditions = webhook.matchConditions ?? [];
  if (conditions.length === 0) return objects;
  const expressions = await loadExpressions();
  const activation = { ...activationOf(request, objects, undefined), authorizer: authorizerValue(request, deps.authorizer) };
  const outcome = evaluateMatchConditions(conditions, { expressions, scope, activation });
  if (outcome.type === 'met') return objects;
  if (outcome.type === 'unmet' || webhook.failurePolicy === 'Ignore') return undefined;
  throw statusErrors.forbidden(request.resource.kind, nameOf(request), outcome.message);
}

export interface WebhookInvocation {
  readonly hook: Hook;
  readonly objects: VersionedObjects;
  readonly mutating: boolean;
  /** Its index among all matching webhooks. */
  readonly index: number;
  /** 1 for a reinvocation. */
  readonly round: number;
}

/** undefined: the call failed, and failurePolicy is Ignore. @throws ApiError for a denial, or a failure with failurePolicy Fail */
export async function callWebhook(
  called: WebhookInvocation,
  request: AdmissionRequest,
  { client, world }: WebhookContext,
): Promise<AdmissionResponse | undefined> {
  const { hook, objects, mutating, index, round } = called;
  const { webhook } = hook;
  let response: AdmissionResponse;
  try {
    response = await client.review(webhook, { request, versioned: objects, mutating });
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    if (webhook.failurePolicy !== 'Ignore') throw callFailure(error);
    world.log.warn('webhook failed, which is ignored', { webhook: webhook.name, configuration: hook.configuration, error: error.message });
    request.annotate?.(`failed-open.${mutating ? 'mutation' : 'validating'}.webhook.admission.k8s.io/round_${round}_index_${index}`, webhook.name);
    return undefined;
  }
  for (const [key, value] of Object.entries(response.auditAnnotations)) request.annotate?.(`${webhook.name}/${key}`, value);
  for (const warning of response.warnings) request.warnings.add(warning);
  if (!response.allowed) throw denial(webhook.name, response.result);
  return response;
}
