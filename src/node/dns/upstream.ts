/** Questions that the cluster cannot answer, to the DNS servers of the host. */
import { createSocket } from 'node:dgram';
import { getServers } from 'node:dns';
import { createConnection } from 'node:net';
import type { World } from '../../world/world.ts';
import { messageReader, withLength } from './tcp-messages.ts';

/** Questions that are forwarded and not answered yet. */
const mostWaiting = 1000;
/** Of one server; then the next one is asked. */
const answerMs = 2500;
const mostServers = 3;

export interface UpstreamOptions {
  readonly world: World;
  /** The server's own addresses: a question to itself would come back for ever. */
  readonly own: ReadonlySet<string>;
  /** Absent: those of the host's resolv.conf, at this moment. */
  readonly servers?: () => readonly string[];
}

export class Upstream {
  readonly #options: UpstreamOptions;
  #waiting = 0;

  constructor(options: UpstreamOptions) {
    this.#options = options;
  }

  /** The first server's answer, as it came; undefined: none answers. */
  async ask(message: Buffer, overTcp: boolean): Promise<Buffer | undefined> {
    const { own, servers = getServers } = this.#options;
    if (this.#waiting >= mostWaiting) return undefined;
    this.#waiting++;
    try {
      const usable = servers().filter((server) => !own.has(server));
      for (const server of usable.slice(0, mostServers)) {
        const answer = await (overTcp ? this.#overTcp(message, server) : this.#overUdp(message, server));
        if (answer !== undefined) return answer;
      }
      return undefined;
    } finally {
      this.#waiting--;
    }
  }

  #overUdp(message: Buffer, server: string): Promise<Buffer | undefined> {
    const [address, port] = addressOf(server);
    const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4');
    return this.#inTime((done) => {
      // Only the server that was asked may answer, with the question's id.
      socket.on('message', (bytes) => (bytes.subarray(0, 2).equals(message.subarray(0, 2)) ? done(bytes) : undefined));
      socket.on('error', () => done(undefined));
      // A connect that fails is told to its callback, and not as an error of the socket.
      socket.connect(port, address, (error?: Error) => (error === undefined ? socket.send(message) : done(undefined)));
      return () => socket.close();
    });
  }

  #overTcp(message: Buffer, server: string): Promise<Buffer | undefined> {
    const [host, port] = addressOf(server);
    const socket = createConnection({ host, port });
    return this.#inTime((done) => {
      socket.on('data', messageReader(done));
      socket.on('error', () => done(undefined));
      socket.on('close', () => done(undefined));
      socket.write(withLength(message));
      return () => socket.destroy();
    });
  }

  #inTime(begin: (done: (answer: Buffer | undefined) => void) => () => void): Promise<Buffer | undefined> {
    return new Promise((resolve) => {
      let isDone = false;
      const done = (answer: Buffer | undefined): void => {
        if (isDone) return;
        isDone = true;
        cancel();
        end();
        resolve(answer);
      };
      const cancel = this.#options.world.timers.after(answerMs, () => done(undefined));
      const end = begin((answer) => this.#options.world.timers.soon(() => done(answer)));
    });
  }
}

/** '10.0.0.1', '10.0.0.1:5353', '[fd00::1]:5353' or 'fd00::1'. */
function addressOf(server: string): readonly [string, number] {
  const match = /^(?:\[(.+)\]|([^:]+)):(\d+)$/.exec(server);
  return match === null ? [server, 53] : [match[1] ?? match[2] ?? '', Number(match[3])];
}
