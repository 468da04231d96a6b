import type { ValidatingWebhook } from '../../../api/generated/types.ts';
import type { AdmissionRequest } from '../chain.ts';
import { operationOf } from '../matching/attributes.ts';
import type { RuleIndex } from '../matching/rule-index.ts';
import { type WebhookInvocation, callWebhook, objectsToReview, type WebhookContext } from './dispatch.ts';
import type { Hook } from './hooks.ts';

/** All matching webhooks are called at once; the first denial, in their order, is the error. @throws ApiError */
export async function callValidatingWebhooks(hooks: RuleIndex<Hook<ValidatingWebhook>>, request: AdmissionRequest, deps: WebhookContext): Promise<void> {
  const { resource, subresource, operation } = request;
  const matched = hooks.matching({ operation: operationOf[operation], resource, subresource });
  if (matched.length === 0) return;
  const called: WebhookInvocation[] = [];
  for (const one of matched) {
    const objects = await objectsToReview(one, request, deps);
    if (objects !== undefined) called.push({ hook: one.entry, objects, mutating: false, index: called.length, round: 0 });
  }
  const outcomes = await Promise.allSettled(called.map((one) => callWebhook(one, request, deps)));
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}
