import type { Eviction, Pod, PodDisruptionBudget } from '../../../api/generated/types.ts';
import { cloneObject } from '../../../api/schema/index.ts';
import { ApiError, statusErrors } from '../../../api/status.ts';
import type { Stored } from '../../../api/stored.ts';
import { prefixEnd } from '../../../store/contract.ts';
import type { ApiResponse } from '../../api.ts';
import { afterDelete, checkPreconditions, recordDeletion } from '../verbs/delete.ts';
import { adoptNamespace, timestamp } from '../../objects/metadata.ts';
import { checkDeleteOptions, type DeleteOptions, parseWriteOptions } from '../../objects/options.ts';
import { type Call, decodeAsAny, bodyType, type Registry, targetOf } from '../registry.ts';
import { keyOf, prefixOf, type Resource } from '../../objects/resources.ts';
import { encode, revisionOf } from '../../objects/object-revision.ts';
import { type TransactionDraft, type PreparedWrite, write } from '../../objects/transaction.ts';
import { setCondition } from './binding.ts';
import { created } from './created.ts';
import { podOf } from './pod-of.ts';
import { budgetsOf, canIgnoreBudget, mayEvictUnhealthy, decrementBudget } from './disruption-budget.ts';

/** v1beta1 is no longer served, but bodies may still use it. */
const evictionTypes = ['v1', 'v1beta1'].map((version) => bodyType<Eviction>('policy', version, 'Eviction'));

/**
 * Deletes a pod if its PodDisruptionBudget allows it. The transaction that deletes the pod also decrements the budget: neither
 * happens without the other, and no two evictions use the same disruption.
 */
export async function evict(registry: Registry, call: Call): Promise<ApiResponse> {
  const { request, route, warnings } = call;
  if (request.info.verb !== 'create') throw statusErrors.methodNotAllowedHere();
  const { dryRun, fieldValidation } = parseWriteOptions(request.query, 'CreateOptions');
  const eviction = decodeAsAny(request.body, evictionTypes, { fieldValidation, warnings });
  adoptNamespace(eviction, route.resource.kind, route.namespace);
  if (eviction.metadata.name !== route.name) throw statusErrors.badRequest('name in URL does not match name in Eviction object');
  const given = checkDeleteOptions(eviction.deleteOptions ?? {});
  const options: DeleteOptions = { ...given, dryRun: given.dryRun || dryRun };
  return write(targetOf(registry, call), (draft) => prepareEviction(registry, call, { eviction, options, draft }));
}

interface Attempt {
  readonly eviction: Eviction;
  readonly options: DeleteOptions;
  readonly draft: TransactionDraft;
}

async function prepareEviction(registry: Registry, call: Call, { eviction, options, draft }: Attempt): Promise<PreparedWrite<ApiResponse>> {
  const { resource, name } = call.route;
  const { dryRun } = options;
  const { key, entry, pod } = await podOf(registry, call, { subresource: 'eviction', name, object: eviction, draft, dryRun });
  checkPreconditions(resource.kind, pod, options);
  if (!canIgnoreBudget(pod)) await spendBudget(registry, pod, { draft, dryRun });
  const now = registry.world.clock.now();
  const deletion = recordDeletion(call, { draft, entry, key, next: afterDelete(resource.kind, disrupted(pod, now), { options, now }), dryRun });
  const answer = created(call);
  return deletion.type === 'answer' ? { type: 'answer', answer } : { type: 'commit', answer: () => answer };
}

/** The pod with its DisruptionTarget condition. */
function disrupted(pod: Pod, now: number): Pod {
  const object = cloneObject(pod);
  setCondition(object, {
    type: 'DisruptionTarget',
    status: 'True',
    lastProbeTime: null,
    lastTransitionTime: timestamp(now),
    reason: 'EvictionByEvictionAPI',
    message: 'Eviction API: evicting',
  });
  return object;
}

async function spendBudget(registry: Registry, pod: Stored<Pod>, { draft, dryRun }: Pick<Attempt, 'draft'> & { readonly dryRun: boolean }): Promise<void> {
  const budgets = registry.resources.find('policy/v1', 'poddisruptionbudgets');
  if (budgets === undefined) return;
  const [budget, another] = budgetsOf(pod, await listBudgets(registry, budgets, pod.metadata.namespace ?? ''));
  if (budget === undefined) return;
  if (another !== undefined) throw new ApiError(500, '', 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.');
  if (mayEvictUnhealthy(pod, budget)) return;
  const spent = decrementBudget(budget, pod.metadata.name, registry.world.clock.now());
  if (dryRun) return;
  const key = keyOf(budgets, budget.metadata.namespace ?? '', budget.metadata.name);
  draft.expect(key, Number(budget.metadata.resourceVersion));
  draft.put(key, encode(budgets, spent));
}

async function listBudgets({ store }: Registry, budgets: Resource, namespace: string): Promise<Stored<PodDisruptionBudget>[]> {
  const prefix = prefixOf(budgets, namespace);
  const { entries } = await store.range({ from: prefix, to: prefixEnd(prefix) });
  return entries.map((entry) => revisionOf(budgets, entry).object as Stored<PodDisruptionBudget>);
}
