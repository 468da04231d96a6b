import { hostname } from 'node:os';
import path from 'node:path';
import { followedKinds } from '../api/kinds/index.ts';
import { type Certificates } from '../apiserver/certificates/certificate-files.ts';
import type { DriverSet } from '../drivers/driver-set.ts';
import type { AuditOptions } from './apiserver/audit-options.ts';
import { advertisedAddress } from './apiserver/advertised-address.ts';
import { type GivenTls, startApiServer } from './apiserver/api-server.ts';
import { servePods } from './apiserver/serve-pods.ts';
import {
  type ApiAccess,
  type ClusterNodes,
  imageDriverFor,
  nodeMetrics,
  type NodeRuntime,
  openImageVolumes,
  chooseRuntime,
  runNodes,
} from './nodes/cluster-nodes.ts';
import { type ControllersOptions, startControllers } from './controllers/controllers.ts';
import type { StoreKind } from './data-directory/data-manifest.ts';
import { type EtcdOptions, openServerData } from './data-directory/open-data.ts';
import { realDirectories } from '../host/directories.ts';
import { ensureDefaultClasses, storageClasses } from './apiserver/default-storage-classes.ts';
import { hollowDrivers } from './nodes/hollow-nodes.ts';
import { connectInProcess, inTurns, systemClient } from './access/identities.ts';
import type { ImageSettings } from './image-content.ts';
import type { SecuritySettings } from './nodes/machine-security.ts';
import { type NodeOptions, nodeSettings, NodeSettingsError } from './nodes/node-settings.ts';
import { createClient } from '../client/client.ts';
import { CsiSockets } from './nodes/csi-endpoints.ts';
import { PluginSockets } from './nodes/plugin-sockets.ts';
import { hostPathVolumes, machineDrivers } from './nodes/machine-drivers.ts';
import { createRealWorld, type LogLevel } from '../host/world.ts';
import { startScheduler } from './scheduler.ts';
import { certificateSigner } from './apiserver/certificate-signer.ts';
import type { ClusterCloudOptions } from './cloud/cluster-cloud.ts';
import { cloudAutoscaler } from './cloud/cloud-autoscaler.ts';
import { openClusterCloud } from './cloud/open-cluster-cloud.ts';
import { CleanupStack } from './cleanup-stack.ts';
import { openClusterDirectory } from './life-cycle/cluster-directory.ts';
import { version } from './version.ts';

export interface ClusterOptions {
  /** Its name among the clusters of this machine. */
  readonly name?: string;
  /** The directory of the store, certificates, volumes and containers. Absent: a temporary one, removed at the end. */
  readonly dataDir?: string;
  /** Remove everything at the end, the data directory included. Default: if there is no `dataDir`. */
  readonly ephemeral?: boolean;
  /** The file to which the process logs, for `moor logs`. */
  readonly logFile?: string | undefined;
  /** Absent: loopback, on a free port. */
  readonly listen?: { readonly host: string; readonly port: number };
  /** Written when the cluster is ready, readable by its owner only. Absent: `kubeconfig` in the data directory. */
  readonly kubeconfig?: string;
  /** Add to an existing kubeconfig. Without it a file with other entries is an error. */
  readonly mergeKubeconfig?: boolean;
  /** A kubeconfig for machines that join as nodes: its only right is to request a node's certificate. Absent: none is written. */
  readonly bootstrapKubeconfig?: string;
  /** Default: memory. */
  readonly store?: StoreKind;
  /** Of the store `etcd`. */
  readonly etcd?: EtcdOptions | undefined;
  /** The control plane alone: no StorageClasses, and no nodes but those of `nodes`. */
  readonly bare?: boolean;
  readonly nodes?: NodeOptions;
  /** A cloud of its own, whose instances are the nodes. */
  readonly cloud?: ClusterCloudOptions | undefined;
  /** Of the nodes on which pods really run. */
  readonly security?: SecuritySettings;
  /** Absent: images that were loaded, and the host's programs. */
  readonly images?: ImageSettings;
  /** The directory of volumes and CSI plugins of the one node on which pods really run: containers see it as /var/lib/kubelet. Absent: in the data directory. */
  readonly rootDir?: string | undefined;
  /** Without any extension to the Kubernetes API. */
  readonly plain?: boolean;
  /** Whether the dashboard is served. Default: if `listen` is a loopback address. */
  readonly dashboard?: boolean | undefined;
  /** The sockets of CSI drivers that have their controllers in this process: 'unix:///run/csi.sock'. */
  readonly csiEndpoints?: readonly string[];
  /** False: no controllers in this process; `moor controllers` may run them elsewhere. */
  readonly controllers?: boolean;
  /** Of the controllers in this process, which groups run besides those of storage, namespaces and garbage. Absent: all. */
  readonly controllerGroups?: ControllersOptions['groups'];
  /** False: no scheduler in this process; `moor scheduler` may run it elsewhere. Default: as `controllers`. */
  readonly scheduler?: boolean;
  /**
   * How pods run on the nodes of this process. hollow: no process runs; sandbox: containers are processes of this machine (Linux, root); where-possible: these
   * if the machine permits, else hollow. Default: hollow.
   */
  readonly runtime?: NodeRuntime | 'where-possible' | undefined;
  /** Told what the start, and the stop, wait for. */
  readonly onProgress?: (text: string) => void;
  /** Default: warn. */
  readonly logLevel?: LogLevel;
  /** Absent: no audit log. */
  readonly audit?: AuditOptions | undefined;
  /** The path of an EncryptionConfiguration. Absent: nothing is encrypted at rest. */
  readonly encryptionConfig?: string | undefined;
  /** The path of an AdmissionConfiguration. Absent: admission plugins have their defaults. */
  readonly admissionConfig?: string | undefined;
  /** Admission plugins that are left out, by kube-apiserver's names. */
  readonly disabledPlugins?: readonly string[];
  /** The serving certificate, and an authority of clients besides the cluster's own. Absent: the cluster's own. */
  readonly tls?: GivenTls;
}

export interface Cluster {
  /** Of its cloud. */
  readonly cloud?: { readonly url: string; readonly region: string } | undefined;
  /** 'https://127.0.0.1:6443' */
  readonly url: string;
  /** The path of the kubeconfig. */
  readonly kubeconfig: string;
  readonly nodes: ClusterNodes;
  /** As of the moment the cluster is ready. */
  readonly storageClasses: readonly { readonly name: string; readonly isDefault: boolean }[];
  /** Resolves if the data directory is removed by other means: nothing that the cluster acknowledges from then on is kept. */
  readonly dataRemoved: Promise<undefined>;
  /** Waits for running requests and actions, then stops everything; the data stays. Idempotent. */
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Starts a cluster in this process.
 * @throws NodeSettingsError, NoSandboxError, StoreError if the data cannot be used, and what listening and writing files throw
 */
export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const cleanup = new CleanupStack();
  try {
    return await start(options, cleanup);
  } catch (error) {
    await cleanup.run();
    throw error;
  }
}

async function start(options: ClusterOptions, cleanup: CleanupStack): Promise<Cluster> {
  const { runtime, why } = await chooseRuntime(options.runtime ?? 'hollow');
  const settings = nodeSettings(runtime === 'sandbox' ? { count: options.bare === true ? 0 : 1, ...options.nodes } : options.nodes, options.bare);
  if (options.rootDir !== undefined && (runtime !== 'sandbox' || settings.count !== 1))
    throw new NodeSettingsError('--root-dir is the directory of one node on which pods really run: it needs --runtime sandbox and --nodes 1');
  const world = createRealWorld({ logLevel: options.logLevel ?? 'warn' });
  const directory = await openClusterDirectory({ ...options, runtime }, { world, cleanup });
  const dataDir = directory.path;
  const cloud = await openClusterCloud(options.cloud, { world, dataDir, cleanup });
  const listen = options.listen ?? { host: '127.0.0.1', port: 0 };
  const plain = options.plain ?? false;
  const { audit, admissionConfig, dashboard, disabledPlugins, tls } = options;
  options.onProgress?.(`Reading the objects in ${options.etcd === undefined ? dataDir : 'etcd'}`);
  const data = await openServerData({ ...options, dataDir }, { world, cleanup });
  options.onProgress?.('Starting the API server');
  const serving = { listen, plain, dashboard, audit, admissionConfig, disabledPlugins, tls, address: advertisedAddress(listen.host), nodeMetrics };
  const apiServer = await startApiServer(serving, data, { world, cleanup });
  const { api, authorizer, auditor, certificates, http: server, podStreams, nodeStats, remoteStreams } = apiServer;
  const { store } = data;
  const images = runtime === 'sandbox' && settings.count > 0 ? await openImageVolumes(dataDir, settings.count) : undefined;
  if (options.bare !== true) {
    const csiDrivers = cloud?.drivers.map(({ capabilities }) => capabilities.name) ?? (runtime === 'hollow' ? (options.nodes?.csiDrivers ?? []) : []);
    await ensureDefaultClasses(systemClient(api, 'apiserver'), store, { images: images !== undefined, csiDrivers });
  }
  const imageDrivers = images === undefined ? [] : [await imageDriverFor(images, settings.count, remoteStreams)];
  // Without nodes they can be asked for: claims are bound, and no pod uses them.
  const hasHollowDrivers = runtime === 'hollow' && (settings.count > 0 || options.nodes?.csiDrivers !== undefined);
  const hollow = cloud?.drivers ?? (hasHollowDrivers ? hollowDrivers(settings) : []);
  const drivers = await machineDrivers(systemClient(api, 'apiserver'), [...hollow, ...imageDrivers]);
  const plugins = new PluginSockets(options.rootDir);
  const csiSockets = new CsiSockets({
    world,
    drivers,
    client: createClient({ transport: connectInProcess(api, authorizer, auditor)('persistent-volume-binder') }),
    plugins,
  });
  cleanup.defer(() => csiSockets.close());
  apiServer.becomeReady();
  const kubeconfig = options.kubeconfig ?? path.join(dataDir, 'kubeconfig');
  const { mergeKubeconfig: merge = false, bootstrapKubeconfig } = options;
  await apiServer.saveKubeconfigs({ server: server.url, admin: kubeconfig, merge, bootstrap: bootstrapKubeconfig, name: options.name });
  // Last, so that clients do not wait until the controllers have filled their caches: they list in pages, between requests.
  // The nodes whose pods really run are this machine.
  const listDirectory = (node: string, directory: string) => (podStreams.has(node) ? realDirectories.list(directory) : undefined);
  // The lock of the data directory proves that no other process leads, unless others have the same store.
  const election = { identity: hostname(), takeOver: options.store !== 'etcd' };
  if (options.controllers ?? true) {
    for (const address of options.csiEndpoints ?? []) csiSockets.open({ address });
    const autoscaler = await cloudAutoscaler(cloud?.cloud, { client: systemClient(api, 'apiserver'), clusterName: options.name ?? 'mooring' });
    const running = { api, world, authorizer, certificates, plain, drivers, csiSockets, auditor, listDirectory, election };
    const groups = options.controllerGroups === undefined ? {} : { groups: options.controllerGroups };
    cleanup.defer(runControllers({ ...running, ...groups, ...autoscaler }));
  }
  if (options.scheduler ?? options.controllers ?? true) cleanup.defer(runScheduler({ api, world, authorizer, plain, auditor, election }));
  const capacity = options.nodes?.capacity ?? {};
  options.onProgress?.(`Waiting until ${settings.count === 1 ? 'the node is' : `${cloud === undefined ? settings.count : 'the'} nodes are`} ready`);
  const nodes = await runNodes(
    {
      runtime,
      why,
      settings,
      cloud,
      capacity,
      dataDir,
      podStreams,
      nodeStats,
      images,
      security: options.security,
      imageSettings: options.images,
      rootDir: options.rootDir,
      plugins,
      onBridges: (gateways) => servePods(systemClient(api, 'apiserver'), { server, listen, gateways, publish: (address) => apiServer.publishAddress(address) }),
    },
    { api, world, authorizer, auditor },
    cleanup,
  );
  directory.record({ url: server.url, kubeconfig, hostPathVolumes: await hostPathVolumes(systemClient(api, 'apiserver')) });
  world.log.info('ready', { url: server.url, version, store: options.store ?? 'memory', revision: store.revision() });
  const stop = () => cleanup.run();
  const found = { nodes, cloud: cloud?.served, storageClasses: await storageClasses(systemClient(api, 'apiserver')) };
  return { url: server.url, kubeconfig, ...found, dataRemoved: directory.removed, stop, [Symbol.asyncDispose]: stop };
}

/** The controllers in the API server's process. */
function runControllers({ api, world, authorizer, auditor, certificates, plain, ...others }: Running): () => Promise<void> {
  const controllers = startControllers({
    ...others,
    connect: inTurns(world, connectInProcess(api, authorizer, auditor)),
    world,
    kinds: followedKinds,
    customKinds: () => api.customKinds(),
    housekeeping: { rootCa: certificates.authority.certificate, sign: certificateSigner(certificates.authority, world.clock) },
    bindsTogether: !plain,
    pageSize,
  });
  return () => controllers.stop();
}

/** The scheduler in the API server's process. */
function runScheduler({ api, world, authorizer, auditor, plain, election }: ApiAccess & Pick<Running, 'plain' | 'election'>): () => Promise<void> {
  const scheduler = startScheduler({ connect: inTurns(world, connectInProcess(api, authorizer, auditor)), world, bindsTogether: !plain, pageSize, election });
  return () => scheduler.stop();
}

interface Running extends ApiAccess, Pick<ControllersOptions, 'autoscaler' | 'groups'> {
  readonly certificates: Certificates;
  readonly plain: boolean;
  readonly drivers: DriverSet;
  readonly csiSockets: CsiSockets;
  readonly listDirectory: ControllersOptions['listDirectory'];
  readonly election: ControllersOptions['election'];
}

/** Objects per page of a list: about ten milliseconds of work. */
const pageSize = 500;
