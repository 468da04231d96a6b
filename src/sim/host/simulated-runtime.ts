import type { Duplex } from 'node:stream';
import type {
  ContainerRun,
  ContainerSpec,
  PodSandbox,
  PodSandboxSpec,
  PodState,
  Result,
  Runtime,
  RuntimeFailure,
  ScriptedContainers,
  Session,
} from '../../node/runtime.ts';
import type { Cancel } from '../../world/world.ts';
import { never, type SimulatedProcess } from '../world/process.ts';
import type { SimulatedMachine } from './simulated-machine.ts';

export interface SimulatedRuntimeOptions {
  readonly process: SimulatedProcess;
  readonly machine: SimulatedMachine;
  /** Awaited before each call takes effect. */
  readonly call: () => Promise<void>;
}

/** The containers of a simulated machine, as one agent uses them. */
export class SimulatedRuntime implements Runtime {
  readonly name = 'simulated';
  readonly version = '';
  readonly #options: SimulatedRuntimeOptions;
  readonly #listeners = new Set<(uid: string) => void>();

  constructor(options: SimulatedRuntimeOptions) {
    this.#options = options;
    const { process, machine } = options;
    machine.containers.listener = (uid) => process.timers.soon(() => this.#listeners.forEach((listener) => listener(uid)));
  }

  readonly scripted: ScriptedContainers = {
    health: (id) => {
      const runs = this.#options.machine.containers.isRunning(id);
      return { started: runs, ready: runs, failed: undefined };
    },
    problems: () => [],
  };

  recover(): Promise<readonly PodState[]> {
    return this.#call(() => this.#options.machine.containers.states());
  }

  pod(uid: string): PodState | undefined {
    return this.#options.machine.containers.pod(uid);
  }

  observe(listener: (uid: string) => void): Cancel {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  startPod(spec: PodSandboxSpec): Promise<Result<PodSandbox>> {
    return this.#call(() => ({ ok: true, value: this.#options.machine.containers.startPod(spec) }));
  }

  stopPod(uid: string): Promise<void> {
    return this.#call(() => this.#options.machine.containers.stopPod(uid));
  }

  removePod(uid: string): Promise<void> {
    return this.#call(() => this.#options.machine.containers.removePod(uid));
  }

  async startContainer(spec: ContainerSpec): Promise<Result<ContainerRun>> {
    const { machine, call } = this.#options;
    await call();
    await machine.observeStart(spec.podUid, spec.mounts);
    return this.#call(() => {
      const run = machine.containers.start(spec);
      return run === undefined ? failure('failed', `pod ${spec.podUid} has no sandbox`) : { ok: true, value: run };
    });
  }

  async stopContainer(id: string): Promise<void> {
    const { machine, process, call } = this.#options;
    await call();
    if (machine.containers.isRunning(id)) await new Promise<void>((resolve) => machine.containers.stop(id, resolve));
    if (!process.alive) await never();
  }

  limitPod(): Promise<Result<undefined>> {
    return this.#call(() => ({ ok: true, value: undefined }));
  }

  limitContainer(): Promise<Result<undefined>> {
    return this.#call(() => ({ ok: true, value: undefined }));
  }

  removeContainer(): Promise<void> {
    return this.#call(() => undefined);
  }

  exec(): Promise<Result<Session>> {
    return Promise.resolve(unsupported);
  }

  attach(): Promise<Result<Session>> {
    return Promise.resolve(unsupported);
  }

  connect(): Promise<Result<Duplex>> {
    return Promise.resolve(unsupported);
  }

  logFiles(): Promise<readonly string[]> {
    return Promise.resolve([]);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  async #call<T>(effect: () => T): Promise<T> {
    await this.#options.call();
    const value = effect();
    await this.#options.process.untilResumed(undefined);
    return value;
  }
}

const failure = (reason: RuntimeFailure['reason'], message: string): { readonly ok: false; readonly error: RuntimeFailure } => ({
  ok: false,
  error: { reason, message },
});

const unsupported = failure('unsupported', 'nothing really runs on a simulated machine');
