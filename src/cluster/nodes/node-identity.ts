import { type HttpAccess, HttpTransport } from '../../client/http-transport.ts';
import type { Answer, Stream, StreamSink, Transport, TransportRequest } from '../../client/transport.ts';
import type { SecretFiles } from '../../world/secret-files.ts';
import type { Cancel, World } from '../../world/world.ts';
import { type KeyAndCertificate, startCertificateManager } from './certificate-manager.ts';
import { type NodeCertificateOptions, loadNodeCertificate, requestNodeCertificate } from './node-certificate.ts';

export interface NodeIdentityOptions {
  /** The API server, with the credentials for the certificate request. */
  readonly access: HttpAccess;
  readonly node: string;
  readonly files: SecretFiles;
  readonly world: World;
  readonly userAgent: string;
  readonly expirationSeconds?: number;
  /** As in `NodeCertificateOptions`, for the first certificate. */
  readonly onRequested?: (name: string) => void;
  /** Aborted: `open` stops waiting for the first certificate. */
  readonly signal?: AbortSignal;
  /** The fraction of a certificate's lifetime after which it is renewed. Default: the kubelet's. */
  readonly renewAt?: () => number;
}

/** The time that requests with the old certificate have to finish. */
const graceMs = 60_000;

/**
 * The node as a client of the API server: `system:node:NAME`, with its own certificate. The first one is requested by a CertificateSigningRequest
 * with the bootstrap credentials, and renewed with the node's own.
 */
export class NodeIdentity implements Transport {
  readonly #options: NodeIdentityOptions;
  #current: HttpTransport;
  /** With replaced certificates, until their requests have finished. */
  readonly #old = new Set<HttpTransport>();
  readonly #cancel: Cancel;
  readonly #abort = new AbortController();

  /** Resolves when the certificate is issued, which may need an approval by hand. */
  static async open(options: NodeIdentityOptions): Promise<NodeIdentity> {
    const certificate: NodeCertificateOptions = { ...options, use: 'client', hosts: [] };
    const loaded = await loadNodeCertificate(certificate);
    const first = loaded ?? (await withTransport(options, (transport) => requestNodeCertificate(transport, certificate)));
    return new NodeIdentity(options, certificate, first);
  }

  private constructor(options: NodeIdentityOptions, certificate: NodeCertificateOptions, current: KeyAndCertificate) {
    const renewal: NodeCertificateOptions = { ...certificate, signal: this.#abort.signal };
    const { world, renewAt } = options;
    this.#options = options;
    this.#current = transportOf(options, ownAccess(options, current));
    this.#cancel = startCertificateManager({
      world,
      current,
      whose: 'the node, as a client',
      request: () => requestNodeCertificate(this.#current, renewal),
      onRenewed: (fresh) => this.#use(fresh),
      ...(renewAt === undefined ? {} : { renewAt }),
    });
  }

  send(request: TransportRequest): Promise<Answer> {
    return this.#current.send(request);
  }

  watch(request: TransportRequest, sink: StreamSink): Stream {
    return this.#current.watch(request, sink);
  }

  close(): void {
    this.#cancel();
    this.#abort.abort();
    for (const transport of [this.#current, ...this.#old]) transport.close();
  }

  #use(fresh: KeyAndCertificate): void {
    const old = this.#current;
    this.#current = transportOf(this.#options, ownAccess(this.#options, fresh));
    // Watches on the old connections end with them and are resumed on new ones.
    this.#old.add(old);
    this.#options.world.timers.after(graceMs, () => {
      this.#old.delete(old);
      old.close();
    });
  }
}

const transportOf = ({ world, userAgent }: NodeIdentityOptions, access: HttpAccess): HttpTransport => new HttpTransport({ access, world, userAgent });

async function withTransport<T>(options: NodeIdentityOptions, task: (transport: HttpTransport) => Promise<T>): Promise<T> {
  const transport = transportOf(options, options.access);
  try {
    return await task(transport);
  } finally {
    transport.close();
  }
}

/** Only the node's own credentials, without the bootstrap credentials. */
function ownAccess({ access: { url, servers, ca, serverName, insecure } }: NodeIdentityOptions, { key, certificate }: KeyAndCertificate): HttpAccess {
  return {
    url,
    key,
    cert: certificate,
    ...(servers === undefined ? {} : { servers }),
    ...(ca === undefined ? {} : { ca }),
    ...(serverName === undefined ? {} : { serverName }),
    ...(insecure === undefined ? {} : { insecure }),
  };
}
