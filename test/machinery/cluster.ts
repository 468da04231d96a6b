import type { ConfigMap, Event, Lease, Namespace } from '../../src/api/generated/types.ts';
import type { Kind } from '../../src/api/kind.ts';
import type { KubeObject } from '../../src/api/object.ts';
import { createInProcessTransport } from '../../src/main/in-process-transport.ts';
import { type Client, createClient } from '../../src/machinery/client.ts';
import type { Transport } from '../../src/machinery/transport.ts';
import { createApi } from '../../src/server/create-api.ts';
import type { Store } from '../../src/store/contract.ts';
import { openMemoryStore } from '../../src/store/memory/memory-store.ts';
import type { World } from '../../src/world/world.ts';

/** A kind without any rules of its own: these tests are about machinery. */
function plainKind<T extends KubeObject>(names: Pick<Kind, 'group' | 'version' | 'kind' | 'plural' | 'namespaced'>, more: Partial<Kind<T>> = {}): Kind<T> {
  return {
    ...names,
    singular: names.kind.toLowerCase(),
    shortNames: [],
    categories: [],
    type: names.kind,
    storage: { resource: names.plural },
    verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
    validateName: () => [],
    hasGeneration: false,
    unconditionalUpdate: true,
    selectableFields: {},
    columns: [],
    ...more,
  };
}

export const namespaces = plainKind<Namespace>({ group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false });
export const configMaps = plainKind<ConfigMap>({ group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true });
export const events = plainKind<Event>({ group: '', version: 'v1', kind: 'Event', plural: 'events', namespaced: true });
export const leases = plainKind<Lease>({ group: 'coordination.k8s.io', version: 'v1', kind: 'Lease', plural: 'leases', namespaced: true });

/** The real registry on the real memory store, with namespace `default` in it. */
export interface TestCluster {
  readonly store: Store;
  readonly transport: Transport;
  readonly client: Client;
}

export async function startTestCluster(world: World): Promise<TestCluster> {
  const store = openMemoryStore();
  const kinds = [namespaces, configMaps, events, leases] as unknown as readonly Kind[];
  const api = createApi({ store, kinds, world });
  const transport = createInProcessTransport(api, { name: 'test', groups: ['system:masters'] }, 'test');
  const client = createClient({ transport });
  const made = await client.create(namespaces, { metadata: { name: 'default' } });
  if (!made.ok) throw made.error;
  return { store, transport, client };
}

/** A namespaced map with one entry: enough to tell its revisions apart. */
export const configMap = (name: string, value: string) => ({ metadata: { namespace: 'default', name }, data: { value } });
