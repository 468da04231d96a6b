import { hostname } from 'node:os';
import path from 'node:path';
import { followedKinds, kubernetesKinds, servedKinds } from '../api/kinds/index.ts';
import { createPaths } from '../apiserver/discovery/paths.ts';
import { createAuthenticator } from '../apiserver/authentication/authenticator.ts';
import { type Certificates, ensureCertificates } from '../apiserver/certificates/certificate-files.ts';
import { populateGraph } from '../apiserver/authorization/node/graph-populator.ts';
import { followRbac } from '../apiserver/authorization/rbac/follow.ts';
import { createTokenIssuer, type TokenIssuer } from '../apiserver/authentication/token-issuer.ts';
import { createApi, type RunningApi } from '../apiserver/create-api.ts';
import type { Aggregator } from '../apiserver/aggregator/aggregator.ts';
import { Metrics } from '../apiserver/metrics/metrics.ts';
import type { DriverSet } from '../drivers/driver-set.ts';
import type { NodeStats } from '../node/kubelet-api/node-stats.ts';
import { type HttpServer, startHttpServer } from '../apiserver/http/server.ts';
import type { PodStreams } from '../streams/contract.ts';
import { lazyRemoteStreams } from '../apiserver/streams/remote/lazy-remote-streams.ts';
import type { Store } from '../store/contract.ts';
import type { AuditOptions } from './apiserver/audit-options.ts';
import { advertisedAddress } from './apiserver/advertised-address.ts';
import { countStore } from './apiserver/store-metrics.ts';
import { publishApiServices, startAggregation } from './apiserver/aggregation.ts';
import { bootstrap } from './apiserver/bootstrap.ts';
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
import { loadAdmissionConfiguration } from './apiserver/admission-configuration.ts';
import { controllerRoles, controllerAuthorizer } from './access/controller-roles.ts';
import { type ControllersOptions, startControllers } from './controllers/controllers.ts';
import type { StoreKind } from './data-directory/data-manifest.ts';
import { type EtcdOptions, openData, withEncryption } from './data-directory/open-data.ts';
import { realDirectories } from '../host/directories.ts';
import { ensureDefaultClasses, storageClasses } from './apiserver/default-storage-classes.ts';
import { ensureDefaultPolicy } from './apiserver/default-policy.ts';
import { hollowDrivers } from './nodes/hollow-nodes.ts';
import { connectInProcess, systemClient } from './access/identities.ts';
import { saveBootstrapKubeconfig, saveKubeconfig } from './apiserver/kubeconfig-file.ts';
import type { ImageSettings } from './image-content.ts';
import type { SecuritySettings } from './nodes/machine-security.ts';
import { type NodeOptions, nodeSettings, NodeSettingsError } from './nodes/node-settings.ts';
import { openApiDocuments } from './apiserver/openapi.ts';
import { createClient } from '../client/client.ts';
import { CsiSockets } from './nodes/csi-endpoints.ts';
import { PluginSockets } from './nodes/plugin-sockets.ts';
import { hostPathVolumes, machineDrivers } from './nodes/machine-drivers.ts';
import { createRealWorld, type LogLevel } from '../host/world.ts';
import { startScheduler } from './scheduler.ts';
import { certificateSigner } from './apiserver/certificate-signer.ts';
import { tokenSubjectLookup } from './apiserver/token-lookup.ts';
import type { ClusterCloudOptions } from './cloud/cluster-cloud.ts';
import { openClusterCloud } from './cloud/open-cluster-cloud.ts';
import { openAuditLog } from './apiserver/open-audit-log.ts';
import { CleanupStack } from './cleanup-stack.ts';
import { daily } from './daily.ts';
import { openClusterDirectory } from './life-cycle/cluster-directory.ts';
import { version } from './version.ts';
import { httpsWebhookCaller } from './apiserver/webhook-caller.ts';
import { explanations } from './apiserver/explanations.ts';

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
  /** The sockets of CSI drivers that have their controllers in this process: 'unix:///run/csi.sock'. */
  readonly csiEndpoints?: readonly string[];
  /** False: no controllers in this process; `moor controllers` may run them elsewhere. */
  readonly controllers?: boolean;
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
  const metrics = new Metrics();
  const auditor = await openAuditLog(options.audit, { world, metrics, cleanup });
  const admission = await loadAdmissionConfiguration(options.admissionConfig, world.log);
  options.onProgress?.(`Reading the objects in ${options.etcd === undefined ? dataDir : 'etcd'}`);
  const { store: rawStore, files, complete, writeProblem } = await openData({ dataDir, kind: options.store ?? 'memory', etcd: options.etcd, world }, cleanup);
  const store = await withEncryption(rawStore, options.encryptionConfig, world);
  const certify = () => ensureCertificates({ files, hosts: [listen.host, hostname()], now: world.clock.now() });
  const certificates = await certify();
  const tokens = await createTokenIssuer({ ...world, files, issuer: 'https://kubernetes.default.svc.cluster.local', lookUp: (ref) => lookUp(ref) });
  await complete();
  options.onProgress?.('Starting the API server');
  const plain = options.plain ?? false;
  const roles = await followRbac(store, world);
  cleanup.defer(async () => roles.stop());
  const relations = populateGraph(store, world);
  cleanup.defer(async () => relations.stop());
  const authorizer = controllerAuthorizer(roles.authorizer, controllerRoles, relations);
  const api: RunningApi = createApi({
    store,
    kinds: servedKinds,
    world,
    tokens,
    access: { authorizer, rbac: roles.authorizer },
    extensions: plain ? undefined : { authorizer, readOnly: [explanations({ api: () => api, authorizer, world })] },
    webhooks: httpsWebhookCaller(),
    podSecurity: admission?.podSecurity,
    metrics,
  });
  cleanup.defer(() => api.stop());
  const aggregator = await startAggregation({ store, world, api, certificates }, cleanup);
  const lookUp = tokenSubjectLookup(systemClient(api, 'apiserver'));

  const readiness = new Readiness(writeProblem);
  const podStreams = new Map<string, PodStreams>();
  const nodeStats = new Map<string, NodeStats>();
  const elsewhere = lazyRemoteStreams({ api, authority: certificates.authority, world });
  const server = await listenOn(listen, {
    api,
    store,
    world,
    tokens,
    authorizer,
    certificates,
    readiness,
    plain,
    metrics,
    auditor,
    nodeStats,
    aggregator,
    podStreams: (node) => podStreams.get(node) ?? elsewhere(node),
  });
  cleanup.defer(() => server.stop());
  await bootstrap(systemClient(api, 'apiserver'), server.port, advertisedAddress(listen.host));
  await ensureDefaultPolicy(systemClient(api, 'apiserver'));
  await publishApiServices({ store, world, client: systemClient(api, 'apiserver'), certificates, plain }, cleanup);
  const images = runtime === 'sandbox' && settings.count > 0 ? await openImageVolumes(dataDir, settings.count) : undefined;
  if (options.bare !== true) {
    const csiDrivers = cloud?.drivers.map(({ capabilities }) => capabilities.name) ?? (runtime === 'hollow' ? (options.nodes?.csiDrivers ?? []) : []);
    await ensureDefaultClasses(systemClient(api, 'apiserver'), store, { images: images !== undefined, csiDrivers });
  }
  const imageDrivers = images === undefined ? [] : [await imageDriverFor(images, settings.count, elsewhere)];
  const hollow = cloud?.drivers ?? (runtime === 'hollow' ? hollowDrivers(settings) : []);
  const drivers = await machineDrivers(systemClient(api, 'apiserver'), [...hollow, ...imageDrivers]);
  const plugins = new PluginSockets(options.rootDir);
  const csiSockets = new CsiSockets({
    world,
    drivers,
    client: createClient({ transport: connectInProcess(api, authorizer, auditor)('persistent-volume-binder') }),
    plugins,
  });
  cleanup.defer(() => csiSockets.close());
  readiness.state = 'ready';
  cleanup.defer(async () => {
    readiness.state = 'stopping';
  });
  const kubeconfig = options.kubeconfig ?? path.join(dataDir, 'kubeconfig');
  const save = (fresh: Certificates) => saveKubeconfig(kubeconfig, { server: server.url, certificates: fresh, merge: options.mergeKubeconfig ?? false });
  await save(certificates);
  const saveBootstrap = (fresh: Certificates) => saveBootstrapKubeconfig(options.bootstrapKubeconfig, { server: server.url, certificates: fresh });
  await saveBootstrap(certificates);
  cleanup.defer(
    daily(world, async () => {
      const fresh = await certify();
      if (fresh.serving.certificate !== certificates.serving.certificate) server.replaceCertificate(servingTls(fresh));
      if (fresh.admin.certificate !== certificates.admin.certificate) await save(fresh);
      await saveBootstrap(fresh);
    }),
  );
  // Last, so that clients do not wait until the controllers have filled their caches: they list in pages, between requests.
  // The nodes whose pods really run are this machine.
  const listDirectory = (node: string, directory: string) => (podStreams.has(node) ? realDirectories.list(directory) : undefined);
  // The lock of the data directory proves that no other process leads, unless others have the same store.
  const election = { identity: hostname(), takeOver: options.store !== 'etcd' };
  if (options.controllers ?? true) {
    for (const address of options.csiEndpoints ?? []) csiSockets.open({ address });
    cleanup.defer(runControllers({ api, world, authorizer, certificates, plain, drivers, csiSockets, auditor, listDirectory, election }));
  }
  if (options.scheduler ?? options.controllers ?? true) cleanup.defer(runScheduler({ api, world, authorizer, plain, auditor, election }));
  const capacity = options.nodes?.capacity ?? {};
  options.onProgress?.(`Waiting until ${settings.count === 1 ? 'the node is' : `${settings.count} nodes are`} ready`);
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
      onBridges: (gateways) => servePods(systemClient(api, 'apiserver'), { server, listen, gateways }),
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
function runControllers({ api, world, authorizer, auditor, certificates, plain, drivers, csiSockets, listDirectory, election }: Running): () => Promise<void> {
  const controllers = startControllers({
    connect: connectInProcess(api, authorizer, auditor),
    world,
    kinds: followedKinds,
    customKinds: () => api.customKinds(),
    housekeeping: { rootCa: certificates.authority.certificate, sign: certificateSigner(certificates.authority, world.clock) },
    drivers,
    csiSockets,
    bindsTogether: !plain,
    pageSize,
    listDirectory,
    election,
  });
  return () => controllers.stop();
}

/** The scheduler in the API server's process. */
function runScheduler({ api, world, authorizer, auditor, plain, election }: ApiAccess & Pick<Running, 'plain' | 'election'>): () => Promise<void> {
  const scheduler = startScheduler({ connect: connectInProcess(api, authorizer, auditor), world, bindsTogether: !plain, pageSize, election });
  return () => scheduler.stop();
}

interface Running extends ApiAccess, Pick<Serving, 'certificates' | 'plain'> {
  readonly drivers: DriverSet;
  readonly csiSockets: CsiSockets;
  readonly listDirectory: ControllersOptions['listDirectory'];
  readonly election: ControllersOptions['election'];
}

/** Objects per page of a list: about ten milliseconds of work. */
const pageSize = 500;

interface Serving extends ApiAccess {
  readonly store: Store;
  readonly tokens: TokenIssuer;
  readonly certificates: Certificates;
  readonly readiness: Readiness;
  readonly plain: boolean;
  readonly metrics: Metrics;
  readonly aggregator: Aggregator;
  readonly podStreams: (node: string) => PodStreams;
  readonly nodeStats: ReadonlyMap<string, NodeStats>;
}

/** The answer of /readyz. A server that stops still answers for a moment, but should get no new requests. */
class Readiness {
  state: 'starting' | 'ready' | 'stopping' = 'starting';
  /** Why the store may refuse writes. */
  readonly writeProblem: () => string | undefined;

  constructor(writeProblem: () => string | undefined) {
    this.writeProblem = writeProblem;
  }
}

const servingTls = ({ authority, serving }: Certificates) => ({ ...serving, clientAuthority: authority.certificate });

async function listenOn(listen: { host: string; port: number }, serving: Serving): Promise<HttpServer> {
  const { api, store, world, tokens, authorizer, certificates, readiness, plain, metrics, auditor, podStreams, nodeStats, aggregator } = serving;
  // With --plain the mooring.dev kinds exist for the controllers, but are hidden from clients.
  const kinds = plain ? kubernetesKinds : servedKinds;
  countStore(metrics, store);
  // Assigned once the server listens, before the first request.
  let address = '';
  const customKinds = () => api.customKinds();
  const server = await startHttpServer({
    api,
    kinds,
    customKinds,
    world,
    listen,
    metrics,
    extensions: !plain,
    auditor,
    podStreams,
    admitConnect: api.admitConnect,
    aggregator,
    flowConfiguration: () => api.flowConfiguration(),
    authenticator: createAuthenticator([(token) => tokens.verify(token)]),
    authorizer,
    tls: servingTls(certificates),
    paths: createPaths({
      kinds,
      version,
      health: {
        live: [],
        ready: [
          { name: 'startup', check: () => (readiness.state === 'ready' ? undefined : readiness.state) },
          { name: 'store', check: () => readiness.writeProblem() },
        ],
      },
      serverAddress: () => address,
      metrics: async () => `${metrics.text()}${await nodeMetrics(nodeStats)}`,
      customKinds,
      remoteVersions: () => aggregator.discovered(),
      openApi: openApiDocuments(kinds, customKinds, aggregator),
      tokens,
    }),
  });
  address = new URL(server.url).host;
  return server;
}
