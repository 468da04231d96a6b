/** The HTTPS server of the kubelet API, for the API server and for clients that the API server authorizes. */
import type { IncomingMessage } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import type { World } from '../../world/world.ts';
import type { WebhookAuth } from './webhook-auth.ts';
import {
  type KubeletResponse,
  type KubeletRequest,
  type KubeletBackend,
  KubeletError,
  type KubeletResponder,
  responderOf,
  text,
  upgradeResponder,
} from './exchange.ts';
import { subresourcesOf, verbOf } from './routes.ts';
import { handleRequest } from './handlers.ts';

export interface ListenOptions {
  readonly host: string;
  /** 0: any that is free. */
  readonly port: number;
  /** PEM: the certificate authority of client certificates; undefined: clients authenticate with tokens only. */
  readonly authority: string | undefined;
  readonly world: World;
}

/** PEM. */
export interface ServingCertificate {
  readonly key: string;
  readonly certificate: string;
}

/** For clients that are not authenticated yet. */
const limits = { connections: 1000, headersMs: 10_000, handshakeMs: 10_000, requestMs: 60_000, idleMs: 60_000, headerBytes: 16 * 1024 } as const;

/** Until there is one, the server answers that the node starts. */
interface KubeletService {
  readonly offers: KubeletBackend;
  readonly callers: WebhookAuth;
}

/**
 * Listens from the beginning, so that the node can report its port. Until it has a certificate, every TLS handshake fails, as with a kubelet
 * that waits for its certificate.
 */
export class KubeletServer {
  readonly #server: Server;
  readonly #world: World;
  readonly #authority: string | undefined;
  readonly #upgraded = new Set<Duplex>();
  #service: KubeletService | undefined;

  /** @throws Error if it cannot listen there */
  static async listen(options: ListenOptions): Promise<KubeletServer> {
    const endpoint = new KubeletServer(options);
    await new Promise<void>((resolve, reject) => {
      endpoint.#server.once('error', reject);
      endpoint.#server.listen({ host: options.host, port: options.port }, resolve);
    });
    endpoint.#server.on('error', (error) => options.world.log.warn('the endpoint of the node failed', { error: error.message }));
    return endpoint;
  }

  private constructor({ authority, world }: ListenOptions) {
    this.#world = world;
    this.#authority = authority;
    this.#server = createServer({
      ...this.#trust(),
      handshakeTimeout: limits.handshakeMs,
      headersTimeout: limits.headersMs,
      requestTimeout: limits.requestMs,
      keepAliveTimeout: limits.idleMs,
      maxHeaderSize: limits.headerBytes,
    });
    this.#server.maxConnections = limits.connections;
    this.#server.on('request', (request, response) => void this.#handle(request, responderOf(request, response)));
    this.#server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      this.#upgraded.add(socket);
      socket.on('close', () => this.#upgraded.delete(socket));
      socket.on('error', () => socket.destroy());
      void this.#handle(request, upgradeResponder(request, socket, head));
    });
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** For new connections; open connections keep the old certificate. */
  present({ key, certificate }: ServingCertificate): void {
    this.#server.setSecureContext({ ...this.#trust(), key, cert: certificate });
  }

  serve(service: KubeletService): void {
    this.#service = service;
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => void this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    for (const socket of this.#upgraded) socket.destroy();
    await closed;
  }

  /** Client certificates are verified for each request: a client with a wrong one gets an answer instead of a failed handshake. */
  #trust(): { readonly requestCert: true; readonly rejectUnauthorized: false; readonly minVersion: 'TLSv1.2'; readonly ca?: string } {
    return { requestCert: true, rejectUnauthorized: false, minVersion: 'TLSv1.2', ...(this.#authority === undefined ? {} : { ca: this.#authority }) };
  }

  /** Never rejects. */
  async #handle(request: IncomingMessage, responder: KubeletResponder): Promise<void> {
    try {
      const asked = askedOf(request, responder);
      await this.#admit(request, asked);
      const response = await handleRequest(asked, this.#offers(), this.#world);
      if (response !== 'streams') responder.answer(response);
    } catch (error) {
      responder.answer(this.#failure(error));
    }
  }

  #failure(error: unknown): KubeletResponse {
    if (error instanceof KubeletError) return text(error.code, error.message);
    const message = error instanceof Error ? error.message : String(error);
    this.#world.log.warn('a request to the endpoint of the node failed', { error: message });
    return text(500, message);
  }

  #offers(): KubeletBackend {
    if (this.#service === undefined) throw new KubeletError(503, 'the node is starting');
    return this.#service.offers;
  }

  /** @throws KubeletError */
  async #admit(request: IncomingMessage, { method, path }: KubeletRequest): Promise<void> {
    const { callers } = this.#service ?? {};
    if (callers === undefined) throw new KubeletError(503, 'the node is starting');
    const socket = request.socket as TLSSocket;
    const subject = this.#authority !== undefined && socket.authorized ? socket.getPeerCertificate().subject : undefined;
    const caller = await callers.authenticate({ subject, authorization: request.headers.authorization });
    if (caller === undefined) throw new KubeletError(401, 'Unauthorized');
    const question = { verb: verbOf(method), subresources: subresourcesOf(path) };
    const described = (list: string) => `(user=${caller.name}, verb=${question.verb}, resource=nodes, subresource${list})`;
    const isAllowed = await callers.authorize(caller, question).catch((error: unknown) => {
      this.#world.log.warn('cannot ask whether a caller may ask the node', { error: String(error) });
      throw new KubeletError(500, `Authorization error ${described(`=${question.subresources[0] ?? ''}`)}`);
    });
    if (!isAllowed) throw new KubeletError(403, `Forbidden ${described(`(s)=[${question.subresources.join(' ')}]`)}\n`);
  }
}

/** @throws KubeletError if it is no path */
function askedOf(request: IncomingMessage, responder: KubeletResponder): KubeletRequest {
  const { method = '', url = '' } = request;
  const at = url.indexOf('?');
  const path = at < 0 ? url : url.slice(0, at);
  if (!path.startsWith('/')) throw new KubeletError(400, 'Bad Request');
  return { method, path, query: new URLSearchParams(at < 0 ? '' : url.slice(at + 1)), upgrade: responder };
}
