import type { APIService } from '../../api/generated/types.ts';
import { untypedKind } from '../../api/kind.ts';
import { explanationKind } from '../../api/kinds/mooring/explanation.ts';
import { volumeIntentKind } from '../../api/kinds/mooring/volume-intent.ts';
import { isRead, type RequestInfo } from '../../api/request-info.ts';
import { statusErrors } from '../../api/status.ts';
import type { Stored } from '../../api/stored.ts';
import { passOn } from '../../apiserver/aggregator/proxy.ts';
import type { Api, User } from '../../apiserver/api.ts';
import type { AuthorizationDecision } from '../../apiserver/authorization/authorizer.ts';
import { ensureCertificates } from '../../apiserver/certificates/certificate-files.ts';
import { startHttpServer } from '../../apiserver/http/server.ts';
import { Metrics } from '../../apiserver/metrics/metrics.ts';
import { type Client, createClient } from '../../client/client.ts';
import { type HttpAccess, HttpTransport } from '../../client/http-transport.ts';
import { explanations } from '../../cluster/apiserver/explanations.ts';
import { readDashboardFiles } from '../../cluster/dashboard.ts';
import { version } from '../../cluster/version.ts';
import { DashboardEndpoint } from '../../dashboard/server/endpoint.ts';
import { Sessions } from '../../dashboard/server/sessions.ts';
import { firstSignal } from '../../host/first-signal.ts';
import { createRealWorld } from '../../host/world.ts';
import type { SecretFiles } from '../../world/secret-files.ts';
import { type ExitCode, exitCodes } from '../result/exit-codes.ts';
import { clusterServer } from './cluster-server.ts';
import { pageAddress } from './page-address.ts';

export interface LocalDashboardOptions {
  readonly access: HttpAccess & { readonly namespace: string };
  /** 0: a free one. */
  readonly port: number;
  readonly allowWrites: boolean;
  readonly show: (url: string) => void;
}

/**
 * Serves the page on loopback until a signal, for a cluster that does not serve it: requests are passed on with the kubeconfig's credentials, and
 * explanations are computed here, as `moor why` does.
 */
export async function serveLocally({ access, port, allowWrites, show }: LocalDashboardOptions): Promise<ExitCode> {
  const world = createRealWorld({ logLevel: 'warn' });
  const transport = new HttpTransport({ access, world, userAgent: `moor/${version} (dashboard)`, timeoutMs: 30_000 });
  const client = createClient({ transport });
  const user = await userOf(client);
  if (user === undefined) {
    process.stderr.write(`moor dashboard: the cluster does not answer (${access.url})\n`);
    return exitCodes.failure;
  }
  const certificates = await ensureCertificates({ files: keptNowhere(), hosts: [], now: world.clock.now() });
  const sessions = new Sessions({ secret: certificates.authority.key, clock: world.clock });
  const cluster = clusterServer(access);
  const server = await startHttpServer({
    api: explanationsApi(client, world),
    // For their group: explanations are of no stored kind.
    kinds: [untypedKind(volumeIntentKind)],
    authenticator: { authenticate: () => Promise.reject(statusErrors.unauthorized()) },
    authorizer: { authorize: (_, info) => decide(info, allowWrites) },
    paths: () => undefined,
    tls: { ...certificates.serving, clientAuthority: certificates.authority.certificate },
    listen: { host: '127.0.0.1', port },
    world,
    metrics: new Metrics(),
    aggregator: {
      find: (group) => (group === explanationKind.group ? undefined : everything),
      serve: (request, service) => passOn(request, { service, services: cluster, servers: cluster, timers: world.timers }),
    },
    pages: new DashboardEndpoint({
      files: readDashboardFiles,
      sessions,
      reach: { hosts: [], beyondLoopback: false },
      about: { cluster: access.url, readOnly: !allowWrites },
    }),
  });
  show(pageAddress(server.url, sessions.issueCode(user).code, access.namespace));
  await firstSignal();
  await server.stop();
  cluster.stop();
  transport.close();
  return exitCodes.success;
}

/** As the cluster names the user of the kubeconfig; undefined: it does not answer. */
async function userOf(client: Client): Promise<User | undefined> {
  const kind = { group: 'authentication.k8s.io', version: 'v1', kind: 'SelfSubjectReview', plural: 'selfsubjectreviews', namespaced: false };
  const review = await client.createReview<SelfSubjectReview>(kind, {});
  if (!review.ok && review.reason === 'unreachable') return undefined;
  // Servers before 1.28 have no such review.
  const { username = 'the user of the kubeconfig', groups = [] } = review.ok ? (review.value.status?.userInfo ?? {}) : {};
  return { name: username, groups };
}

interface SelfSubjectReview {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: object;
  readonly status?: { readonly userInfo?: { readonly username?: string; readonly groups?: readonly string[] } };
}

/** Subresources by which a request for reading does more. */
const streams = new Set(['exec', 'attach', 'portforward', 'proxy']);

/** What the page needs, and no more: the credentials behind it may be an administrator's. */
function decide(info: RequestInfo, allowWrites: boolean): AuthorizationDecision {
  if (!isRead(info) && !allowWrites) return { allowed: false, reason: 'the dashboard was started without --allow-writes' };
  if (info.type === 'path') return { allowed: false, reason: 'the dashboard passes on requests for resources' };
  if (info.resource === 'secrets') return { allowed: false, reason: 'the dashboard reads no Secrets' };
  const isUsage = info.resource === 'nodes' && info.subresource === 'proxy' && info.subpath === '/stats/summary';
  if (streams.has(info.subresource) && !isUsage) return { allowed: false, reason: 'the dashboard opens no streams' };
  return { allowed: true };
}

/** The cluster, as an APIService for all groups but that of the explanations. */
const everything = {
  apiVersion: 'apiregistration.k8s.io/v1',
  kind: 'APIService',
  metadata: { name: 'cluster', uid: '', resourceVersion: '' },
  spec: { service: { namespace: 'default', name: 'kubernetes' }, groupPriorityMinimum: 1, versionPriority: 1 },
  status: { conditions: [{ type: 'Available', status: 'True', reason: 'Passed', message: '' }] },
} as unknown as Stored<APIService>;

function explanationsApi(client: Client, world: ReturnType<typeof createRealWorld>): Api {
  const resource = explanations({ clientOf: () => client, world });
  return {
    handle(request) {
      const { info } = request;
      if (info.type !== 'resource' || info.resource !== explanationKind.plural || !isRead(info) || info.verb === 'watch') throw statusErrors.noSuchPath();
      return info.verb === 'list' ? resource.list(request, info) : resource.get(request, info);
    },
  };
}

/** The certificate lasts as long as the process. */
function keptNowhere(): SecretFiles {
  const files = new Map<string, string>();
  return {
    read: (name) => Promise.resolve(files.get(name)),
    write: (name, text) => {
      files.set(name, text);
      return Promise.resolve();
    },
  };
}
