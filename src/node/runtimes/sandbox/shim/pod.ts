import { randomBytes } from 'node:crypto';
import { closeSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Readable } from 'node:stream';
import type { ContainerRun, ContainerSpec, PodSandbox, PodSandboxSpec, PodState, Result } from '../../../runtime.ts';
import { clone } from '../init/linux.ts';
import { type ContainerCheckpoint, type HeldNamespaces, ShimContainer, type ShimContainerContext } from './container.ts';
import type { Network } from './network.ts';
import { childrenOf, isAlive, launch, signal } from './processes.ts';
import { namesIn, readState, writeState } from './state-files.ts';
import { setSysctls } from './sysctls.ts';

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

/** Runs of one container that are kept: the current one and the one before. */
const keptRuns = 2;

/** A pod: its pause process and its containers. */
export class ShimPod {
  readonly uid: string;
  readonly #context: ShimPodContext;
  #checkpoint: PodCheckpoint;
  #containers: ShimContainer[] = [];
  /** A descriptor that stands for the pause process. */
  #pauseProcess: number | undefined;

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

  /** Those of the pause process that the containers share. */
  get #namespaces(): HeldNamespaces {
    const { hostIpc, sharesProcesses = false } = this.#checkpoint.spec;
    if (this.#pauseProcess === undefined) throw new Error('the pod has no sandbox');
    const shared = (hostIpc ? 0 : clone.newIpc) | (sharesProcesses ? clone.newProcesses : 0);
    return { process: this.#pauseProcess, flags: (this.hasNetwork ? clone.newNetwork | clone.newHostname : 0) | shared };
  }

  async start(): Promise<Result<PodSandbox>> {
    const { spec } = this.#checkpoint;
    const { layout } = this.#context;
    if (this.#checkpoint.pause !== undefined && isAlive(this.#checkpoint.pause)) return { ok: true, value: { ips: this.#checkpoint.ips } };
    mkdirSync(layout.containers(this.uid), { recursive: true, mode: 0o700 });
    const files = layout.files(this.uid);
    writeFileSync(files.hosts, spec.hosts);
    writeFileSync(files.resolvConf, spec.resolvConf ?? tryRead('/etc/resolv.conf'));
    writeFileSync(files.hostname, `${spec.hostname}\n`);
    try {
      this.#context.controlGroups.makePod(this.uid);
    } catch (error) {
      return { ok: false, error: { reason: 'failed', message: (error as Error).message } };
    }
    const started = await this.#startPause();
    if (typeof started === 'string') return { ok: false, error: { reason: 'failed', message: started } };
    const wrong = await setSysctls(spec, started);
    if (wrong !== '') {
      signal(started, 'SIGKILL');
      return { ok: false, error: { reason: 'failed', message: wrong } };
    }
    this.#save({ spec, pause: started, ips: spec.address === undefined ? [] : [spec.address] });
    return { ok: true, value: { ips: this.#checkpoint.ips } };
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
    if (checkpoint.pause === undefined && this.#pauseProcess !== undefined) {
      closeSync(this.#pauseProcess);
      this.#pauseProcess = undefined;
    }
    writeState(this.#context.layout.podCheckpoint(this.uid), checkpoint);
    this.#context.onChange(this.uid);
  }

  /** Resolves with its process id, or with the error. */
  async #startPause(): Promise<number | string> {
    const { network, layout } = this.#context;
    const { address, hostname, hostIpc, sharesProcesses = false } = this.#checkpoint.spec;
    const own = [
      ...(address === undefined ? [] : ['--net', '--uts']),
      ...(hostIpc ? [] : ['--ipc']),
      ...(sharesProcesses ? ['--pid', '--fork', '--kill-child'] : []),
    ];
    const lines = address === undefined ? [] : network.inside(address);
    const setUp = address === undefined ? '' : `echo "$0" >/proc/sys/kernel/hostname; read -r go && ip -batch - >&2 && `;
    // As the first process of a namespace it inherits the children of others: the kernel forgets them as they end.
    const script = `echo u >&3; ${setUp}echo r >&3 && exec 3>&- && trap '' CHLD && exec sleep infinity </dev/null 2>/dev/null`;
    const child = launch(['unshare', ...own, 'sh', '-c', script, hostname], { stdio: ['pipe', 'ignore', 'pipe', 'pipe'], mark: layout.mark(this.uid) });
    child.stdin?.on('error', () => undefined);
    const report = reports(child.stdio[3] as Readable);
    let said = '';
    child.stderr?.on('data', (chunk: Buffer) => {
      if (said.length < 4096) said += chunk.toString();
    });
    child.on('error', (error) => (said += error.message));
    const isUp = await report.until('u\n');
    const pid = sharesProcesses ? childrenOf(child.pid ?? 0)[0] : child.pid;
    if (!isUp || pid === undefined) return said || 'no namespaces';
    const wrong = address === undefined ? '' : await network.connect(this.uid, pid);
    if (wrong === '') child.stdin?.end(['go', ...lines, ''].join('\n'));
    const isReady = wrong === '' && (await report.until('r\n'));
    if (!isReady) signal(pid, 'SIGKILL');
    child.stderr?.destroy();
    child.unref();
    // Without the pause process there is no sandbox; its process id may be reused.
    child.once('exit', () => (this.#checkpoint.pause === pid ? this.#save({ ...this.#checkpoint, pause: undefined }) : undefined));
    if (isReady) this.#pauseProcess = this.#context.inits.openProcess(pid);
    return isReady ? pid : wrong || said || 'it could not be set up';
  }
}

/** Waits for the reports that a process writes to a pipe. */
function reports(pipe: Readable): { readonly until: (end: string) => Promise<boolean> } {
  let text = '';
  let isOver = false;
  let look = (): void => undefined;
  pipe.on('data', (chunk: Buffer) => {
    text += chunk.toString();
    look();
  });
  pipe.on('close', () => {
    isOver = true;
    look();
  });
  const until = (end: string) =>
    new Promise<boolean>((resolve) => {
      look = () => {
        if (text.includes(end)) resolve(true);
        else if (isOver) resolve(false);
      };
      look();
    });
  return { until };
}

function tryRead(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
