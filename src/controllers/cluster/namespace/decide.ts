import type { Namespace, NamespaceCondition } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { updateStatus } from '../../../client/decision.ts';
import type { NamespaceDecision, ContentDeletion } from './actions.ts';

/** The finalizer in `spec.finalizers` that this controller removes once the namespace is empty. */
export const FINALIZER = 'kubernetes';

export interface NamespaceSnapshot {
  readonly namespace: Stored<Namespace>;
  /** The result of the last attempt; undefined: there was none since the content changed. */
  readonly deletion: ContentDeletion | undefined;
}

/** Deletes the content of a terminating namespace, writes its conditions, and finalizes it once it is empty. */
export function decideNamespace({ namespace, deletion }: NamespaceSnapshot, now: number): NamespaceDecision {
  const { finalizers = [] } = namespace.spec;
  if (namespace.metadata.deletionTimestamp === undefined) return nothing('Active', 'it is not being deleted');
  if (namespace.status.phase !== 'Terminating')
    return act('Terminating', 'it is being deleted', ...updateStatus(namespace, { ...namespace, status: { ...namespace.status, phase: 'Terminating' } }));
  if (finalizers.length === 0) return nothing('Finalized', 'it has no finalizers');
  if (deletion === undefined || (deletion.again !== undefined && deletion.again <= now))
    return act('NotEmptied', 'its content has to be deleted', { do: 'deleteContent', namespace });
  const conditions = conditionsAfter(namespace.status.conditions ?? [], deletion, now);
  if (conditions !== undefined)
    return act(
      'ConditionsChanged',
      'its conditions are out of date',
      ...updateStatus(namespace, { ...namespace, status: { ...namespace.status, conditions } }),
    );
  if (deletion.again !== undefined) return { ...nothing('ContentRemains', 'some of its content remains'), again: deletion.again };
  if (!finalizers.includes(FINALIZER)) return nothing('Finalized', 'it has finalizers of other controllers');
  return act('Empty', 'it is empty', { do: 'finalize', namespace, finalizers: finalizers.filter((other) => other !== FINALIZER).sort() });
}

/** The new conditions; undefined: nothing changes. */
function conditionsAfter(before: readonly NamespaceCondition[], deletion: ContentDeletion, now: number): NamespaceCondition[] | undefined {
  const time = `${new Date(now).toISOString().slice(0, 19)}Z`;
  const after = [...before];
  let changed = false;
  for (const wanted of conditionsOf(deletion)) {
    const index = after.findIndex(({ type }) => type === wanted.type);
    const old = after[index];
    if (old === undefined) after.push({ ...wanted, lastTransitionTime: time });
    else if (old.status === wanted.status && old.reason === wanted.reason && old.message === wanted.message) continue;
    else after[index] = { ...wanted, lastTransitionTime: old.status === wanted.status ? old.lastTransitionTime : time };
    changed = true;
  }
  return changed ? after : undefined;
}

type Wanted = Omit<NamespaceCondition, 'lastTransitionTime'>;

/** All five, in Kubernetes' order. The first two cannot fail: the kinds are known without discovery. */
function conditionsOf(deletion: ContentDeletion): readonly Wanted[] {
  return [
    condition('NamespaceDeletionDiscoveryFailure', undefined, ['ResourcesDiscovered', 'All resources successfully discovered']),
    condition('NamespaceDeletionGroupVersionParsingFailure', undefined, ['ParsedGroupVersions', 'All legacy kube types successfully parsed']),
    condition('NamespaceDeletionContentFailure', contentFailure(deletion), [
      'ContentDeleted',
      'All content successfully deleted, may be waiting on finalization',
    ]),
    condition('NamespaceContentRemaining', contentRemaining(deletion), ['ContentRemoved', 'All content successfully removed']),
    condition('NamespaceFinalizersRemaining', finalizersRemaining(deletion), ['ContentHasNoFinalizers', 'All content-preserving finalizers finished']),
  ];
}

type ReasonAndMessage = readonly [reason: string, message: string];

function condition(type: string, problem: ReasonAndMessage | undefined, fine: ReasonAndMessage): Wanted {
  const [reason, message] = problem ?? fine;
  return { type, status: problem === undefined ? 'False' : 'True', reason, message };
}

function contentFailure({ kinds }: ContentDeletion): ReasonAndMessage | undefined {
  const errors = kinds.flatMap(({ error }) => (error === undefined ? [] : [error])).sort();
  if (errors.length === 0) return undefined;
  return ['ContentDeletionFailed', `Failed to delete all resource types, ${errors.length} remaining: ${errors.join(', ')}`];
}

function contentRemaining(deletion: ContentDeletion): ReasonAndMessage | undefined {
  const remaining = counted(deletion)
    .map(({ kind, remaining: n }) => `${kind.plural}.${kind.group} has ${n} resource instances`)
    .sort();
  return remaining.length === 0 ? undefined : ['SomeResourcesRemain', `Some resources are remaining: ${remaining.join(', ')}`];
}

function finalizersRemaining(deletion: ContentDeletion): ReasonAndMessage | undefined {
  const counts = new Map<string, number>();
  for (const { finalizers } of counted(deletion)) for (const [finalizer, n] of finalizers) counts.set(finalizer, (counts.get(finalizer) ?? 0) + n);
  if (counts.size === 0) return undefined;
  const texts = Array.from(counts, ([finalizer, n]) => `${finalizer} in ${n} resource instances`).sort();
  return ['SomeFinalizersRemain', `Some content in the namespace has finalizers remaining: ${texts.join(', ')}`];
}

/** As in Kubernetes, nothing is reported as remaining while pods block the other kinds. */
const counted = ({ kinds, heldUpByPods }: ContentDeletion) => (heldUpByPods ? [] : kinds.filter(({ remaining }) => remaining > 0));

const nothing = (code: string, text: string): NamespaceDecision => ({ actions: [], reasons: [{ code, text }] });
const act = (code: string, text: string, ...actions: NamespaceDecision['actions']): NamespaceDecision => ({ actions, reasons: [{ code, text }] });
