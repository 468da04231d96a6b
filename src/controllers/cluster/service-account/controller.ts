import type { Namespace } from '../../../api/generated/types.ts';
import type { Kind } from '../../../api/kind.ts';
import type { KubeObject } from '../../../api/object.ts';
import type { Change } from '../../../client/informers/cache.ts';
import type { Client } from '../../../client/client.ts';
import type { Informers } from '../../../client/informers/informers.ts';
import { type Controller, source } from '../../../client/controller/loop.ts';
import { type ServiceAccountAction, type ServiceAccountKinds, perform } from './actions.ts';
import { ACCOUNT_NAME, decideNamespaceDefaults, MAP_NAME, type ServiceAccountSnapshot } from './decide.ts';

export interface ServiceAccountControllerOptions {
  readonly client: Client;
  readonly informers: Informers;
  readonly kinds: ServiceAccountKinds & { readonly namespace: Kind<Namespace> };
  /** PEM. */
  readonly rootCa: string;
}

/** Creates the ServiceAccount `default` and the ConfigMap `kube-root-ca.crt` in every namespace. Keys are names of namespaces. */
export function serviceAccountController({
  client,
  informers,
  kinds,
  rootCa,
}: ServiceAccountControllerOptions): Controller<string, ServiceAccountSnapshot, ServiceAccountAction> {
  const namespaces = informers.cache(kinds.namespace);
  const accounts = informers.cache(kinds.serviceAccount);
  const maps = informers.cache(kinds.configMap);
  return {
    name: 'service-account',
    sources: [
      source(kinds.namespace, ({ after }) => (after?.metadata.name === undefined ? [] : [after.metadata.name])),
      source(kinds.serviceAccount, (change) => namespaceIf(change, ACCOUNT_NAME)),
      source(kinds.configMap, (change) => namespaceIf(change, MAP_NAME)),
    ],
    snapshot(name) {
      const namespace = namespaces.getKey(name);
      if (namespace === undefined) return undefined;
      return { namespace, account: accounts.get({ namespace: name, name: ACCOUNT_NAME }), map: maps.get({ namespace: name, name: MAP_NAME }), rootCa };
    },
    decide: decideNamespaceDefaults,
    perform: (action) => perform(action, client, kinds),
    parallelism: 10,
  };
}

function namespaceIf({ before, after }: Change<KubeObject>, name: string): readonly string[] {
  const metadata = (after ?? before)?.metadata;
  return metadata?.name === name && metadata.namespace !== undefined ? [metadata.namespace] : [];
}
