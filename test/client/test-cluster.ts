import { allKinds } from '../../src/api/kinds/index.ts';
import { namespaceKind } from '../../src/api/kinds/core/namespace.ts';
import { createInProcessTransport } from '../../src/cluster/access/in-process-transport.ts';
import { type Client, createClient } from '../../src/client/client.ts';
import type { Transport } from '../../src/client/transport.ts';
import { createApi } from '../../src/apiserver/create-api.ts';
import type { Store } from '../../src/store/contract.ts';
import { openMemoryStore } from '../../src/store/memory/memory-store.ts';
import type { World } from '../../src/world/world.ts';

/** The real registry on the real memory store, with namespace `default` in it. */
export interface TestCluster {
  readonly store: Store;
  readonly transport: Transport;
  readonly client: Client;
}

export async function startTestCluster(world: World): Promise<TestCluster> {
  const store = openMemoryStore();
  const api = createApi({ store, kinds: allKinds, world });
  const transport = createInProcessTransport(api, { name: 'test', groups: ['system:masters'] }, 'test');
  const client = createClient({ transport });
  const made = await client.create(namespaceKind, { metadata: { name: 'default' } });
  if (!made.ok) throw made.error;
  return { store, transport, client };
}

/** A namespaced map with one entry: enough to tell its revisions apart. */
export const configMap = (name: string, value: string) => ({ metadata: { namespace: 'default', name }, data: { value } });
