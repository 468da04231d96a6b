import { createRealWorld } from '../../src/main/real-world.ts';
import { type Certificates, ensureCertificates, type SecretFiles } from '../../src/server/auth/certificate-files.ts';
import { type Authenticator, createAuthenticator } from '../../src/server/auth/authenticator.ts';
import { authenticatedMayAll } from '../../src/server/auth/authorizer.ts';
import { createPaths } from '../../src/server/discovery/paths.ts';
import type { Limits } from '../../src/server/http/limits.ts';
import { Metrics } from '../../src/server/http/metrics.ts';
import { type HttpServer, type HttpServerOptions, startHttpServer } from '../../src/server/http/server.ts';
import type { World } from '../../src/world/world.ts';
import { configMaps, SmallApi } from './small-api.ts';

export interface WireServer extends AsyncDisposable {
  readonly server: HttpServer;
  readonly options: HttpServerOptions;
  readonly api: SmallApi;
  readonly certificates: Certificates;
  readonly metrics: Metrics;
  /** What was logged at level error. */
  readonly errors: string[];
}

export const memoryFiles = (): SecretFiles & { readonly contents: Map<string, string> } => {
  const contents = new Map<string, string>();
  return {
    contents,
    read: (name) => Promise.resolve(contents.get(name)),
    write: (name, text) => Promise.resolve(void contents.set(name, text)),
  };
};

let made: Promise<Certificates> | undefined;

/** One set of certificates for all tests of a file: making them is slow, and not what most tests are about. */
export function testCertificates(): Promise<Certificates> {
  made ??= ensureCertificates({ files: memoryFiles(), hosts: ['127.0.0.1'], now: Date.now() });
  return made;
}

export async function startWireServer(
  options: { limits?: Partial<Limits>; authenticator?: Authenticator; ready?: () => string | undefined } = {},
): Promise<WireServer> {
  const certificates = await testCertificates();
  const api = new SmallApi();
  const errors: string[] = [];
  const real = createRealWorld({ logLevel: 'silent' });
  const world: World = { ...real, log: { ...real.log, error: (message, fields) => void errors.push(`${message} ${JSON.stringify(fields)}`) } };
  const metrics = new Metrics();
  const kinds = [configMaps];
  let address = '';
  const paths = createPaths({
    kinds,
    health: { live: [], ready: [{ name: 'started', check: options.ready ?? (() => undefined) }] },
    version: '0.0.0',
    serverAddress: () => address,
    metrics: () => Promise.resolve(metrics.text()),
  });
  const serverOptions: HttpServerOptions = {
    api,
    kinds,
    authenticator: options.authenticator ?? createAuthenticator([(token) => Promise.resolve(token === 'good' ? { name: 'tester', groups: [] } : undefined)]),
    authorizer: authenticatedMayAll,
    paths,
    tls: { certificate: certificates.serving.certificate, key: certificates.serving.key, clientAuthority: certificates.authority.certificate },
    listen: { host: '127.0.0.1', port: 0 },
    world,
    metrics,
    ...(options.limits === undefined ? {} : { limits: options.limits }),
  };
  const server = await startHttpServer(serverOptions);
  address = new URL(server.url).host;
  return { server, options: serverOptions, api, certificates, metrics, errors, [Symbol.asyncDispose]: () => server.stop() };
}
