import { createRealWorld, type LogLevel } from '../host/world.ts';
import { CleanupStack } from './cleanup-stack.ts';
import { advertisedAddress } from './apiserver/advertised-address.ts';
import { type ApiServerOptions, startApiServer } from './apiserver/api-server.ts';
import { type EtcdOptions, openServerData } from './data-directory/open-data.ts';
import { version } from './version.ts';

export interface ServerOptions extends Pick<ApiServerOptions, 'listen' | 'hosts' | 'plain' | 'dashboard' | 'audit' | 'admissionConfig'> {
  readonly etcd: EtcdOptions;
  /** Where pods and other machines reach this server; undefined: the address it listens on, or one of the machine's. */
  readonly advertiseAddress: string | undefined;
  /** Written when the server is ready, readable by its owner only; undefined: none. */
  readonly kubeconfig: string | undefined;
  readonly mergeKubeconfig: boolean;
  readonly bootstrapKubeconfig: string | undefined;
  /** The server in these files; undefined: this one. */
  readonly kubeconfigServer: string | undefined;
  readonly encryptionConfig: string | undefined;
  /** How long requests are accepted after /readyz says that the server stops: load balancers send new ones elsewhere meanwhile. */
  readonly shutdownDelayMs: number;
  readonly logLevel: LogLevel;
  readonly onProgress: (text: string) => void;
}

export interface RunningServer {
  /** 'https://10.0.0.1:6443' */
  readonly url: string;
  /** Waits for running requests, ends watches, and tells the other servers. Idempotent. */
  stop(): Promise<void>;
}

/**
 * An API server alone: its objects, keys and certificate authority are in etcd, and nothing is kept on its machine. Several may run at once.
 * @throws StoreError if etcd cannot be used, and what listening and writing files throw
 */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const cleanup = new CleanupStack();
  try {
    return await start(options, cleanup);
  } catch (error) {
    await cleanup.run();
    throw error;
  }
}

async function start(options: ServerOptions, cleanup: CleanupStack): Promise<RunningServer> {
  const { listen, etcd, encryptionConfig, onProgress, kubeconfig, bootstrapKubeconfig } = options;
  const world = createRealWorld({ logLevel: options.logLevel });
  onProgress('Reading the objects in etcd');
  const data = await openServerData({ dataDir: undefined, store: 'etcd', etcd, encryptionConfig }, { world, cleanup });
  onProgress('Starting the API server');
  const address = options.advertiseAddress ?? advertisedAddress(listen.host);
  const hosts = [...(options.hosts ?? []), ...(address === undefined ? [] : [address])];
  const apiServer = await startApiServer({ ...options, hosts, address }, data, { world, cleanup });
  const { url } = apiServer.http;
  const server = options.kubeconfigServer ?? url;
  await apiServer.saveKubeconfigs({ server, admin: kubeconfig, merge: options.mergeKubeconfig, bootstrap: bootstrapKubeconfig });
  cleanup.defer(() => new Promise<void>((resolve) => void world.timers.after(options.shutdownDelayMs, resolve)));
  apiServer.becomeReady();
  world.log.info('ready', { url, version, store: 'etcd', revision: data.store.revision() });
  return { url, stop: () => cleanup.run() };
}
