import { filesInMemory, openSharedKeys, readSharedKeys, sharedKeysKey } from '../../apiserver/certificates/shared-keys.ts';
import type { Metrics } from '../../apiserver/metrics/metrics.ts';
import { allKinds } from '../../api/kinds/index.ts';
import type { ClientTls } from '../../grpc/http2-connection.ts';
import type { Store } from '../../store/contract.ts';
import type { EtcdStore } from '../../store/etcd/etcd-store.ts';
import type { ClusterIds } from '../../store/etcd/format.ts';
import type { SecretFiles } from '../../world/secret-files.ts';
import type { World } from '../../world/world.ts';
import { encryptedMarker } from '../apiserver/encrypted-marker.ts';
import type { CleanupStack } from '../cleanup-stack.ts';
import { keysElsewhere, openDataDirectory, storeDirectory } from './data-directory.ts';
import type { StoreKind } from './data-manifest.ts';

/** Where etcd is. */
export interface EtcdOptions {
  /** 'https://10.0.0.1:2379' */
  readonly servers: readonly string[];
  /** All keys of the cluster begin with it: '/mooring'. */
  readonly prefix: string;
  readonly tls: ClientTls;
}

interface OpenedData {
  readonly store: Store;
  /** The keys and certificates. */
  readonly files: SecretFiles;
  /** All keys exist. */
  readonly complete: () => Promise<void>;
  readonly writeProblem: () => string | undefined;
  /** Of this kind of store; absent: it has no others than `countStore`. */
  readonly addMetrics?: (metrics: Metrics) => void;
}

/** @throws StoreError, DataDamage, NewerData */
async function openData(
  { dataDir, kind, etcd, world }: { readonly dataDir: string; readonly kind: StoreKind; readonly etcd: EtcdOptions | undefined; readonly world: World },
  cleanup: CleanupStack,
): Promise<OpenedData> {
  const data = await openDataDirectory({ dataDir, store: kind, world });
  if (kind === 'memory') {
    const store = (await import('../../store/memory/memory-store.ts')).openMemoryStore();
    cleanup.defer(() => store.close());
    return { store, writeProblem: () => undefined, ...(await data.keyFiles(undefined)) };
  }
  if (kind === 'etcd') {
    if (etcd === undefined) throw new TypeError('the store etcd needs the addresses of its servers');
    const store = await openEtcd(etcd, data, world);
    cleanup.defer(() => store.close());
    // Of an earlier version the keys are still in the data directory of the server that created them.
    const hasKeys = (await store.get(sharedKeysKey)) !== undefined;
    const opened = { clusterId: store.clusterId, hasData: () => store.stats().keys > 0 && !hasKeys };
    return { store, ...(await healthOfEtcd(store)), ...(await data.keyFiles(opened)) };
  }
  const { openEmbeddedStore } = await import('../../store/embedded/embedded-store.ts');
  const { realDisk } = await import('../../host/disk.ts');
  const store = await openEmbeddedStore({ ...data, directory: storeDirectory(dataDir), disk: realDisk, world });
  cleanup.defer(() => store.close());
  return { store, writeProblem: () => store.writeProblem(), ...(await data.keyFiles({ clusterId: store.clusterId, hasData: () => store.revision() > 1 })) };
}

async function openEtcd({ servers, prefix, tls }: EtcdOptions, ids: ClusterIds, world: World): Promise<EtcdStore> {
  const { etcdEndpoints } = await import('../../store/etcd/endpoints.ts');
  const { openEtcdStore } = await import('../../store/etcd/etcd-store.ts');
  return openEtcdStore({ ...ids, endpoints: etcdEndpoints(servers, { tls, timers: world.timers }), prefix, world });
}

async function healthOfEtcd(store: EtcdStore): Promise<Pick<OpenedData, 'writeProblem' | 'addMetrics'>> {
  const { countEtcd } = await import('../apiserver/etcd-metrics.ts');
  return { writeProblem: () => store.writeProblem(), addMetrics: (metrics) => countEtcd(metrics, store) };
}

/** Loaded only if values are, or were, encrypted. */
export async function withEncryption(store: Store, configFile: string | undefined, { log }: World): Promise<Store> {
  if (configFile === undefined && (await store.get(encryptedMarker)) === undefined) return store;
  const { encryptedStore } = await import('../apiserver/encryption.ts');
  return encryptedStore(store, { configFile, kinds: allKinds, log });
}

export interface ServerDataOptions {
  /** Undefined: a server that keeps nothing on its machine, with the store etcd. */
  readonly dataDir: string | undefined;
  readonly store?: StoreKind;
  readonly etcd?: EtcdOptions | undefined;
  readonly encryptionConfig?: string | undefined;
}

/** What an API server is started with. @throws StoreError, DataDamage, NewerData, ConfigFileError */
export async function openServerData(options: ServerDataOptions, { world, cleanup }: { readonly world: World; readonly cleanup: CleanupStack }) {
  const { dataDir, store: kind = 'memory', etcd } = options;
  const opened = dataDir === undefined ? await openShared(etcd, world, cleanup) : await openData({ dataDir, kind, etcd, world }, cleanup);
  const store = await withEncryption(opened.store, options.encryptionConfig, world);
  const isShared = kind === 'etcd';
  return { ...opened, store, isShared, files: isShared ? await openSharedKeys(store, opened.files, world.clock.now()) : opened.files };
}

/** Without a data directory: the cluster is the one that etcd has, or a new one. */
async function openShared(etcd: EtcdOptions | undefined, world: World, cleanup: CleanupStack): Promise<OpenedData> {
  if (etcd === undefined) throw new TypeError('a server without a data directory needs the store etcd');
  const store = await openEtcd(etcd, { newClusterId: world.random.uuid() }, world);
  cleanup.defer(() => store.close());
  if (store.stats().keys > 0 && (await store.get(sharedKeysKey)) === undefined) throw keysElsewhere('this server', store.clusterId);
  return { store, files: filesInMemory(), complete: () => Promise.resolve(), ...(await healthOfEtcd(store)) };
}

/** The keys that all servers of a cluster in etcd have, for a process beside them; undefined: there are none yet. @throws StoreError, ConfigFileError */
export async function keysInEtcd(etcd: EtcdOptions, encryptionConfig: string | undefined, world: World): Promise<SecretFiles | undefined> {
  const opened = await openEtcd(etcd, { newClusterId: world.random.uuid() }, world);
  try {
    return await readSharedKeys(await withEncryption(opened, encryptionConfig, world));
  } finally {
    await opened.close();
  }
}
