/** Questions that a cache cannot answer for sure, because it may be old: asked of the server before something that cannot be undone. */
import type { Kind } from '../../api/kind.ts';
import type { KubeObject } from '../../api/object.ts';
import type { Client, Ref } from '../client.ts';
import { type Outcome, outcomeOf } from './loop.ts';

/** `done`: no object of that uid exists. `conflict`: it does, and the cache will know before long. */
export async function confirmGone<T extends KubeObject>(client: Client, kind: Kind<T>, { uid, ...ref }: Ref & { readonly uid: string }): Promise<Outcome> {
  const found = await client.get(kind, ref);
  if (found.ok) return found.value.metadata.uid === uid ? 'conflict' : 'done';
  return found.reason === 'notFound' ? 'done' : outcomeOf(found);
}

/** `done`: the object is still as it was seen. */
export async function confirmCurrent<T extends KubeObject>(client: Client, kind: Kind<T>, { metadata }: T): Promise<Outcome> {
  const found = await client.get(kind, { namespace: metadata.namespace, name: metadata.name ?? '' });
  if (!found.ok) return outcomeOf(found);
  return found.value.metadata.resourceVersion === metadata.resourceVersion ? 'done' : 'conflict';
}
