import type { Pod } from '../../../api/generated/types.ts';
import type { KubeObject } from '../../../api/object.ts';
import type { Stored } from '../../../api/stored.ts';
import { statusErrors } from '../../../api/status.ts';
import type { Entry } from '../../../store/contract.ts';
import type { Call, Registry } from '../registry.ts';
import { keyOf } from '../../objects/resources.ts';
import { revisionOf } from '../../objects/object-revision.ts';
import type { TransactionDraft } from '../../objects/transaction.ts';

export interface PodRequest {
  readonly subresource: 'binding' | 'eviction';
  /** Of the pod. */
  readonly name: string;
  /** The posted Binding or Eviction. */
  readonly object: KubeObject;
  readonly draft: TransactionDraft;
  readonly dryRun: boolean;
}

/** Admits a Binding or an Eviction, and reads its pod. @throws ApiError 404, and admission's errors */
export async function podOf(
  registry: Registry,
  { route, request, warnings }: Call,
  { subresource, name, object, draft, dryRun }: PodRequest,
): Promise<{ readonly key: string; readonly entry: Entry; readonly pod: Stored<Pod> }> {
  const { resource, namespace } = route;
  const attributes = { operation: 'create', resource, subresource, namespace, name, object, old: undefined, user: request.user, dryRun } as const;
  const admission = { ...attributes, draft, warnings, annotate: request.annotate };
  await registry.admission.mutate(admission);
  await registry.admission.validate(admission);
  const key = keyOf(resource, namespace, name);
  const entry = await draft.read(key);
  if (entry === undefined) throw statusErrors.notFound(resource.kind, name);
  return { key, entry, pod: revisionOf(resource, entry).object as Stored<Pod> };
}
