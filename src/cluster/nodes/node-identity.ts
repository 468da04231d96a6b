import { type HttpAccess, HttpTransport } from '../../client/http-transport.ts';
import type { Answer, Stream, StreamSink, Transport, TransportRequest } from '../../client/transport.ts';
import type { SecretFiles } from '../../apiserver/certificates/certificate-files.ts';
import type { Cancel, World } from '../../world/world.ts';
import { type KeyAndCertificate, startCertificateManager } from './certificate-manager.ts';
import { type NodeCertificateOptions, loadNodeCertificate, requestNodeCertificate } from './node-certificate.ts';

export interface NodeIdentityOptions {
  /** Where the server is, and how to be believed when asking for a certificate. */
  readonly access: HttpAccess;
  readonly node: string;
  readonly files: SecretFiles;
  readonly world: World;
  readonly userAgent: string;
  readonly expirationSeconds?: number;
  /** Aborted: nobody waits for the first certificate any longer. */
  readonly over?: AbortSignal;
  /** How much of a certificate's time is over when the next one is asked for. As kubelets have it unless said. */
  readonly renewAt?: () => number;
}

/** So long requests that were sent with the old certificate may take. */
const graceMs = 60_000;

/**
 * A node as the server knows it: `system:node:NAME`, by a certificate of its own, asked for by a CertificateSigningRequest with whatever
 * the machine was given at first, and renewed by itself in time.
 */
export class NodeIdentity implements Transport {
  readonly #options: NodeIdentityOptions;
  #current: HttpTransport;
  /** With certificates that are replaced: what was under way on them comes to its end. */
  readonly #old = new Set<HttpTransport>();
  readonly #cancel: Cancel;
  readonly #over = new AbortController();

  /** Resolves once there is a certificate: perhaps only when somebody approves the request. */
  static async open(options: NodeIdentityOptions): Promise<NodeIdentity> {
    const wanted: NodeCertificateOptions = { ...options, use: 'client', hosts: [] };
    const kept = await loadNodeCertificate(wanted);
    const first = kept ?? (await withTransport(options, (transport) => requestNodeCertificate(transport, wanted)));
    return new NodeIdentity(options, wanted, first);
  }

  private constructor(options: NodeIdentityOptions, asked: NodeCertificateOptions, current: KeyAndCertificate) {
    const wanted: NodeCertificateOptions = { ...asked, over: this.#over.signal };
    const { world, renewAt } = options;
    this.#options = options;
    this.#current = transportOf(options, ownAccess(options, current));
    this.#cancel = startCertificateManager({
      world,
      current,
      whose: 'the node, as a client',
      request: () => requestNodeCertificate(this.#current, wanted),
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
    this.#over.abort();
    for (const transport of [this.#current, ...this.#old]) transport.close();
  }

  #use(fresh: KeyAndCertificate): void {
    const old = this.#current;
    this.#current = transportOf(this.#options, ownAccess(this.#options, fresh));
    // Watches on the old connections end with them, and are taken up again on new ones.
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

/** Only the node's own credentials: not those by which it asked for them. */
function ownAccess({ access: { url, ca, serverName, insecure } }: NodeIdentityOptions, { key, certificate }: KeyAndCertificate): HttpAccess {
  return {
    url,
    key,
    cert: certificate,
    ...(ca === undefined ? {} : { ca }),
    ...(serverName === undefined ? {} : { serverName }),
    ...(insecure === undefined ? {} : { insecure }),
  };
}
