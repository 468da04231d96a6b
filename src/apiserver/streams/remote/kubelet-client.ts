import { Agent, request as httpsRequest } from 'node:https';
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { NodeUnreachable } from '../../../streams/contract.ts';
import type { World } from '../../../world/world.ts';
import type { KeyPair } from '../../certificates/certificate-files.ts';
import { goDialError } from '../../dial-errors.ts';
import { type KubeletAddress, urlOf } from './node-address.ts';

export interface KubeletClientOptions {
  /** PEM: the CA of the nodes' certificates. */
  readonly authority: string;
  /** The client certificate of the API server, read for each connection pool. */
  readonly identity: () => Promise<KeyPair>;
  readonly world: Pick<World, 'timers'>;
}

export interface KubeletCall {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
}

/** The upgraded connection, or the kubelet's response without an upgrade. */
export type UpgradeResult = { readonly socket: Duplex; readonly head: Buffer } | IncomingMessage;

/** The dial timeout of Go's transports. */
const dialMs = 30_000;
/** A node that vanished is noticed on idle connections after this time. */
const keepAliveMs = 30_000;

/** The API server's client of kubelets. */
export class KubeletClient {
  readonly #options: KubeletClientOptions;
  #agent: { readonly agent: Agent; readonly key: string } | undefined;

  constructor(options: KubeletClientOptions) {
    this.#options = options;
  }

  /** Resolves with the head of its answer. @throws NodeUnreachable */
  async send(to: KubeletAddress, call: KubeletCall): Promise<IncomingMessage> {
    const { agent } = await this.#connections();
    return new Promise((resolve, reject) => {
      const sent = this.#request(to, call, { agent, failed: reject });
      sent.on('response', resolve);
      sent.end(call.body);
    });
  }

  /** @throws NodeUnreachable */
  async upgrade(to: KubeletAddress, call: KubeletCall): Promise<UpgradeResult> {
    const { agent } = await this.#connections();
    return new Promise((resolve, reject) => {
      const sent = this.#request(to, call, { agent, failed: reject });
      sent.on('upgrade', (_, socket, head) => resolve({ socket, head }));
      sent.on('response', resolve);
      sent.end();
    });
  }

  async #connections(): Promise<{ readonly agent: Agent }> {
    const { key, certificate } = await this.#options.identity();
    if (this.#agent?.key === key) return this.#agent;
    this.#agent?.agent.destroy();
    const agent = new Agent({ keepAlive: true, maxFreeSockets: 8, minVersion: 'TLSv1.2', ca: this.#options.authority, cert: certificate, key });
    this.#agent = { agent, key };
    return this.#agent;
  }

  #request(
    to: KubeletAddress,
    { method, path, headers = {} }: KubeletCall,
    { agent, failed }: { agent: Agent; failed: (error: NodeUnreachable) => void },
  ): ClientRequest {
    const { host, port } = to;
    const sent = httpsRequest({ host, port, agent, method, path, headers: { 'user-agent': 'kube-apiserver', ...headers } });
    const address = `${host.includes(':') ? `[${host}]` : host}:${port}`;
    const cancel = this.#options.world.timers.after(dialMs, () => sent.destroy(Object.assign(new Error('timeout'), { code: 'ETIMEDOUT' })));
    sent.on('error', (error) => {
      cancel();
      failed(new NodeUnreachable(urlOf(to, path), goDialError(error, { address, named: host })));
    });
    sent.on('socket', (socket) => {
      socket.setKeepAlive(true, keepAliveMs);
      // One that was used before is connected already.
      if (sent.reusedSocket) cancel();
      else socket.once('secureConnect', cancel);
    });
    return sent;
  }
}
