import { createSocket, type Socket } from 'node:dgram';
import { getServers } from 'node:dns';
import type { Cancel, World } from '../../world/world.ts';
import { addressesOf, type ClusterRecords } from './records.ts';
import { decodeQuestion, encodeAnswer, encodeFailure } from './messages.ts';

export interface DnsServerOptions {
  readonly world: World;
  /** The host's address in the network of its pods. */
  readonly address: string;
  readonly records: ClusterRecords;
}

/** Questions that are forwarded and not answered yet. */
const maxForwarded = 1000;
const forwardTimeoutMs = 5000;

/** Answers pods' questions for the cluster's names, and forwards all others to the host's DNS server. */
export class DnsServer {
  readonly #options: DnsServerOptions;
  #socket: Socket | undefined;
  #forwarded = 0;

  constructor(options: DnsServerOptions) {
    this.#options = options;
  }

  /** The address exists once the first pod has its sandbox. Does nothing if the server listens already. */
  listen(): void {
    if (this.#socket !== undefined) return;
    const { address, world } = this.#options;
    const socket = createSocket('udp4');
    this.#socket = socket;
    socket.on('message', (message, from) => this.#answer(message, (bytes) => socket.send(bytes, from.port, from.address)));
    socket.on('error', (error) => {
      world.log.warn('the DNS server of the pods does not listen', { address, error: error.message });
      socket.close();
      if (this.#socket === socket) this.#socket = undefined;
    });
    socket.bind(53, address);
    socket.unref();
  }

  stop(): void {
    this.#socket?.close();
    this.#socket = undefined;
  }

  #answer(message: Buffer, send: (bytes: Buffer) => void): void {
    const question = decodeQuestion(message);
    if (question === undefined) return;
    const known = addressesOf(question.name, this.#options.records);
    if (known === undefined) return this.#forward(message, { send, fail: () => send(encodeFailure(question)) });
    const hasAddresses = question.type === 'A' || question.type === 'ANY';
    send(encodeAnswer(question, known.addresses === undefined ? undefined : hasAddresses ? known.addresses : []));
  }

  #forward(message: Buffer, { send, fail }: { readonly send: (bytes: Buffer) => void; readonly fail: () => void }): void {
    const { address, world } = this.#options;
    const upstream = getServers().find((each) => each !== address && !each.includes(':'));
    if (upstream === undefined || this.#forwarded >= maxForwarded) return fail();
    this.#forwarded++;
    const socket = createSocket('udp4');
    let cancel: Cancel = () => undefined;
    const end = (finish: () => void): void => {
      cancel();
      this.#forwarded--;
      socket.close();
      finish();
    };
    cancel = world.timers.after(forwardTimeoutMs, () => end(fail));
    socket.on('message', (bytes) => end(() => send(bytes)));
    socket.on('error', () => end(fail));
    socket.send(message, 53, upstream);
    return undefined;
  }
}
