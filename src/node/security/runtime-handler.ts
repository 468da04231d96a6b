import type { Pod } from '../../api/generated/types.ts';
import { runtimeClassKind } from '../../api/kinds/node/runtime-class.ts';
import type { Client } from '../../client/client.ts';

/**
 * Why the pod gets no sandbox by its RuntimeClass; undefined: it does. The runtime has no handlers, only its own way to run pods: a pod whose class names a
 * handler would run with less isolation than it asks for.
 */
export async function runtimeHandlerProblem({ spec }: Pod, client: Pick<Client, 'get'>): Promise<string | undefined> {
  const name = spec.runtimeClassName ?? '';
  if (name === '') return undefined;
  const found = await client.get(runtimeClassKind, { name });
  if (!found.ok) return `failed to get runtime handler: ${found.error.message}`;
  return `failed to get sandbox runtime: no runtime for ${JSON.stringify(found.value.handler)} is configured`;
}
