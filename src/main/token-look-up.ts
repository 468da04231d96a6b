import { nodeKind } from '../api/kinds/node.ts';
import { secretKind } from '../api/kinds/secret.ts';
import { serviceAccountKind } from '../api/kinds/service-account.ts';
import { podKind } from '../api/kinds/workloads/pod.ts';
import type { Kind } from '../api/kind.ts';
import type { Client } from '../machinery/client.ts';
import type { LookUp } from '../server/auth/token-issuer.ts';

const kinds = { ServiceAccount: serviceAccountKind, Pod: podKind, Secret: secretKind, Node: nodeKind };

/** What a token refers to, as the API has it. */
export function lookUpThrough(client: Client): LookUp {
  return async ({ kind, namespace, name }) => {
    const found = await client.get(kinds[kind] as unknown as Kind, { namespace, name });
    if (!found.ok) return undefined;
    const { uid = '', deletionTimestamp } = found.value.metadata;
    return deletionTimestamp === undefined ? { uid } : { uid, deletionTimestamp };
  };
}
