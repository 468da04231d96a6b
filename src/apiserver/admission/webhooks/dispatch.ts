/** Which webhooks are called for a request, and what comes of it. */
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

const known = { params: false, authorizer: true };

/** The objects as the webhook wants to see them; undefined: it does not. @throws ApiError */
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
  const values = { ...activationOf(request, objects, undefined), authorizer: authorizerValue(request, deps.authorizer) };
  const outcome = evaluateMatchConditions(conditions, { expressions, scope: known, activation: values });
  if (outcome.type === 'met') return objects;
  if (outcome.type === 'unmet' || webhook.failurePolicy === 'Ignore') return undefined;
  throw statusErrors.forbidden(request.resource.kind, nameOf(request), outcome.message);
}

export interface WebhookInvocation {
  readonly hook: Hook;
  readonly objects: VersionedObjects;
  readonly mutating: boolean;
  /** Its place among all that could be called. */
  readonly index: number;
  /** 0, or 1 for those that are called once more. */
  readonly round: number;
}

/** What the webhook says; undefined: it failed, and that does not matter. @throws ApiError if it refuses, or its failure matters */
export async function callWebhook(
  called: WebhookInvocation,
  request: AdmissionRequest,
  { client, world }: WebhookContext,
): Promise<AdmissionResponse | undefined> {
  const { hook, objects, mutating, index, round } = called;
  const { webhook } = hook;
  let verdict: AdmissionResponse;
  try {
    verdict = await client.review(webhook, { request, versioned: objects, mutating });
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    if (webhook.failurePolicy !== 'Ignore') throw callFailure(error);
    world.log.warn('webhook failed, which is ignored', { webhook: webhook.name, configuration: hook.configuration, error: error.message });
    request.annotate?.(`failed-open.${mutating ? 'mutation' : 'validating'}.webhook.admission.k8s.io/round_${round}_index_${index}`, webhook.name);
    return undefined;
  }
  for (const [key, value] of Object.entries(verdict.auditAnnotations)) request.annotate?.(`${webhook.name}/${key}`, value);
  for (const warning of verdict.warnings) request.warnings.add(warning);
  if (!verdict.allowed) throw denial(webhook.name, verdict.result);
  return verdict;
}
