import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import path from 'node:path';
import type { World } from '../../../world/world.ts';
import type { PodState, Result, RuntimeFailure } from '../../runtime.ts';
import { defaultPath } from './init/execute.ts';
import { socketOf } from './shim/layout.ts';
import { marking } from './shim/processes.ts';
import { type ShimCall, lineReader, type ShimOpening, type SessionAnswer, type ShimMessage } from './protocol.ts';

export interface ShimClientOptions {
  readonly world: World;
  readonly root: string;
  /** The command that starts a shim, with its settings as arguments. */
  readonly shim: readonly string[];
  readonly onPod: (pod: PodState) => void;
  readonly onGone: (uid: string) => void;
  /** The shim ended, and its containers with it. */
  readonly onLost: () => void;
}

/** How long a shim may take to listen, and the interval of the checks. */
const startMs = 60_000;
const checkEveryMs = 10;

/** The agent's connection to its container shim, which is started if there is none. */
export class ShimClient {
  readonly #options: ShimClientOptions;
  #control: Socket | undefined;
  #opening: Promise<void> | undefined;
  #number = 0;
  readonly #calls = new Map<number, (result: Result<unknown>) => void>();
  #closed = false;

  constructor(options: ShimClientOptions) {
    this.#options = options;
  }

  /** Resolves once the shim has sent all its pods. @throws if no shim can be started */
  open(): Promise<void> {
    this.#opening ??= this.#open().catch((error: unknown) => {
      this.#opening = undefined;
      throw error;
    });
    return this.#opening;
  }

  async call(call: ShimCall): Promise<Result<unknown>> {
    try {
      await this.open();
    } catch (error) {
      return failed(String(error));
    }
    const number = ++this.#number;
    return new Promise((resolve) => {
      this.#calls.set(number, resolve);
      this.#control?.write(`${JSON.stringify({ number, ...call })}\n`);
    });
  }

  /** A connection for one session, once the shim has accepted it. Bytes after the answer are put back into the socket. */
  async session(opening: ShimOpening): Promise<Result<{ readonly socket: Socket; readonly answer: Extract<SessionAnswer, { ok: true }> }>> {
    const socket = await dial(socketOf(this.#options.root)).catch((error: Error) => error);
    if (socket instanceof Error) return failed(socket.message);
    socket.write(`${JSON.stringify(opening)}\n`);
    const answer = await firstLine(socket);
    if (answer === undefined) return failed('the container shim has ended');
    return answer.ok ? { ok: true, value: { socket, answer } } : { ok: false, error: answer.error };
  }

  close(): void {
    this.#closed = true;
    this.#control?.destroy();
  }

  async #open(): Promise<void> {
    const socket = await this.#connect();
    this.#control = socket;
    await new Promise<void>((resolve, reject) => {
      socket.on(
        'data',
        lineReader((line) => this.#receive(JSON.parse(line) as ShimMessage, resolve)),
      );
      socket.on('error', () => socket.destroy());
      socket.on('close', () => {
        reject(new Error('the container shim has ended'));
        this.#disconnected();
      });
      socket.write(`${JSON.stringify({ open: 'control' } satisfies ShimOpening)}\n`);
    });
  }

  async #connect(): Promise<Socket> {
    const { root, world } = this.#options;
    const found = await dial(socketOf(root)).catch(() => undefined);
    if (found !== undefined) return found;
    this.#launch();
    const until = world.clock.monotonic() + startMs;
    for (;;) {
      const socket = await dial(socketOf(root)).catch((error: Error) => error);
      if (!(socket instanceof Error)) return socket;
      if (world.clock.monotonic() > until) throw new Error(`the container shim does not start: ${socket.message} (its log is ${this.#logFile})`);
      await new Promise<void>((resolve) => void world.timers.after(checkEveryMs, resolve));
    }
  }

  get #logFile(): string {
    return path.join(this.#options.root, 'shim.log');
  }

  #launch(): void {
    const { root, shim } = this.#options;
    const [program = '', ...args] = shim;
    mkdirSync(root, { recursive: true, mode: 0o700 });
    const log = openSync(this.#logFile, 'a', 0o600);
    // In a session of its own: signals to the agent's session do not end it.
    const child = spawn(program, args, { detached: true, stdio: ['ignore', log, log], cwd: '/', env: { PATH: defaultPath, ...marking(`shim ${root}`) } });
    child.on('error', (error) => this.#options.world.log.error('the container shim cannot be started', { error: error.message }));
    child.unref();
    closeSync(log);
  }

  #receive(told: ShimMessage, ready: () => void): void {
    switch (told.tell) {
      case 'all':
        return ready();
      case 'pod':
        return this.#options.onPod(told.pod);
      case 'gone':
        return this.#options.onGone(told.uid);
      case 'answer':
        return this.#settle(told.number, { ok: true, value: told.value });
      case 'failure':
        return this.#settle(told.number, { ok: false, error: told.error });
    }
  }

  #settle(number: number, result: Result<unknown>): void {
    this.#calls.get(number)?.(result);
    this.#calls.delete(number);
  }

  #disconnected(): void {
    this.#control = undefined;
    this.#opening = undefined;
    for (const number of this.#calls.keys()) this.#settle(number, failed('the container shim has ended'));
    if (!this.#closed) this.#options.onLost();
  }
}

const failed = (message: string): { readonly ok: false; readonly error: RuntimeFailure } => ({ ok: false, error: { reason: 'failed', message } });

function dial(file: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(file);
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.off('error', reject);
      resolve(socket);
    });
  });
}

/** Undefined: it ended without one. */
function firstLine(socket: Socket): Promise<SessionAnswer | undefined> {
  return new Promise((resolve) => {
    let head = Buffer.alloc(0);
    const onEnd = (): void => resolve(undefined);
    const onData = (chunk: Buffer): void => {
      head = Buffer.concat([head, chunk]);
      const end = head.indexOf(10);
      if (end < 0) return;
      socket.off('data', onData).off('close', onEnd);
      socket.pause();
      if (head.length > end + 1) socket.unshift(head.subarray(end + 1));
      resolve(JSON.parse(head.subarray(0, end).toString()) as SessionAnswer);
    };
    socket.on('error', () => socket.destroy());
    socket.on('close', onEnd);
    socket.on('data', onData);
  });
}
