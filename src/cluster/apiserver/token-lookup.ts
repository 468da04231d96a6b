import { nodeKind } from '../../api/kinds/core/node.ts';
import { secretKind } from '../../api/kinds/core/secret.ts';
import { serviceAccountKind } from '../../api/kinds/core/service-account.ts';
import { podKind } from '../../api/kinds/pod/pod.ts';
import type { Kind } from '../../api/kind.ts';
import type { Client } from '../../client/client.ts';
import type { TokenReferenceLookup } from '../../apiserver/authentication/token-issuer.ts';

const kinds = { ServiceAccount: serviceAccountKind, Pod: podKind, Secret: secretKind, Node: nodeKind };

/** Looks up the objects that a ServiceAccount token names, through the API. */
export function tokenSubjectLookup(client: Client): TokenReferenceLookup {
  return async ({ kind, namespace, name }) => {
    const found = await client.get(kinds[kind] as unknown as Kind, { namespace, name });
    if (!found.ok) return undefined;
    const { uid, deletionTimestamp } = found.value.metadata;
    return deletionTimestamp === undefined ? { uid } : { uid, deletionTimestamp };
  };
}
