import type { FlowConfiguration } from '../../src/apiserver/flow-control/flow-configuration.ts';
import type { Kind } from '../../src/api/kind.ts';
import { createRealWorld } from '../../src/host/world.ts';
import type { Api, User } from '../../src/apiserver/api.ts';
import type { Auditor } from '../../src/apiserver/audit/auditor.ts';
import { createAuthenticator } from '../../src/apiserver/authentication/authenticator.ts';
import { allowAuthenticated } from '../../src/sim/cluster/access.ts';
import { type Certificates, ensureCertificates } from '../../src/apiserver/certificates/certificate-files.ts';
import type { SecretFiles } from '../../src/world/secret-files.ts';
import { createApi } from '../../src/apiserver/create-api.ts';
import { createPaths } from '../../src/apiserver/discovery/paths.ts';
import type { Limits } from '../../src/apiserver/limits.ts';
import { Metrics } from '../../src/apiserver/metrics/metrics.ts';
import { type HttpServer, type HttpServerOptions, startHttpServer } from '../../src/apiserver/http/server.ts';
import { openMemoryStore } from '../../src/store/memory/memory-store.ts';
import type { World } from '../../src/world/world.ts';
import { configMaps, SmallApi } from './small-api.ts';

/** A server on a free port of loopback, with everything that a test wants to look at. */
export interface WireServer<A extends Api = SmallApi> extends AsyncDisposable {
  readonly server: HttpServer;
  readonly options: HttpServerOptions;
  readonly api: A;
  readonly certificates: Certificates;
  readonly metrics: Metrics;
  /** What was logged at level error. */
  readonly errors: string[];
}

/** What a client needs to know of a server. */
export type Reachable = Pick<WireServer<Api>, 'server' | 'certificates'>;

interface WireOptions {
  readonly limits?: Partial<Limits>;
  /** What is wrong with readiness. */
  readonly ready?: () => string | undefined;
  /** Without any extension to the Kubernetes API. */
  readonly plain?: boolean;
  readonly auditor?: (world: World) => Auditor;
  /** Whose time is the test's. */
  readonly timed?: (real: World) => World;
  readonly flowConfiguration?: () => FlowConfiguration;
}

export const startWireServer = (options: WireOptions = {}): Promise<WireServer> => start(() => new SmallApi(), [configMaps], options);

/** The whole API on a store in memory, behind the wire. */
export async function startRealWireServer(kinds: readonly Kind[], options: WireOptions = {}): Promise<WireServer<Api>> {
  const store = openMemoryStore();
  let stop: (() => Promise<void>) | undefined;
  const make = (world: World): Api => {
    const api = createApi({ store, kinds, world, extensions: options.plain === true ? undefined : { authorizer: allowAuthenticated } });
    stop = () => api.stop();
    return api;
  };
  const wire = await start(make, kinds, options);
  return {
    ...wire,
    async [Symbol.asyncDispose]() {
      await wire.server.stop();
      await stop?.();
      await store.close();
    },
  };
}

async function start<A extends Api>(
  makeApi: (world: World) => A,
  kinds: readonly Kind[],
  { limits, ready, plain, auditor, flowConfiguration, timed = (real) => real }: WireOptions,
): Promise<WireServer<A>> {
  const certificates = await testCertificates();
  const errors: string[] = [];
  const real = timed(createRealWorld({ logLevel: 'silent' }));
  const world: World = { ...real, log: { ...real.log, error: (message, fields) => void errors.push(`${message} ${JSON.stringify(fields)}`) } };
  const metrics = new Metrics();
  const api = makeApi(world);
  let address = '';
  const paths = createPaths({
    kinds,
    health: { live: [], ready: [{ name: 'started', check: ready ?? (() => undefined) }] },
    version: '0.0.0',
    serverAddress: () => address,
    metrics: () => Promise.resolve(metrics.text()),
  });
  const options: HttpServerOptions = {
    api,
    kinds,
    authenticator: createAuthenticator([(token) => Promise.resolve(bearerOf(token))]),
    authorizer: allowAuthenticated,
    paths,
    tls: { certificate: certificates.serving.certificate, key: certificates.serving.key, clientAuthority: certificates.authority.certificate },
    listen: { host: '127.0.0.1', port: 0 },
    world,
    metrics,
    extensions: plain !== true,
    auditor: auditor?.(world),
    ...(limits === undefined ? {} : { limits }),
    ...(flowConfiguration === undefined ? {} : { flowConfiguration }),
  };
  const server = await startHttpServer(options);
  address = new URL(server.url).host;
  return { server, options, api, certificates, metrics, errors, [Symbol.asyncDispose]: () => server.stop() };
}

/** 'good', or a user by name ('user:ann'), or a node ('node:worker-1'). */
function bearerOf(token: string): User | undefined {
  const [type, name = ''] = token.split(':');
  switch (type) {
    case 'good':
      return { name: 'tester', groups: [] };
    case 'user':
      return { name, groups: [] };
    case 'node':
      return { name: `system:node:${name}`, groups: ['system:nodes'] };
    default:
      return undefined;
  }
}

const memoryFiles = (): SecretFiles => {
  const contents = new Map<string, string>();
  return { read: (name) => Promise.resolve(contents.get(name)), write: (name, text) => Promise.resolve(void contents.set(name, text)) };
};

let made: Promise<Certificates> | undefined;

/** One set of certificates for all tests of a file: making them is slow, and not what most tests are about. */
function testCertificates(): Promise<Certificates> {
  made ??= ensureCertificates({ files: memoryFiles(), hosts: ['127.0.0.1'], now: Date.now() });
  return made;
}
