import type { Kind } from '../../api/kind.ts';
import type { KubeObject } from '../../api/object.ts';
import type { Client, Result } from '../../client/client.ts';
import { type Decision as AnyDecision, type Outcome, outcomeOf } from '../../client/controller/loop.ts';

export type ProtectionAction<T extends KubeObject = KubeObject> =
  /** Asks the server, not the caches, whether anybody uses the object; if so, nothing that follows happens. */
  { readonly type: 'confirm-unused'; readonly object: T } | { readonly type: 'add-finalizer' | 'remove-finalizer'; readonly object: T };

export type ProtectionDecision<T extends KubeObject = KubeObject> = AnyDecision<ProtectionAction<T>>;

export interface ProtectionContext<T extends KubeObject> {
  readonly client: Client;
  readonly kind: Kind<T>;
  /** From the server itself. */
  readonly isUsed: (object: T) => Promise<Result<boolean>>;
}

export async function perform<T extends KubeObject>(action: ProtectionAction<T>, { client, kind, isUsed }: ProtectionContext<T>): Promise<Outcome> {
  if (action.type !== 'confirm-unused') return outcomeOf(await client.update(kind, action.object));
  const used = await isUsed(action.object);
  if (!used.ok) return outcomeOf(used);
  // The caches will show the user soon; until then, ask again now and then.
  return used.value ? { retry: 'somebody uses it whom the caches do not show yet' } : 'done';
}
