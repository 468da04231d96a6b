import { hostname } from 'node:os';
import { loadExpressions } from '../../api/admission/expressions.ts';
import { loadCel } from '../../api/cel/environment.ts';
import { kubernetesKinds, servedKinds } from '../../api/kinds/index.ts';
import type { Aggregator } from '../../apiserver/aggregator/aggregator.ts';
import type { Auditor } from '../../apiserver/audit/auditor.ts';
import { createAuthenticator } from '../../apiserver/authentication/authenticator.ts';
import { createTokenIssuer, type TokenIssuer } from '../../apiserver/authentication/token-issuer.ts';
import type { Authorizer } from '../../apiserver/authorization/authorizer.ts';
import { populateGraph } from '../../apiserver/authorization/node/graph-populator.ts';
import { followRbac } from '../../apiserver/authorization/rbac/follow.ts';
import { type Certificates, ensureCertificates, type KeyPair } from '../../apiserver/certificates/certificate-files.ts';
import { createApi, type RunningApi } from '../../apiserver/create-api.ts';
import { createPaths } from '../../apiserver/discovery/paths.ts';
import type { Pages } from '../../apiserver/http/pages.ts';
import { type HttpServer, startHttpServer } from '../../apiserver/http/server.ts';
import { Metrics } from '../../apiserver/metrics/metrics.ts';
import { lazyRemoteStreams } from '../../apiserver/streams/remote/lazy-remote-streams.ts';
import type { NodeStats } from '../../node/kubelet-api/node-stats.ts';
import type { Store } from '../../store/contract.ts';
import type { PodStreams } from '../../streams/contract.ts';
import type { SecretFiles } from '../../world/secret-files.ts';
import type { World } from '../../world/world.ts';
import { controllerAuthorizer, controllerRoles } from '../access/controller-roles.ts';
import { systemClient } from '../access/identities.ts';
import type { CleanupStack } from '../cleanup-stack.ts';
import { daily } from '../daily.ts';
import { openDashboard } from '../dashboard.ts';
import { version } from '../version.ts';
import { loadAdmissionConfiguration } from './admission-configuration.ts';
import type { AuditOptions } from './audit-options.ts';
import { publishApiServices, startAggregation } from './aggregation.ts';
import { bootstrap, publishApiAddress } from './bootstrap.ts';
import { ensureDefaultPolicy } from './default-policy.ts';
import { clientOfCaller, explanations } from './explanations.ts';
import { saveBootstrapKubeconfig, saveKubeconfig } from './kubeconfig-file.ts';
import { openAuditLog } from './open-audit-log.ts';
import { openApiDocuments } from './openapi.ts';
import { LiveServers } from './live-servers.ts';
import { countStore } from './store-metrics.ts';
import { tokenSubjectLookup } from './token-lookup.ts';
import { httpsWebhookCaller } from './webhook-caller.ts';

export interface ApiServerOptions {
  readonly listen: { readonly host: string; readonly port: number };
  /** Names and addresses in the serving certificate, besides those that it always has. */
  readonly hosts?: readonly string[];
  /** Where pods and other machines reach this server; undefined: nowhere. */
  readonly address: string | undefined;
  /** Without any extension to the Kubernetes API. */
  readonly plain: boolean;
  /** Whether the dashboard is served. Undefined: if the server listens on loopback. */
  readonly dashboard?: boolean | undefined;
  readonly audit: AuditOptions | undefined;
  readonly admissionConfig: string | undefined;
  /** Admission plugins that are left out, by their names. */
  readonly disabledPlugins?: readonly string[] | undefined;
  /** Absent: the cluster's own authority has signed all certificates. */
  readonly tls?: GivenTls | undefined;
  /** Of the nodes in this process; absent: there are none. */
  readonly nodeMetrics?: (nodes: ReadonlyMap<string, NodeStats>) => Promise<string>;
}

/** Certificates of others. */
export interface GivenTls {
  /** PEM: what the server shows to clients. */
  readonly serving: KeyPair;
  /** PEM: a further authority, whose client certificates are accepted. */
  readonly clientAuthority?: string | undefined;
}

export interface ApiServerData {
  readonly store: Store;
  /** Several servers have the store. */
  readonly isShared: boolean;
  /** The keys and certificates. */
  readonly files: SecretFiles;
  /** Called once all keys exist. */
  readonly complete: () => Promise<void>;
  /** Why the store may refuse writes. */
  readonly writeProblem: () => string | undefined;
  /** Of the store; absent: it has no others than `countStore`. */
  readonly addMetrics?: (metrics: Metrics) => void;
}

export interface ApiServer {
  readonly api: RunningApi;
  readonly authorizer: Authorizer;
  readonly auditor: Auditor | undefined;
  readonly certificates: Certificates;
  readonly http: HttpServer;
  /** Of the nodes in this process: filled by them. */
  readonly podStreams: Map<string, PodStreams>;
  readonly nodeStats: Map<string, NodeStats>;
  /** Of nodes elsewhere. */
  readonly remoteStreams: (node: string) => PodStreams;
  /** Pods reach this server under another address now. */
  publishAddress(address: string): Promise<void>;
  /** From now on /readyz says so. */
  becomeReady(): void;
  /** Writes the kubeconfigs, now and whenever the certificates are renewed. */
  saveKubeconfigs(files: KubeconfigFiles): Promise<void>;
}

export interface KubeconfigFiles {
  /** 'https://127.0.0.1:6443' */
  readonly server: string;
  /** Undefined: none. */
  readonly admin: string | undefined;
  readonly merge: boolean;
  readonly bootstrap: string | undefined;
  /** The name of the cluster. */
  readonly name?: string | undefined;
}

interface Deps {
  readonly world: World;
  readonly cleanup: CleanupStack;
}

/** Serves the API of a store over HTTPS, and creates the objects that every cluster has. */
export async function startApiServer(options: ApiServerOptions, data: ApiServerData, { world, cleanup }: Deps): Promise<ApiServer> {
  const { listen, plain } = options;
  const { store, files } = data;
  const metrics = new Metrics();
  data.addMetrics?.(metrics);
  const auditor = await openAuditLog(options.audit, { world, metrics, cleanup });
  const admission = await loadAdmissionConfiguration(options.admissionConfig, world.log);
  const hosts = [listen.host, hostname(), ...(options.hosts ?? [])];
  const certify = () => ensureCertificates({ files, hosts, now: world.clock.now() });
  const certificates = await certify();
  const tokens = await createTokenIssuer({ ...world, files, issuer: 'https://kubernetes.default.svc.cluster.local', lookUp: (ref) => lookUp(ref) });
  await data.complete();
  // Definitions and policies that other servers accept have expressions, and come without a request.
  if (data.isShared) await Promise.all([loadCel(), loadExpressions()]);
  const roles = await followRbac(store, world);
  cleanup.defer(async () => roles.stop());
  const relations = populateGraph(store, world);
  cleanup.defer(async () => relations.stop());
  const authorizer = controllerAuthorizer(roles.authorizer, controllerRoles, relations);
  const servers = data.isShared ? new LiveServers({ store, world }) : undefined;
  const api: RunningApi = createApi({
    store,
    kinds: servedKinds,
    world,
    tokens,
    access: { authorizer, rbac: roles.authorizer },
    extensions: plain ? undefined : { authorizer, readOnly: [explanations({ clientOf: clientOfCaller(() => api, authorizer), world })] },
    webhooks: httpsWebhookCaller(),
    podSecurity: admission?.podSecurity,
    disabledPlugins: options.disabledPlugins,
    metrics,
    ...(servers === undefined ? {} : { expiresEvents: () => servers.isFirst() }),
  });
  cleanup.defer(() => api.stop());
  const aggregator = await startAggregation({ store, world, api, certificates }, cleanup);
  const client = systemClient(api, 'apiserver');
  const lookUp = tokenSubjectLookup(client);
  const readiness = new Readiness(data.writeProblem);
  const podStreams = new Map<string, PodStreams>();
  const nodeStats = new Map<string, NodeStats>();
  const remoteStreams = lazyRemoteStreams({ api, authority: certificates.authority, world });
  const serving = {
    api,
    store,
    world,
    tokens,
    authorizer,
    certificates,
    tls: options.tls,
    readiness,
    plain,
    metrics,
    auditor,
    aggregator,
    nodeMetrics: async () => (await options.nodeMetrics?.(nodeStats)) ?? '',
    pages: openDashboard({ listen, hosts, plain, dashboard: options.dashboard }, { certificates, world }),
  };
  const http = await listenOn(listen, { ...serving, podStreams: (node) => podStreams.get(node) ?? remoteStreams(node) });
  cleanup.defer(() => http.stop());
  await bootstrap(client, http.port, servers === undefined ? options.address : undefined);
  await ensureDefaultPolicy(client);
  await publishApiServices({ store, world, client, certificates, plain }, cleanup);
  if (servers !== undefined) cleanup.defer(await servers.join({ client, address: options.address, port: http.port }));
  return {
    api,
    authorizer,
    auditor,
    certificates,
    http,
    podStreams,
    nodeStats,
    remoteStreams,
    publishAddress: (address) => (servers === undefined ? publishApiAddress(client, address, http.port) : servers.move(address)),
    becomeReady() {
      readiness.state = 'ready';
      cleanup.defer(async () => {
        readiness.state = 'stopping';
      });
    },
    async saveKubeconfigs({ server, admin, merge, bootstrap: bootstrapFile, name }) {
      const save = async (fresh: Certificates) => {
        if (admin !== undefined) await saveKubeconfig(admin, { server, certificates: fresh, merge, name });
      };
      const saveBootstrap = (fresh: Certificates) => saveBootstrapKubeconfig(bootstrapFile, { server, certificates: fresh, name });
      await save(certificates);
      await saveBootstrap(certificates);
      cleanup.defer(
        daily(world, async () => {
          const fresh = await certify();
          if (fresh.serving.certificate !== certificates.serving.certificate) http.replaceCertificate(servingTls(fresh, options.tls));
          if (fresh.admin.certificate !== certificates.admin.certificate) await save(fresh);
          await saveBootstrap(fresh);
        }),
      );
    },
  };
}

interface Serving extends Pick<ApiServer, 'api' | 'authorizer' | 'auditor' | 'certificates'> {
  readonly store: Store;
  readonly world: World;
  readonly tokens: TokenIssuer;
  readonly tls: GivenTls | undefined;
  readonly readiness: Readiness;
  readonly plain: boolean;
  readonly metrics: Metrics;
  readonly aggregator: Aggregator;
  readonly podStreams: (node: string) => PodStreams;
  readonly nodeMetrics: () => Promise<string>;
  readonly pages: Pages | undefined;
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

const servingTls = ({ authority, serving }: Certificates, given: GivenTls | undefined) => ({
  ...(given?.serving ?? serving),
  clientAuthority: [authority.certificate, given?.clientAuthority ?? ''].join('\n'),
});

async function listenOn(listen: { host: string; port: number }, serving: Serving): Promise<HttpServer> {
  const { api, store, world, tokens, authorizer, certificates, readiness, plain, metrics, auditor, podStreams, nodeMetrics, aggregator, pages } = serving;
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
    pages,
    flowConfiguration: () => api.flowConfiguration(),
    authenticator: createAuthenticator([(token) => tokens.verify(token)]),
    authorizer,
    tls: servingTls(certificates, serving.tls),
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
      metrics: async () => `${metrics.text()}${await nodeMetrics()}`,
      customKinds,
      remoteVersions: () => aggregator.discovered(),
      openApi: openApiDocuments(kinds, customKinds, aggregator),
      tokens,
    }),
  });
  address = new URL(server.url).host;
  return server;
}
