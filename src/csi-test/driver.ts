import { createClient } from '../grpc/client.ts';
import { Controller, GroupController, Identity, Node } from '../grpc/generated/csi.ts';
import { Http2Channel } from '../grpc/http2-channel.ts';
import { RpcError } from '../grpc/status.ts';
import type { Processes, RunningProcess } from '../world/processes.ts';
import type { Clock, Timers } from '../world/world.ts';
import type { CsiClients } from './capabilities.ts';
import { Proxy } from './proxy.ts';

export interface DriverOptions {
  /** 'unix:///run/csi.sock' */
  readonly endpoint: string;
  /** Of the controller service, if it is another one. */
  readonly controllerEndpoint?: string;
  /** The program and its arguments, if this command starts the driver. */
  readonly command?: readonly string[];
  /** Empties the driver's folder, if it is this command's. */
  readonly reset?: () => Promise<void>;
  readonly processes: Processes;
  readonly timers: Timers;
  readonly clock: Clock;
  /** Of each call, and of a start. */
  readonly timeoutMs: number;
}

/** The driver could not be started, or does not answer. */
export class DriverUnavailable extends Error {
  override readonly name = 'DriverUnavailable';
}

/** The driver under test: its services, and its process if this command started it. */
export class Driver implements CsiClients {
  readonly identity: CsiClients['identity'];
  readonly controller: CsiClients['controller'];
  readonly group: CsiClients['group'];
  readonly node: CsiClients['node'];
  /** Calls of the controller and group services go through the first, all others through the second. */
  readonly controllerProxy: Proxy;
  readonly nodeProxy: Proxy;
  readonly canRestart: boolean;
  readonly #options: DriverOptions;
  #process: RunningProcess | undefined;
  /** Of processes that ended. */
  #earlierOutput = '';

  constructor(options: DriverOptions) {
    this.#options = options;
    const { timers, timeoutMs, endpoint, controllerEndpoint } = options;
    const proxyTo = (address: string): Proxy => new Proxy({ connect: () => new Http2Channel({ address, timers }), timers, timeoutMs });
    this.nodeProxy = proxyTo(endpoint);
    this.controllerProxy = controllerEndpoint === undefined ? this.nodeProxy : proxyTo(controllerEndpoint);
    this.identity = createClient(Identity, this.nodeProxy);
    this.controller = createClient(Controller, this.controllerProxy);
    this.group = createClient(GroupController, this.controllerProxy);
    this.node = createClient(Node, this.nodeProxy);
    this.canRestart = options.command !== undefined;
  }

  /** Starts the process, if it is this command's, and waits until it is ready. */
  async start(): Promise<void> {
    const { command: [file, ...args] = [], processes, endpoint } = this.#options;
    if (file !== undefined) this.#process = processes.start(file, args, { variables: { CSI_ENDPOINT: endpoint } });
    await this.#untilReady();
  }

  /** How the process ended by itself; undefined: it runs, or is not this command's. */
  async unexpectedEnd(): Promise<string | undefined> {
    return this.#process === undefined || this.#process.isRunning ? undefined : this.#process.ended;
  }

  /** Of a driver that is not this command's: unknown, and taken to be so. */
  get isRunning(): boolean {
    return !this.canRestart || this.#process?.isRunning === true;
  }

  /** SIGKILL, as by a crash. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  async restart(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
    await this.#end(signal);
    await this.start();
  }

  /** Starts without the data that keeps the driver from starting. False: this command may not remove it. */
  async startEmpty(): Promise<boolean> {
    if (this.#options.reset === undefined) return false;
    await this.#end('SIGKILL');
    await this.#options.reset();
    await this.start();
    return true;
  }

  async close(): Promise<void> {
    await this.#end('SIGTERM');
  }

  /** What the driver wrote, this time and before its restarts. */
  log(): string {
    return this.#earlierOutput + (this.#process?.output() ?? '');
  }

  async #end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    this.nodeProxy.close();
    this.controllerProxy.close();
    const ending = this.#process;
    if (ending === undefined) return;
    this.#process = undefined;
    ending.signal(signal);
    const cancel = this.#options.timers.after(gracePeriodMs, () => ending.signal('SIGKILL'));
    await ending.ended;
    cancel();
    this.#earlierOutput = (this.#earlierOutput + ending.output()).slice(-mostEarlierOutput);
  }

  async #untilReady(): Promise<void> {
    const { clock, timers, timeoutMs, endpoint } = this.#options;
    const end = clock.monotonic() + Math.max(timeoutMs, startTimeoutMs);
    for (let waitMs = 2; ; waitMs = Math.min(waitMs * 2, 50)) {
      const problem = await this.#problemOfProbe();
      if (problem === undefined) return;
      const ended = await this.unexpectedEnd();
      const missing = /^spawn (.+) ENOENT$/.exec(ended ?? '')?.[1];
      if (missing !== undefined) throw new DriverUnavailable(`the driver cannot be started: there is no program "${missing}" at this path, or on the PATH`);
      if (ended !== undefined) throw new DriverUnavailable(`the driver ended (${ended}) before it answered Probe`);
      if (clock.monotonic() > end) throw new DriverUnavailable(`the driver at ${endpoint} is not ready: ${problem}`);
      await new Promise<void>((resolve) => void timers.after(waitMs, resolve));
    }
  }

  async #problemOfProbe(): Promise<string | undefined> {
    try {
      const { ready } = await this.identity.probe({});
      return ready === false ? 'Probe answers ready = false' : undefined;
    } catch (error) {
      this.nodeProxy.close();
      return error instanceof RpcError ? `Probe: ${error.code} ${error.message}` : String(error);
    }
  }
}

const gracePeriodMs = 5000;
const startTimeoutMs = 20_000;
const mostEarlierOutput = 64 * 1024;
