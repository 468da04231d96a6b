import { randomBytes } from 'node:crypto';
import { closeSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { ContainerLimits, ContainerRun, ContainerSpec, PodSandbox, PodSandboxSpec, PodState, Result } from '../../../runtime.ts';
import { pauseInit, podNamespaces } from '../init/pause-init.ts';
import { failureOf } from '../init/reports.ts';
import { type ContainerCheckpoint, type HeldNamespaces, ShimContainer, type ShimContainerContext } from './container.ts';
import type { Network } from './network.ts';
import { followInit } from './init-process.ts';
import { isAlive, marking, signal } from './processes.ts';
import { namesIn, readState, writeState } from './state-files.ts';

/** The state of a pod on disk. */
export interface PodCheckpoint {
  readonly spec: PodSandboxSpec;
  /** The pause process, which holds the namespaces; undefined: there is no sandbox (any more). */
  readonly pause: number | undefined;
  readonly ips: readonly string[];
}

export interface ShimPodContext extends Omit<ShimContainerContext, 'namespaces' | 'processOf' | 'onChange'> {
  readonly network: Network;
  readonly onChange: (uid: string) => void;
}

/** The kubelet's first line of a file that begins with the host's. */
const hostHeader = '# Kubernetes-managed hosts file (host network).\n';

/** Runs of one container that are kept: the current one and the one before. */
const keptRuns = 2;

/** A pod: its pause process and its containers. */
export class ShimPod {
  readonly uid: string;
  readonly #context: ShimPodContext;
  #checkpoint: PodCheckpoint;
  #containers: ShimContainer[] = [];
  /** The process that has the namespaces: a descriptor. */
  #holder: { readonly process: number } | undefined;

  constructor(checkpoint: PodCheckpoint, context: ShimPodContext) {
    this.uid = checkpoint.spec.uid;
    this.#checkpoint = checkpoint;
    this.#context = context;
  }

  get state(): PodState {
    const { spec, pause, ips } = this.#checkpoint;
    const { uid, namespace, name } = spec;
    const runs = this.#containers.filter(({ begun }) => begun).map(({ run }) => run);
    return { uid, namespace, name, sandbox: pause === undefined ? undefined : { ips }, runs };
  }

  get pause(): number | undefined {
    return this.#checkpoint.pause;
  }

  container(id: string): ShimContainer | undefined {
    return this.#containers.find(({ run }) => run.id === id);
  }

  /** Whether it has a network namespace of its own. */
  get hasNetwork(): boolean {
    return this.#checkpoint.spec.address !== undefined;
  }

  /** The namespaces that it does not share with the host. */
  get #own() {
    const { address, hostIpc, sharesProcesses = false } = this.#checkpoint.spec;
    return { network: address, ownIpc: !hostIpc, sharesProcesses };
  }

  /** Those of the pause process that the containers enter. */
  get #namespaces(): HeldNamespaces {
    if (this.#holder === undefined) throw new Error('the pod has no sandbox');
    return { ...this.#holder, flags: podNamespaces(this.#own) };
  }

  async start(): Promise<Result<PodSandbox>> {
    const { spec } = this.#checkpoint;
    const { layout } = this.#context;
    if (this.#checkpoint.pause !== undefined && isAlive(this.#checkpoint.pause)) return { ok: true, value: { ips: this.#checkpoint.ips } };
    mkdirSync(layout.containers(this.uid), { recursive: true, mode: 0o700 });
    const files = layout.files(this.uid);
    writeFileSync(files.hosts, spec.address === undefined ? `${hostHeader}${tryRead('/etc/hosts')}${spec.hosts}` : spec.hosts);
    writeFileSync(files.resolvConf, spec.resolvConf ?? tryRead('/etc/resolv.conf'));
    writeFileSync(files.hostname, `${spec.hostname}\n`);
    try {
      this.#context.controlGroups.makePod(this.uid, spec.resources);
    } catch (error) {
      return { ok: false, error: { reason: 'failed', message: (error as Error).message } };
    }
    const started = await this.#startPause();
    if (typeof started === 'string') return { ok: false, error: { reason: 'failed', message: started } };
    this.#save({ spec, pause: started, ips: spec.address === undefined ? [] : [spec.address] });
    return { ok: true, value: { ips: this.#checkpoint.ips } };
  }

  limit(limits: ContainerLimits): Result<undefined> {
    try {
      this.#context.controlGroups.limitPod(this.uid, limits);
      return { ok: true, value: undefined };
    } catch (error) {
      return { ok: false, error: { reason: 'failed', message: (error as Error).message } };
    }
  }

  async startContainer(spec: ContainerSpec): Promise<Result<ContainerRun>> {
    if (this.#checkpoint.pause === undefined) return { ok: false, error: { reason: 'not-found', message: 'the pod has no sandbox' } };
    const same = this.#containers.find((each) => each.spec.name === spec.name && each.spec.attempt === spec.attempt);
    // A repeated call: the agent did not get the answer.
    if (same !== undefined) return { ok: true, value: same.run };
    const run: ContainerRun = {
      id: randomBytes(32).toString('hex'),
      name: spec.name,
      attempt: spec.attempt,
      image: spec.image,
      ...(spec.imageId === undefined ? {} : { imageId: spec.imageId }),
      ...(spec.imageVolumes === undefined ? {} : { imageVolumes: spec.imageVolumes }),
      state: { type: 'running', startedAt: 0 },
    };
    const logDirectory = this.#context.layout.logs(this.#checkpoint.spec, spec.name);
    const container = this.#addContainer({ spec, run, logDirectory });
    this.#dropOldRuns(spec.name);
    return container.start();
  }

  async stop(): Promise<void> {
    await Promise.all(this.#containers.map((container) => container.stop(0)));
    const { pause } = this.#checkpoint;
    if (pause === undefined) return;
    signal(pause, 'SIGKILL');
    this.#save({ ...this.#checkpoint, pause: undefined });
  }

  remove(): void {
    const { layout } = this.#context;
    for (const container of this.#containers) container.remove();
    this.#context.controlGroups.removePod(this.uid);
    rmSync(layout.pod(this.uid), { recursive: true, force: true });
    rmSync(path.dirname(layout.logs(this.#checkpoint.spec, 'any')), { recursive: true, force: true });
  }

  removeContainer(id: string): void {
    const container = this.container(id);
    if (container?.run.state.type !== 'exited') return;
    container.remove();
    this.#containers = this.#containers.filter((each) => each !== container);
    this.#context.onChange(this.uid);
  }

  /** Reads the containers that an earlier shim left: they have lost the other ends of their pipes. */
  recover(): void {
    const { layout } = this.#context;
    for (const name of namesIn(layout.containers(this.uid)).filter((each) => each.endsWith('.json'))) {
      const checkpoint = readState(path.join(layout.containers(this.uid), name)) as ContainerCheckpoint | undefined;
      if (checkpoint !== undefined) this.#addContainer(checkpoint).markLost();
    }
    this.#containers.sort((a, b) => a.run.state.startedAt - b.run.state.startedAt || a.spec.attempt - b.spec.attempt);
    if (this.#checkpoint.pause !== undefined) this.#save({ ...this.#checkpoint, pause: undefined });
  }

  #addContainer(checkpoint: ContainerCheckpoint): ShimContainer {
    const container = new ShimContainer(checkpoint, {
      ...this.#context,
      namespaces: () => this.#namespaces,
      processOf: (name) => this.#containers.findLast(({ run }) => run.name === name && run.state.type === 'running')?.process,
      onChange: () => this.#context.onChange(this.uid),
    });
    this.#containers.push(container);
    return container;
  }

  #dropOldRuns(name: string): void {
    const old = this.#containers.filter((each) => each.spec.name === name && each.run.state.type === 'exited').slice(0, -(keptRuns - 1));
    for (const { run } of old) this.removeContainer(run.id);
  }

  #save(checkpoint: PodCheckpoint): void {
    this.#checkpoint = checkpoint;
    if (checkpoint.pause === undefined) this.#release(this.#holder);
    writeState(this.#context.layout.podCheckpoint(this.uid), checkpoint);
    this.#context.onChange(this.uid);
  }

  /** A later sandbox may have another holder already. */
  #release(holder: { readonly process: number } | undefined): void {
    if (holder === undefined || this.#holder !== holder) return;
    closeSync(holder.process);
    this.#holder = undefined;
  }

  /** Resolves with its process id, or with the error. */
  #startPause(): Promise<number | string> {
    const { network, layout, inits } = this.#context;
    const { address, hostname, sysctls = [], fromHostLoopback } = this.#checkpoint.spec;
    const launched = inits.launch(
      pauseInit({
        ...this.#own,
        network: address === undefined ? undefined : { ...network.inside(address), hostname },
        sysctls,
        scratch: layout.scratch,
      }),
      { stdio: ['ignore', 'ignore', 'ignore'], variables: marking(layout.mark(this.uid)) },
    );
    const { pid } = launched.child;
    return new Promise((resolve) => {
      let wrong = '';
      let holder: { readonly process: number } | undefined;
      followInit(launched, {
        waitsItself: true,
        onWaiting: async (first) => {
          if (pid === undefined) return false;
          const process = inits.openProcess(first || pid);
          this.#release(this.#holder);
          holder = process === undefined ? undefined : { process };
          this.#holder = holder;
          wrong = address === undefined ? '' : await network.connect(this.uid, { pid, address, fromHostLoopback });
          return wrong === '';
        },
        onExecuted: () => resolve(pid ?? 'it has no process'),
        // Without the pause process there is no sandbox; its process id may be reused.
        onEnd: ({ failure, exitCode }) => {
          if (this.#checkpoint.pause === pid) this.#save({ ...this.#checkpoint, pause: undefined });
          this.#release(holder);
          resolve(wrong || (failure === undefined ? `it ended with ${exitCode}` : failureOf(failure)));
        },
      });
    });
  }
}

function tryRead(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
