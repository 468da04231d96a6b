import { closeSync, fchownSync, openSync } from 'node:fs';
import { Socket } from 'node:net';
import type { InitOptions, InitStream, LaunchedProcess } from '../../node/runtimes/sandbox/init/launcher.ts';
import { copyAbove, endOf, newPipe, newSocketPair, posixSpawn } from './posix-spawn.ts';

/** Processes that have not been waited for. */
const running = new Map<number, (status: number) => void>();

/** One signal may stand for several processes. */
function reap(): void {
  for (const [pid, onEnd] of running) {
    const status = endOf(pid);
    if (status === undefined) continue;
    running.delete(pid);
    onEnd(status);
  }
}

let isReaping = false;

/** Before the first process: its end is not missed. */
function beginReaping(): void {
  if (!isReaping) process.on('SIGCHLD', reap);
  isReaping = true;
}

/** The ends of a process's descriptors: its own, and those of this process. */
class Descriptors {
  readonly theirs: number[] = [];
  readonly #opened: number[] = [];
  readonly #ours: Socket[] = [];

  /** `stream`: none is /dev/null. A pipe, as with runc: a program may open /dev/stdout again, as this user. */
  add(stream: InitStream, direction: 'in' | 'out', owner: number): Socket | undefined {
    if (stream === 'ignore') {
      this.#give(openSync('/dev/null', 'r+'));
      return undefined;
    }
    const [read, write] = newPipe();
    const [their, our] = direction === 'in' ? [read, write] : [write, read];
    fchownSync(their, owner, 0);
    this.#give(their);
    return this.#take(our, direction === 'in' ? { readable: false, writable: true } : { readable: true, writable: false });
  }

  addChannel(): Socket {
    const [our, their] = newSocketPair();
    this.#give(their);
    return this.#take(our, { readable: true, writable: true });
  }

  /** The descriptor is the caller's. */
  handOver(descriptor: number): void {
    this.theirs.push(descriptor);
  }

  /** The process has its own copies. */
  closeTheirs(): void {
    for (const descriptor of this.#opened.splice(0)) closeSync(descriptor);
  }

  /** There is no process. */
  abandon(): void {
    this.closeTheirs();
    for (const socket of this.#ours) socket.destroy();
  }

  #give(descriptor: number): void {
    this.#opened.push(descriptor);
    this.theirs.push(descriptor);
  }

  #take(descriptor: number, access: { readonly readable: boolean; readonly writable: boolean }): Socket {
    const socket = new Socket({ fd: descriptor, ...access });
    this.#ours.push(socket);
    return socket;
  }
}

/** A process of this one's, with pipes for its standard streams. `executable`: a descriptor. @throws if it cannot be started */
export function spawnProcess(executable: number, { stdio, owner = 0, handed = [], variables }: InitOptions): LaunchedProcess {
  const descriptors = new Descriptors();
  const least = 3 + 1 + handed.length;
  let copies: readonly number[] = [];
  try {
    const [stdin, stdout, stderr] = [descriptors.add(stdio[0], 'in', owner), descriptors.add(stdio[1], 'out', owner), descriptors.add(stdio[2], 'out', owner)];
    const channel = descriptors.addChannel();
    for (const descriptor of handed) descriptors.handOver(descriptor);
    copies = [executable, ...descriptors.theirs].map((descriptor) => copyAbove(descriptor, least));
    const [program, ...theirs] = copies;
    beginReaping();
    // The path is resolved by the new process, which has a copy of the descriptor.
    const pid = posixSpawn({ path: `/proc/self/fd/${program}`, name: 'moor-init', descriptors: theirs, variables });
    return follow(pid, { stdin, stdout, stderr, channel });
  } catch (error) {
    descriptors.abandon();
    throw error;
  } finally {
    descriptors.closeTheirs();
    for (const copy of copies) closeSync(copy);
  }
}

type Streams = Pick<LaunchedProcess, 'stdin' | 'stdout' | 'stderr' | 'channel'>;

/** It is over when it has been waited for and all that it wrote has been read. */
function follow(pid: number, streams: Streams): LaunchedProcess {
  const { stdout, stderr, channel } = streams;
  const read = [stdout, stderr, channel].flatMap((stream) => stream ?? []);
  const closed = Promise.all(read.map((stream) => new Promise<void>((resolve) => void stream.once('close', resolve))));
  let hasEnded = false;
  const ended = new Promise<number>((resolve) => {
    running.set(pid, (status) => {
      hasEnded = true;
      streams.stdin?.destroy();
      // What is left is read, even if it waited for a client.
      for (const stream of read) stream.resume();
      resolve(status);
    });
  });
  const over = closed.then(() => ended);
  return {
    pid,
    ...streams,
    get hasEnded() {
      return hasEnded;
    },
    onClose: (listener) => void over.then((status) => listener(exitCodeOf(status))),
  };
}

/** As a shell: 128 and the signal, for a process that one ended. */
function exitCodeOf(status: number): number {
  const signal = status & 0x7f;
  return signal === 0 ? (status >> 8) & 0xff : 128 + signal;
}
