import type { KubeObject } from '../../api/object.ts';
import type { ProtectionAction, ProtectionDecision } from './actions.ts';

export interface ProtectionSnapshot<T extends KubeObject = KubeObject> {
  readonly object: T;
  /** Who uses it, as far as the caches know: 'pod default/web'. */
  readonly users: readonly string[];
}

/**
 * In-use protection: an object keeps its finalizer until it was told to go and nobody uses it.
 * The caches may lag behind: before the finalizer goes, somebody asks the server itself.
 */
export function decideProtection<T extends KubeObject>({ object, users }: ProtectionSnapshot<T>, finalizer: string): ProtectionDecision<T> {
  const { deletionTimestamp, finalizers = [] } = object.metadata;
  const isProtected = finalizers.includes(finalizer);
  if (deletionTimestamp === undefined) {
    if (isProtected) return { actions: [], reasons: [{ code: 'Protected', text: 'nobody asked for its deletion' }] };
    return { actions: [write('add-finalizer', object, [...finalizers, finalizer])], reasons: [{ code: 'Unprotected', text: `it lacks ${finalizer}` }] };
  }
  if (!isProtected) return { actions: [], reasons: [{ code: 'Released', text: `it is going, and ${finalizer} is gone already` }] };
  if (users.length > 0) return { actions: [], reasons: users.map((user) => ({ code: 'InUse', text: `its deletion waits: ${user} uses it` })) };
  const rest = finalizers.filter((each) => each !== finalizer);
  return {
    actions: [{ type: 'confirm-unused', object }, write('remove-finalizer', object, rest)],
    reasons: [{ code: 'Unused', text: 'it is going, and nobody uses it' }],
  };
}

function write<T extends KubeObject>(type: 'add-finalizer' | 'remove-finalizer', object: T, finalizers: readonly string[]): ProtectionAction<T> {
  const { finalizers: _, ...metadata } = object.metadata;
  return { type, object: { ...object, metadata: finalizers.length === 0 ? metadata : { ...metadata, finalizers: [...finalizers] } } };
}
