import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { createServer, type Server, type Socket } from 'node:net';
import type { Answer, RecordType } from 'dns-packet';
import type { World } from '../../world/world.ts';
import { ClientLimits } from './client-limits.ts';
import { decodeQuestion, decodeReply, type DnsQuestion, encodeFailure, encodeQuery, encodeReply } from './messages.ts';
import { answerTo, type ClusterRecords, type DnsAnswer, soaOf } from './records.ts';
import { messageReader, withLength } from './tcp-messages.ts';
import { Upstream, type UpstreamOptions } from './upstream.ts';

export interface DnsServerOptions {
  readonly world: World;
  /** The host's addresses in the networks of its pods. */
  readonly addresses: readonly string[];
  readonly records: ClusterRecords;
  /** Absent: 53. */
  readonly port?: number;
  readonly upstreamServers?: UpstreamOptions['servers'];
}

/** Of one address, over TCP, and how many of them one client may have. */
const [mostConnections, mostConnectionsOfClient] = [100, 10];
/** Questions of one client that are not answered yet. Those beyond are dropped: resolvers ask again. */
const mostQuestionsOfClient = 100;
/** Answers that a client does not read, in bytes. */
const mostUnread = 1 << 20;
const idleMs = 10_000;
/** An address is there with its bridge; a bridge may be made anew. */
const listenAgainMs = 1000;
/** Aliases of aliases. */
const mostAliases = 8;

/** The cluster's DNS server: answers pods' questions for the cluster's names, and forwards all others to the host's DNS servers. */
export class DnsServer {
  readonly #options: DnsServerOptions;
  readonly #upstream: Upstream;
  readonly #sockets = new Map<string, UdpSocket | Server>();
  readonly #questions = new ClientLimits(mostQuestionsOfClient);
  readonly #connections = new ClientLimits(mostConnectionsOfClient);
  #stopped = false;

  constructor(options: DnsServerOptions) {
    this.#options = options;
    this.#upstream = new Upstream({
      world: options.world,
      own: new Set(options.addresses),
      ...(options.upstreamServers === undefined ? {} : { servers: options.upstreamServers }),
    });
  }

  listen(): void {
    for (const address of this.#options.addresses) {
      this.#listenUdp(address);
      this.#listenTcp(address);
    }
  }

  stop(): void {
    this.#stopped = true;
    for (const socket of this.#sockets.values()) socket.close();
    this.#sockets.clear();
  }

  #listenUdp(address: string): void {
    const socket = createSocket('udp4');
    this.#sockets.set(`udp ${address}`, socket);
    socket.on('message', (message, from) => {
      void this.#answerOf(from.address, message, false).then((bytes) => {
        if (bytes !== undefined && !this.#stopped) socket.send(bytes, from.port, from.address, () => undefined);
      });
    });
    socket.on('error', (error) => {
      socket.close();
      // A socket cannot be closed twice: stop() would fail.
      this.#sockets.delete(`udp ${address}`);
      this.#listenAgain(address, error, () => this.#listenUdp(address));
    });
    socket.bind(this.#options.port ?? 53, address);
    socket.unref();
  }

  #listenTcp(address: string): void {
    const server = createServer((socket) => this.#serve(socket));
    this.#sockets.set(`tcp ${address}`, server);
    server.maxConnections = mostConnections;
    server.on('error', (error) => this.#listenAgain(address, error, () => this.#listenTcp(address)));
    server.listen(this.#options.port ?? 53, address);
    server.unref();
  }

  #listenAgain(address: string, error: Error, listen: () => void): void {
    const { world } = this.#options;
    world.log.warn('the DNS server of the pods does not listen', { address, error: error.message });
    world.timers.after(listenAgainMs, () => (this.#stopped ? undefined : listen()));
  }

  #serve(socket: Socket): void {
    const client = socket.remoteAddress ?? '';
    if (!this.#connections.take(client)) {
      socket.destroy();
      return;
    }
    socket.on('close', () => this.#connections.release(client));
    socket.unref();
    socket.setTimeout(idleMs, () => socket.destroy());
    socket.on('error', () => socket.destroy());
    const read = messageReader((message) => {
      void this.#answerOf(client, message, true).then((bytes) => {
        if (bytes === undefined || socket.writableLength > mostUnread) socket.destroy();
        else socket.write(withLength(bytes));
      });
    });
    socket.on('data', read);
  }

  /** Undefined: it was no question, its answer cannot be written, or the client has asked too many. */
  async #answerOf(client: string, message: Buffer, overTcp: boolean): Promise<Buffer | undefined> {
    if (!this.#questions.take(client)) return undefined;
    try {
      return await this.#answer(message, overTcp);
    } catch (error) {
      // The owner of a name outside chooses its records: some cannot be written again behind an alias.
      this.#options.world.log.debug('a question of a pod was not answered', { client, error: String(error) });
      return undefined;
    } finally {
      this.#questions.release(client);
    }
  }

  /** Undefined: it was no question. */
  async #answer(message: Buffer, overTcp: boolean): Promise<Buffer | undefined> {
    const question = decodeQuestion(message);
    if (question === undefined) return undefined;
    const { records } = this.#options;
    const answer = answerTo(question, records);
    if (answer.type === 'outside') return (await this.#upstream.ask(message, overTcp)) ?? encodeFailure(question);
    const reply = answer.type === 'alias' ? await this.#follow(question, answer) : answer;
    if (reply === undefined) return encodeFailure(question);
    if (reply.type === 'no-such-name') return encodeReply(question, { code: 'noSuchName', answers: [], authorities: [soaOf(records.domain)] }, overTcp);
    const authorities = reply.records.length === 0 ? [soaOf(records.domain)] : [];
    return encodeReply(question, { code: 'success', answers: this.#shuffled(reply.records), authorities, additionals: reply.also }, overTcp);
  }

  /** A client asks its one server, which has to answer with the alias and with the records of its target. Undefined: no server knows. */
  async #follow(question: DnsQuestion, first: DnsAnswer & { readonly type: 'alias' }): Promise<(DnsAnswer & { readonly type: 'found' }) | undefined> {
    const aliases: Answer[] = [];
    let answer: DnsAnswer = first;
    let target = '';
    for (let i = 0; i < mostAliases && answer.type === 'alias'; i++) {
      aliases.push(answer.record);
      target = answer.target;
      answer = question.type === 'CNAME' ? { type: 'no-such-name' } : answerTo({ name: target, type: question.type }, this.#options.records);
    }
    if (answer.type === 'found') return { ...answer, records: [...aliases, ...answer.records] };
    if (answer.type !== 'outside') return { type: 'found', records: aliases, also: [] };
    const reply = await this.#upstream.ask(encodeQuery(question.id, target, question.type as RecordType), false);
    const packet = reply === undefined ? undefined : decodeReply(reply);
    return packet === undefined ? undefined : { type: 'found', records: [...aliases, ...(packet.answers ?? [])], also: [] };
  }

  /** Clients use the first address: each of them gets another one. */
  #shuffled(records: readonly Answer[]): readonly Answer[] {
    const isAddress = ({ type }: Answer): boolean => type === 'A' || type === 'AAAA';
    if (!records.every(isAddress) || records.length < 2) return records;
    const from = Math.floor(this.#options.world.random.float() * records.length);
    return [...records.slice(from), ...records.slice(0, from)];
  }
}
