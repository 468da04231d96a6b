import type { Namespace, NamespaceStatus, Pod } from '../../../api/generated/types.ts';
import type { Kind } from '../../../api/kind.ts';
import type { KubeObject } from '../../../api/object.ts';
import type { Client } from '../../../client/client.ts';
import type { Decision } from '../../../client/decision.ts';
import { type Outcome, outcomeOf } from '../../../client/controller/loop.ts';
import type { Clock } from '../../../world/world.ts';

export type NamespaceAction =
  | { readonly type: 'set-status'; readonly namespace: Namespace; readonly status: NamespaceStatus }
  /** Delete everything in it that is still there, and see what remains. */
  | { readonly type: 'sweep'; readonly namespace: Namespace }
  | { readonly type: 'finalize'; readonly namespace: Namespace; readonly finalizers: readonly string[] };

export type NamespaceDecision = Decision<NamespaceAction>;

/** What one attempt to empty a namespace left behind. */
export interface ContentDeletion {
  readonly kinds: readonly KindDeletion[];
  /** Pods go first, alone: as long as there are any, nothing else is touched. */
  readonly heldUpByPods: boolean;
  /** When to try again; undefined: the namespace is empty. */
  readonly again: number | undefined;
  /** Attempts in a row that met an error. */
  readonly failures: number;
}

export interface KindDeletion {
  readonly kind: Pick<Kind, 'group' | 'plural'>;
  readonly remaining: number;
  /** How many of them wait for each finalizer. */
  readonly finalizers: ReadonlyMap<string, number>;
  readonly error?: string;
  /** In how many seconds what remains is expected to be gone. */
  readonly estimate: number;
}

export interface ContentDeleter {
  readonly client: Client;
  readonly clock: Clock;
  readonly namespaceKind: Kind<Namespace>;
  /** Every namespaced kind whose objects can be deleted. */
  readonly contentKinds: readonly Kind[];
}

export async function perform(action: Exclude<NamespaceAction, { type: 'sweep' }>, { client, namespaceKind }: ContentDeleter): Promise<Outcome> {
  const { namespace } = action;
  switch (action.type) {
    case 'set-status':
      return outcomeOf(await client.updateStatus(namespaceKind, { ...namespace, status: action.status }));
    case 'finalize': {
      const finalized: Namespace = { ...namespace, spec: { ...namespace.spec, finalizers: [...action.finalizers] } };
      return outcomeOf(await client.update(namespaceKind, finalized, { subresource: 'finalize' }));
    }
  }
}

export async function deleteContent(namespace: Namespace, failuresBefore: number, sweeper: ContentDeleter): Promise<ContentDeletion> {
  const isPods = (kind: Kind) => kind.group === '' && kind.plural === 'pods';
  const kinds: KindDeletion[] = [];
  for (const kind of sweeper.contentKinds.filter(isPods)) kinds.push(await deleteKind(kind, namespace, sweeper));
  const heldUpByPods = kinds.some(({ remaining }) => remaining > 0);
  if (!heldUpByPods) for (const kind of sweeper.contentKinds) if (!isPods(kind)) kinds.push(await deleteKind(kind, namespace, sweeper));
  const failures = kinds.some(({ error }) => error !== undefined) ? failuresBefore + 1 : 0;
  const waitMs = waitAfter(kinds, failures);
  return { kinds, heldUpByPods, failures, again: waitMs === undefined ? undefined : sweeper.clock.now() + waitMs };
}

/** Kubernetes' times: after errors soon, then later and later; else when about half of what remains should be gone. */
function waitAfter(kinds: readonly KindDeletion[], failures: number): number | undefined {
  if (failures > 0) return Math.min(5 * 2 ** (failures - 1), 60_000);
  const estimate = Math.max(0, ...kinds.map((kind) => kind.estimate));
  return estimate > 0 ? (Math.floor(estimate / 2) + 1) * 1000 : undefined;
}

async function deleteKind(kind: Kind, namespace: Namespace, { client, clock }: ContentDeleter): Promise<KindDeletion> {
  const name = namespace.metadata.name ?? '';
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

function assess(kind: Kind, namespace: string, { left, grace }: { left: readonly KubeObject[]; grace: number }): KindDeletion {
  const remaining = left.length;
  const finalizers = countFinalizers(left);
  if (remaining === 0) return { kind, remaining, finalizers, estimate: 0 };
  if (grace > 0) return { kind, remaining, finalizers, estimate: grace };
  if (finalizers.size > 0) return { kind, remaining, finalizers, estimate: finalizerEstimateSeconds };
  const error = `unexpected items still remain in namespace: ${namespace} for gvr: ${kind.group}/${kind.version}, Resource=${kind.plural}`;
  return { kind, remaining, finalizers, estimate: 0, error };
}

/** What went wrong, in words; undefined: nothing did. */
async function deleteAll(kind: Kind, namespace: string, { client, items }: { client: Client; items: readonly KubeObject[] }): Promise<string | undefined> {
  if (kind.verbs.includes('deletecollection')) {
    const all = await client.deleteCollection(kind, { namespace }, { propagation: 'Background' });
    return all.ok ? undefined : all.error.message;
  }
  for (const { metadata } of items) {
    const one = await client.delete(kind, { namespace, name: metadata.name ?? '' }, { propagation: 'Background' });
    if (!one.ok && one.reason !== 'notFound') return one.error.message;
  }
  return undefined;
}

/** How long the pods among them may take to stop, unless that time has passed. */
function graceSeconds(items: readonly KubeObject[], namespace: Namespace, now: number): number {
  let grace = 0;
  for (const item of items) {
    if (item.kind !== 'Pod') return 0;
    const { spec, status } = item as Pod;
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

/** How long finalizers are expected to take, as nobody knows. */
const finalizerEstimateSeconds = 15;
