import type { Namespace, Pod } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import type { Kind } from '../../../api/kind.ts';
import type { KubeObject } from '../../../api/object.ts';
import type { Client } from '../../../client/client.ts';
import type { Decision, ObjectWrite } from '../../../client/decision.ts';
import type { Clock } from '../../../world/world.ts';

export type NamespaceAction =
  | ObjectWrite<Namespace>
  /** Deletes all objects in the namespace, and counts what remains. */
  | { readonly do: 'deleteContent'; readonly namespace: Stored<Namespace> }
  | { readonly do: 'finalize'; readonly namespace: Stored<Namespace>; readonly finalizers: readonly string[] };

export type NamespaceDecision = Decision<NamespaceAction>;

/** The result of one attempt to delete the content of a namespace. */
export interface ContentDeletion {
  readonly kinds: readonly KindDeletion[];
  /** Pods are deleted first: as long as there are any, no other kind is deleted. */
  readonly heldUpByPods: boolean;
  /** When to retry; undefined: the namespace is empty. */
  readonly again: number | undefined;
  /** Consecutive attempts with an error. */
  readonly failures: number;
}

export interface KindDeletion {
  readonly kind: Pick<Kind, 'group' | 'plural'>;
  readonly remaining: number;
  /** The number of objects by finalizer. */
  readonly finalizers: ReadonlyMap<string, number>;
  readonly error?: string;
  /** Estimated seconds until the remaining objects are gone. */
  readonly estimate: number;
}

export interface ContentDeleter {
  readonly client: Client;
  readonly clock: Clock;
  /** Every namespaced kind with the verb delete. */
  readonly contentKinds: readonly Kind[];
}

export async function deleteContent(namespace: Stored<Namespace>, failuresBefore: number, deleter: ContentDeleter): Promise<ContentDeletion> {
  const isPods = (kind: Kind) => kind.group === '' && kind.plural === 'pods';
  const kinds: KindDeletion[] = [];
  for (const kind of deleter.contentKinds.filter(isPods)) kinds.push(await deleteKind(kind, namespace, deleter));
  const heldUpByPods = kinds.some(({ remaining }) => remaining > 0);
  if (!heldUpByPods) for (const kind of deleter.contentKinds) if (!isPods(kind)) kinds.push(await deleteKind(kind, namespace, deleter));
  const failures = kinds.some(({ error }) => error !== undefined) ? failuresBefore + 1 : 0;
  const waitMs = waitAfter(kinds, failures);
  return { kinds, heldUpByPods, failures, again: waitMs === undefined ? undefined : deleter.clock.now() + waitMs };
}

/** Kubernetes' delays: exponential after errors, otherwise half of the estimate. */
function waitAfter(kinds: readonly KindDeletion[], failures: number): number | undefined {
  if (failures > 0) return Math.min(5 * 2 ** (failures - 1), 60_000);
  const estimate = Math.max(0, ...kinds.map((kind) => kind.estimate));
  return estimate > 0 ? (Math.floor(estimate / 2) + 1) * 1000 : undefined;
}

async function deleteKind(kind: Kind, namespace: Stored<Namespace>, { client, clock }: ContentDeleter): Promise<KindDeletion> {
  const name = namespace.metadata.name;
  const failed = (error: string, estimate = 0): KindDeletion => ({ kind, remaining: 0, finalizers: new Map(), error, estimate });
  const found = await client.list(kind, { namespace: name });
  if (!found.ok) return failed(found.error.message);
  const grace = graceSeconds(found.value.items, namespace, clock.now());
  if (found.value.items.length === 0) return { kind, remaining: 0, finalizers: new Map(), estimate: 0 };
  const refusal = await deleteAll(kind, name, { client, items: found.value.items });
  if (refusal !== undefined) return failed(refusal, grace);
  const left = await client.list(kind, { namespace: name });
  if (!left.ok) return failed(left.error.message, grace);
  return assess(kind, name, { left: left.value.items, grace });
}

function assess(kind: Kind, namespace: string, { left, grace }: { left: readonly Stored<KubeObject>[]; grace: number }): KindDeletion {
  const remaining = left.length;
  const finalizers = countFinalizers(left);
  if (remaining === 0) return { kind, remaining, finalizers, estimate: 0 };
  if (grace > 0) return { kind, remaining, finalizers, estimate: grace };
  if (finalizers.size > 0) return { kind, remaining, finalizers, estimate: finalizerEstimateSeconds };
  const error = `unexpected items still remain in namespace: ${namespace} for gvr: ${kind.group}/${kind.version}, Resource=${kind.plural}`;
  return { kind, remaining, finalizers, estimate: 0, error };
}

/** Returns the error message; undefined: no error. */
async function deleteAll(
  kind: Kind,
  namespace: string,
  { client, items }: { client: Client; items: readonly Stored<KubeObject>[] },
): Promise<string | undefined> {
  if (kind.verbs.includes('deletecollection')) {
    const all = await client.deleteCollection(kind, { namespace }, { propagation: 'Background' });
    return all.ok ? undefined : all.error.message;
  }
  for (const { metadata } of items) {
    const one = await client.delete(kind, { namespace, name: metadata.name }, { propagation: 'Background' });
    if (!one.ok && one.reason !== 'notFound') return one.error.message;
  }
  return undefined;
}

/** The longest grace period of the pods; 0 once it has passed. */
function graceSeconds(items: readonly KubeObject[], namespace: Namespace, now: number): number {
  let grace = 0;
  for (const item of items) {
    if (item.kind !== 'Pod') return 0;
    const { spec, status } = item as Stored<Pod>;
    if (status.phase !== 'Succeeded' && status.phase !== 'Failed') grace = Math.max(grace, spec.terminationGracePeriodSeconds ?? 0);
  }
  const elapsed = now - Date.parse(namespace.metadata.deletionTimestamp ?? '');
  return elapsed >= grace * 1000 ? 0 : grace;
}

function countFinalizers(items: readonly KubeObject[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { metadata } of items) for (const finalizer of metadata.finalizers ?? []) counts.set(finalizer, (counts.get(finalizer) ?? 0) + 1);
  return counts;
}

/** The estimate for objects with finalizers, whose duration is unknown. */
const finalizerEstimateSeconds = 15;
