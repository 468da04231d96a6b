import type { KubeObject } from '../../api/object.ts';
import type { ProtectionAction, ProtectionDecision } from './actions.ts';

export interface ProtectionSnapshot<T extends KubeObject = KubeObject> {
  readonly object: T;
  /** Its users in the caches: 'pod default/web'. */
  readonly users: readonly string[];
}

/**
 * In-use protection: an object keeps its finalizer until it is being deleted and not in use.
 * The caches may lag behind: before the finalizer is removed, the server is asked.
 */
export function decideProtection({ object, users }: ProtectionSnapshot, finalizer: string): ProtectionDecision {
  const { deletionTimestamp, finalizers = [] } = object.metadata;
  const isProtected = finalizers.includes(finalizer);
  if (deletionTimestamp === undefined) {
    if (isProtected) return { actions: [], reasons: [{ code: 'Protected', text: 'it is not being deleted' }] };
    return { actions: [withFinalizers(object, [...finalizers, finalizer])], reasons: [{ code: 'Unprotected', text: `it lacks ${finalizer}` }] };
  }
  if (!isProtected) return { actions: [], reasons: [{ code: 'Released', text: `it is being deleted, and ${finalizer} is removed already` }] };
  if (users.length > 0) return { actions: [], reasons: users.map((user) => ({ code: 'InUse', text: `its deletion waits: ${user} uses it` })) };
  const rest = finalizers.filter((each) => each !== finalizer);
  return {
    actions: [{ do: 'confirm-unused' }, withFinalizers(object, rest)],
    reasons: [{ code: 'Unused', text: 'it is being deleted, and not in use' }],
  };
}

function withFinalizers(object: KubeObject, finalizers: readonly string[]): ProtectionAction {
  const { finalizers: _, ...metadata } = object.metadata;
  const changed = { ...object, metadata: finalizers.length === 0 ? metadata : { ...metadata, finalizers: [...finalizers] } };
  return { do: 'update', object: changed, from: object };
}
