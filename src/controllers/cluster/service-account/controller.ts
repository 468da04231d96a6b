import type { ConfigMap, Namespace, ServiceAccount } from '../../../api/generated/types.ts';
import { type Kind, untypedKind } from '../../../api/kind.ts';
import type { KubeObject } from '../../../api/object.ts';
import type { Change } from '../../../client/informers/cache.ts';
import type { Client, Result } from '../../../client/client.ts';
import type { Informers } from '../../../client/informers/informers.ts';
import { defineController } from '../../../client/controller/define-controller.ts';
import { type Controller, type Outcome, outcomeOf, source } from '../../../client/controller/loop.ts';
import { ObjectWriter } from '../../../client/controller/object-writer.ts';
import type { ServiceAccountAction } from './actions.ts';
import { ACCOUNT_NAME, decideNamespaceDefaults, MAP_NAME, type ServiceAccountSnapshot } from './decide.ts';

export interface ServiceAccountControllerOptions {
  readonly client: Client;
  readonly informers: Informers;
  readonly kinds: { readonly namespace: Kind<Namespace>; readonly serviceAccount: Kind<ServiceAccount>; readonly configMap: Kind<ConfigMap> };
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
  return defineController({
    name: 'service-account',
    sources: [
      source(kinds.namespace, ({ after }) => (after === undefined ? [] : [after.metadata.name])),
      source(kinds.serviceAccount, (change) => namespaceIf(change, ACCOUNT_NAME)),
      source(kinds.configMap, (change) => namespaceIf(change, MAP_NAME)),
    ],
    snapshot(name) {
      const namespace = namespaces.getKey(name);
      if (namespace === undefined) return undefined;
      return { namespace, account: accounts.get({ namespace: name, name: ACCOUNT_NAME }), map: maps.get({ namespace: name, name: MAP_NAME }), rootCa };
    },
    decide: decideNamespaceDefaults,
    writer: new ObjectWriter(client, [untypedKind(kinds.configMap)]),
    actions: {
      createAccount: async ({ account }) => created(await client.create(kinds.serviceAccount, account)),
      createMap: async ({ map }) => created(await client.create(kinds.configMap, map)),
    },
    parallelism: 10,
  });
}

/** Another client created it, or the namespace is terminating: the caches will show both. */
function created(result: Result<unknown>): Outcome {
  const notNeeded = !result.ok && (result.reason === 'alreadyExists' || result.reason === 'terminating' || result.reason === 'notFound');
  return notNeeded ? 'done' : outcomeOf(result);
}

function namespaceIf({ before, after }: Change<KubeObject>, name: string): readonly string[] {
  const metadata = (after ?? before)?.metadata;
  return metadata?.name === name && metadata.namespace !== undefined ? [metadata.namespace] : [];
}
