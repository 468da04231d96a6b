import { allKinds, kubernetesKinds } from '../../api/kinds/index.ts';
import { Aggregator } from '../../apiserver/aggregator/aggregator.ts';
import type { Api } from '../../apiserver/api.ts';
import type { Certificates } from '../../apiserver/certificates/certificate-files.ts';
import type { Client } from '../../client/client.ts';
import type { Store } from '../../store/contract.ts';
import type { World } from '../../world/world.ts';
import type { CleanupStack } from '../cleanup-stack.ts';
import { publishAuthentication } from './bootstrap.ts';
import { registerLocalApiServices } from './local-api-services.ts';
import { httpsRemoteServers } from './remote-servers.ts';

export interface AggregationContext {
  readonly store: Store;
  readonly world: World;
  readonly api: Api;
  readonly certificates: Certificates;
}

/** APIServices: requests for the groups of other servers are passed on. */
export async function startAggregation({ store, world, api, certificates }: AggregationContext, cleanup: CleanupStack): Promise<Aggregator> {
  const aggregator = new Aggregator({ store, world, kinds: allKinds, api, servers: httpsRemoteServers(certificates.frontProxy.client) });
  cleanup.defer(async () => aggregator.stop());
  await aggregator.start();
  return aggregator;
}

export interface PublishOptions extends Pick<AggregationContext, 'store' | 'world' | 'certificates'> {
  readonly client: Client;
  readonly plain: boolean;
}

/** What other servers need to trust this one, and the APIServices of its own groups, which are written meanwhile. */
export async function publishApiServices({ store, world, client, certificates, plain }: PublishOptions, cleanup: CleanupStack): Promise<void> {
  await publishAuthentication(client, certificates);
  const stop = registerLocalApiServices({ store, world, client, kinds: plain ? kubernetesKinds : allKinds });
  cleanup.defer(async () => stop());
}
