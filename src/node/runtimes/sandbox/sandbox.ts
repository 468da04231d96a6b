import { mkdir, realpath } from 'node:fs/promises';
import { connect } from 'node:net';
import path from 'node:path';
import type { Duplex } from 'node:stream';
import type { Cancel, World } from '../../../world/world.ts';
import type { ContainerMount } from '../../contract.ts';
import type {
  AttachOptions,
  ContainerLimits,
  ContainerRun,
  ContainerSpec,
  ExecOptions,
  PodSandbox,
  PodSandboxSpec,
  PodState,
  Result,
  Runtime,
  Session,
} from '../../runtime.ts';
import { layoutOf } from './shim/layout.ts';
import { oldFiles } from './shim/log-file.ts';
import { ShimClient } from './shim-client.ts';
import type { ShimCall } from './protocol.ts';
import { duplexOf, sessionOver } from './session.ts';

export interface SandboxOptions {
  readonly world: World;
  /** The directory of the runtime's state, the same as the shim's. */
  readonly root: string;
  /** The command that starts a shim. */
  readonly shim: readonly string[];
  readonly version: string;
}

/** Containers as processes of this host, over its own files. The shim runs them; this is the agent's side. */
export function sandboxRuntime(options: SandboxOptions): Runtime {
  return new SandboxRuntime(options);
}

class SandboxRuntime implements Runtime {
  readonly name = 'sandbox';
  readonly version: string;
  readonly #options: SandboxOptions;
  readonly #shim: ShimClient;
  readonly #pods = new Map<string, PodState>();
  readonly #listeners = new Set<(uid: string) => void>();
  #closed = false;

  constructor(options: SandboxOptions) {
    this.version = options.version;
    this.#options = options;
    this.#shim = new ShimClient({
      ...options,
      onPod: (pod) => this.#podChanged(pod),
      onGone: (uid) => {
        this.#pods.delete(uid);
        this.#notify(uid);
      },
      onLost: () => this.#reopen(),
    });
  }

  async recover(): Promise<readonly PodState[]> {
    await this.#shim.open();
    return [...this.#pods.values()];
  }

  pod(uid: string): PodState | undefined {
    return this.#pods.get(uid);
  }

  observe(listener: (uid: string) => void): Cancel {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async startPod(spec: PodSandboxSpec): Promise<Result<PodSandbox>> {
    return this.#call<PodSandbox>({ call: 'start-pod', spec });
  }

  async limitPod(uid: string, limits: ContainerLimits): Promise<Result<undefined>> {
    return this.#call<undefined>({ call: 'limit-pod', uid, limits });
  }

  async stopPod(uid: string): Promise<void> {
    await this.#call({ call: 'stop-pod', uid });
  }

  async removePod(uid: string): Promise<void> {
    await this.#call({ call: 'remove-pod', uid });
  }

  async startContainer(spec: ContainerSpec): Promise<Result<ContainerRun>> {
    const mounts = await Promise.all(spec.mounts.map(onHost));
    return this.#call<ContainerRun>({ call: 'start-container', spec: { ...spec, mounts } });
  }

  async stopContainer(id: string, graceMs: number): Promise<void> {
    await this.#call({ call: 'stop-container', id, graceMs });
  }

  async limitContainer(id: string, limits: ContainerLimits): Promise<Result<undefined>> {
    return this.#call<undefined>({ call: 'limit-container', id, limits });
  }

  async removeContainer(id: string): Promise<void> {
    await this.#call({ call: 'remove-container', id });
  }

  async exec(id: string, options: ExecOptions): Promise<Result<Session>> {
    const opened = await this.#shim.session({ open: 'exec', id, ...options });
    if (!opened.ok) return opened;
    return { ok: true, value: sessionOver(opened.value.socket, { stdin: options.stdin, stdout: true, stderr: !options.tty }) };
  }

  async attach(id: string, options: AttachOptions): Promise<Result<Session>> {
    const opened = await this.#shim.session({ open: 'attach', id, ...options });
    if (!opened.ok) return opened;
    const { socket, answer } = opened.value;
    return { ok: true, value: sessionOver(socket, { stdin: answer.stdin, stdout: options.stdout, stderr: options.stderr && !answer.tty }) };
  }

  /** By the pod's address if something listens there; else from inside its network namespace, by its loopback. */
  async connect(uid: string, port: number): Promise<Result<Duplex>> {
    const sandbox = this.#pods.get(uid)?.sandbox;
    if (sandbox === undefined) return { ok: false, error: { reason: 'not-found', message: 'the pod does not run' } };
    const direct = await dial(sandbox.ips[0] ?? '127.0.0.1', port);
    if (direct !== undefined) return { ok: true, value: direct };
    const opened = await this.#shim.session({ open: 'connect', uid, port });
    if (!opened.ok) return opened;
    return { ok: true, value: duplexOf(sessionOver(opened.value.socket, { stdin: true, stdout: true, stderr: false })) };
  }

  async logFiles(id: string): Promise<readonly string[]> {
    for (const pod of this.#pods.values()) {
      const run = pod.runs.find((each) => each.id === id);
      if (run === undefined) continue;
      const layout = layoutOf(this.#options.root);
      const current = path.join(layout.logs(pod, run.name), `${run.attempt}.log`);
      return [...oldFiles(current), current];
    }
    return [];
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#shim.close();
  }

  /** An answer may arrive before the pod's state: then the answer's state counts. */
  async #call<T>(call: ShimCall): Promise<Result<T>> {
    return (await this.#shim.call(call)) as Result<T>;
  }

  #podChanged(pod: PodState): void {
    this.#pods.set(pod.uid, pod);
    this.#notify(pod.uid);
  }

  #notify(uid: string): void {
    for (const listener of this.#listeners) listener(uid);
  }

  /** The next shim reports the containers of the lost one as ended. */
  #reopen(): void {
    const { world } = this.#options;
    const attempt = (): void => {
      if (this.#closed) return;
      this.#shim.open().catch((error: unknown) => {
        world.log.error('the container shim cannot be reached', { error: String(error) });
        world.timers.after(reopenMs, attempt);
      });
    };
    attempt();
  }
}

const reopenMs = 1000;

/**
 * With symbolic links resolved on the host: inside, they would lead to the container's own files. A missing directory of the host is made, as containerd does.
 * Other errors appear when the container is created.
 */
async function onHost(mount: ContainerMount): Promise<ContainerMount> {
  if (mount.imageLayers !== undefined) return mount;
  const find = () => realpath(mount.hostPath);
  const make = () => mkdir(mount.hostPath, { recursive: true, mode: 0o755 }).then(find);
  const hostPath = await find().catch((error: { readonly code?: string }) => (error.code === 'ENOENT' ? make().catch(() => mount.hostPath) : mount.hostPath));
  return { ...mount, hostPath };
}

/** Undefined: nothing listens there. */
function dial(host: string, port: number): Promise<Duplex | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    socket.once('error', () => resolve(undefined));
    socket.once('connect', () => resolve(socket));
  });
}
