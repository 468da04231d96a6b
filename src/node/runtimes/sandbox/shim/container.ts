import { chmodSync, closeSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { constants, totalmem } from 'node:os';
import path from 'node:path';
import type { Writable } from 'node:stream';
import type { Cancel, World } from '../../../../world/world.ts';
import type { ContainerDevice } from '../../../contract.ts';
import type { ContainerEnd, ContainerLimits, ContainerRun, ContainerRunState, ContainerSpec, Result } from '../../../runtime.ts';
import { type ContainerRoot, containerRoot, type RootImage } from '../container-root.ts';
import type { InitLauncher, InitProcess, LaunchedProcess } from '../init/launcher.ts';
import { containerInit, type ContainerInitSpec } from '../init/container-init.ts';
import { failureText } from '../init/execute.ts';
import { clone } from '../init/linux.ts';
import { initSpec } from '../init/init-spec.ts';
import { type ControlGroup, type ControlGroups, type DeviceRule, usualDevices } from './control-groups.ts';
import type { Layout } from './layout.ts';
import { lastOutput, LogFile, type LogBounds, oldFiles } from './log-file.ts';
import { followInit } from './init-process.ts';
import { handlesSignal, killGroups, marking, signal } from './processes.ts';
import { readEnd } from './read-end.ts';
import type { RootMaker } from './roots.ts';
import { writeState } from './state-files.ts';

export interface ShimContainerContext {
  readonly world: World;
  readonly layout: Layout;
  readonly logBounds: LogBounds;
  readonly roots: RootMaker;
  readonly controlGroups: ControlGroups;
  readonly inits: InitLauncher;
  readonly image: RootImage;
  /** The namespaces of the pod, in which its containers run. */
  readonly namespaces: () => HeldNamespaces;
  /** The first process of another running container of the pod: a descriptor. */
  readonly processOf: (container: string) => number | undefined;
  /** The run's state has changed. */
  readonly onChange: () => void;
}

/** Namespaces of a process. */
export interface HeldNamespaces {
  /** The descriptor that stands for the process. */
  readonly process: number;
  /** Flags of setns(2). */
  readonly flags: number;
}

/** The state of a container on disk. */
export interface ContainerCheckpoint {
  readonly spec: ContainerSpec;
  readonly run: ContainerRun;
  readonly logDirectory: string;
}

/** Receives the container's output. */
export type Listener = (stream: 'stdout' | 'stderr', chunk: Buffer) => void;

/** One run of a container. */
export class ShimContainer {
  readonly spec: ContainerSpec;
  readonly #context: ShimContainerContext;
  readonly #logDirectory: string;
  #run: ContainerRun;
  #child: LaunchedProcess | undefined;
  /** The container's first process, in the host's process namespace. */
  #pid: number | undefined;
  /** The descriptor that stands for it. */
  #process: number | undefined;
  /** Also if its first process is not known yet. */
  #isKilled = false;
  #limited: ControlGroup | undefined;
  readonly #listeners = new Set<Listener>();
  #begun: boolean;
  readonly #ended: Promise<void>;
  #resolveEnded: () => void = () => undefined;

  constructor(checkpoint: ContainerCheckpoint, context: ShimContainerContext) {
    this.spec = checkpoint.spec;
    this.#run = checkpoint.run;
    this.#begun = checkpoint.run.state.startedAt > 0 || checkpoint.run.state.type === 'exited';
    this.#logDirectory = checkpoint.logDirectory;
    this.#context = context;
    this.#ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
    if (checkpoint.run.state.type === 'exited') this.#resolveEnded();
  }

  get run(): ContainerRun {
    return this.#run;
  }

  /** The program has been started: from then on the run is visible. */
  get begun(): boolean {
    return this.#begun;
  }

  get pid(): number | undefined {
    return this.#pid;
  }

  /** A descriptor that stands for its first process. */
  get process(): number | undefined {
    return this.#process;
  }

  get stdin(): Writable | undefined {
    return this.#child?.stdin;
  }

  /** Directories of control groups that a process entering the container joins. */
  get groups(): readonly string[] {
    return this.#limited?.groups.map(({ directory }) => directory) ?? [];
  }

  get ended(): Promise<void> {
    return this.#ended;
  }

  /** Resolves once its program has been started, or cannot be. */
  start(): Promise<Result<ContainerRun>> {
    const { world, logBounds } = this.#context;
    mkdirSync(this.#logDirectory, { recursive: true, mode: 0o755 });
    const log = new LogFile(this.logFile, world.clock, logBounds);
    writeFileSync(this.#terminationFile, '');
    // As the kubelet: whatever user the container has, and whatever the umask.
    chmodSync(this.#terminationFile, 0o666);
    try {
      this.#limited = this.#makeGroup();
      return this.#launch(log);
    } catch (error) {
      log.close();
      this.#limited?.remove();
      return Promise.resolve(this.#fail((error as Error).message));
    }
  }

  #launch(log: LogFile): Promise<Result<ContainerRun>> {
    const { layout, inits, namespaces, processOf } = this.#context;
    const { spec } = this;
    const pod = namespaces();
    const target = spec.processesOf === undefined ? undefined : processOf(spec.processesOf);
    const entered = [pod, ...(target === undefined ? [] : [{ process: target, flags: clone.newProcesses }])];
    const init: ContainerInitSpec = {
      ...initSpec(spec, [...spec.command, ...spec.args], this.groups),
      entered: entered.map(({ flags }) => flags),
      ownProcesses: !spec.hostPid && !entered.some(({ flags }) => (flags & clone.newProcesses) !== 0),
    };
    const launched = inits.launch(containerInit(init), {
      stdio: [spec.stdin || spec.tty ? 'pipe' : 'ignore', 'pipe', 'pipe'],
      owner: init.identity.uid,
      handed: entered.map(({ process }) => process),
      variables: marking(layout.mark(this.run.id)),
    });
    const { child } = launched;
    this.#child = child;
    child.stdin?.on('error', () => undefined);
    for (const stream of ['stdout', 'stderr'] as const) {
      child[stream]?.on('data', (chunk: Buffer) => {
        log.write(stream, chunk);
        for (const listener of this.#listeners) listener(stream, chunk);
      });
    }
    return this.#follow(launched, { log, init });
  }

  limit(limits: ContainerLimits): Result<undefined> {
    if (this.#pid === undefined || this.#limited === undefined) return { ok: false, error: { reason: 'not-found', message: 'no such container runs' } };
    try {
      this.#limited.limit(limits);
      return { ok: true, value: undefined };
    } catch (error) {
      return { ok: false, error: { reason: 'failed', message: (error as Error).message } };
    }
  }

  #makeGroup(): ControlGroup {
    const { podUid, resources, privileged, devices } = this.spec;
    const allowed = privileged ? undefined : [...usualDevices, ...devices.flatMap(ruleOf)];
    return this.#context.controlGroups.makeContainer(podUid, this.run.id, { limits: resources, devices: { allowed } });
  }

  listen(listener: Listener): Cancel {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The kernel keeps a signal from the first process of a namespace that neither handles nor ignores it: such a program has no use for its grace period. */
  async stop(graceMs: number): Promise<void> {
    if (this.#run.state.type === 'exited') return;
    const { stopSignal = constants.signals.SIGTERM } = this.spec;
    const waits = this.#pid === undefined || handlesSignal(this.#pid, stopSignal);
    if (graceMs > 0 && this.#pid !== undefined) signal(this.#pid, stopSignal);
    const cancel = this.#context.world.timers.after(waits ? graceMs : 0, () => this.#kill());
    await this.#ended;
    cancel();
  }

  /** Removes its files. */
  remove(): void {
    rmSync(this.#terminationFile, { force: true });
    rmSync(this.#context.layout.containerCheckpoint(this.spec.podUid, this.run.id), { force: true });
    for (const file of this.logFiles()) rmSync(file, { force: true });
  }

  /** How it ended is unknown: the shim that ran it has ended too. */
  markLost(): void {
    const { state } = this.#run;
    if (state.type !== 'running') return;
    const now = this.#context.world.clock.now();
    const message = 'The container could not be located when the pod was terminated';
    this.#end({ startedAt: state.startedAt, finishedAt: now, exitCode: 137, reason: 'ContainerStatusUnknown', message });
  }

  get logFile(): string {
    return path.join(this.#logDirectory, `${this.spec.attempt}.log`);
  }

  logFiles(): readonly string[] {
    try {
      return [...oldFiles(this.logFile), this.logFile];
    } catch {
      return [];
    }
  }

  get #terminationFile(): string {
    return this.#context.layout.terminationMessage(this.spec.podUid, this.run.id);
  }

  get #root(): ContainerRoot {
    const { layout, image } = this.#context;
    const { imageLayers } = this.spec;
    // Relative paths are short, and mounts have little room for them.
    const relative = (layers: readonly string[]): readonly string[] => layers.map((layer) => path.relative(layout.scratch, layer));
    const own = imageLayers === undefined ? undefined : relative(imageLayers);
    const mounts = this.spec.mounts.map((mount) => (mount.imageLayers === undefined ? mount : { ...mount, imageLayers: relative(mount.imageLayers) }));
    return containerRoot(
      { ...this.spec, mounts },
      {
        scratch: layout.scratch,
        image: own === undefined ? image : { ...image, layers: [{ target: '/', lower: own }] },
        writableBytes: Math.floor(totalmem() * writableShare),
        devices: path.relative(layout.scratch, layout.devices),
        files: layout.files(this.spec.podUid),
        terminationMessage: this.#terminationFile,
        groups: this.#limited?.groups ?? [],
      },
    );
  }

  #follow(launched: InitProcess, { log, init }: { readonly log: LogFile; readonly init: ContainerInitSpec }): Promise<Result<ContainerRun>> {
    return new Promise((resolve) => {
      const failed = (message: string): void => resolve(this.#fail(message));
      let wrong: string | undefined;
      followInit(launched, {
        waitsItself: init.ownProcesses,
        onWaiting: async (pid) => {
          this.#pid = pid;
          if (!this.#isKilled) wrong = await this.#makeRoot(pid);
          if (wrong === '') return true;
          this.#kill();
          return false;
        },
        onProgram: (pid) => {
          this.#pid = pid;
          this.#process = this.#context.inits.openProcess(pid);
          if (this.#isKilled) this.#kill();
        },
        onProgramEnd: () => {
          this.#forgetProcess();
          if (!init.ownProcesses) killGroups(this.groups);
        },
        onExecuted: () => {
          this.#change({ type: 'running', startedAt: this.#context.world.clock.now() });
          resolve({ ok: true, value: this.#run });
        },
        onEnd: ({ failure, hasExecuted, exitCode }) => {
          log.close();
          if (hasExecuted) this.#end(this.#ending(exitCode));
          else failed(wrong || (failure === undefined ? `it ended with ${exitCode}` : failureText(failure, init)));
          this.#limited?.remove();
        },
      });
    });
  }

  async #makeRoot(pid: number): Promise<string> {
    try {
      return await this.#context.roots.make(pid, this.#root);
    } catch (error) {
      return String(error);
    }
  }

  #fail(why: string): Result<ContainerRun> {
    const message = startErrorPrefix + why;
    this.#end({ startedAt: 0, finishedAt: this.#context.world.clock.now(), exitCode: 128, reason: 'StartError', message });
    return { ok: false, error: { reason: 'start', message } };
  }

  #ending(exitCode: number): ContainerEnd {
    const { state } = this.#run;
    const isOutOfMemory = exitCode === 137 && this.#limited?.ranOutOfMemory() === true;
    return {
      startedAt: state.startedAt,
      finishedAt: this.#context.world.clock.now(),
      exitCode,
      reason: isOutOfMemory ? 'OOMKilled' : exitCode === 0 ? 'Completed' : 'Error',
      message: this.#terminationMessage(exitCode),
    };
  }

  /** The termination message file; or with FallbackToLogsOnError, the end of a failed container's log. */
  #terminationMessage(exitCode: number): string {
    const said = readEnd(this.#terminationFile, 4096);
    if (said !== '' || exitCode === 0 || !this.spec.terminationMessage.orLastLog) return said;
    return lastOutput(readEnd(this.logFile, 64 * 1024));
  }

  #end(end: ContainerEnd): void {
    this.#child = undefined;
    this.#forgetProcess();
    this.#change({ type: 'exited', ...end });
    this.#resolveEnded();
  }

  /** Its id may be reused. */
  #forgetProcess(): void {
    this.#pid = undefined;
    if (this.#process !== undefined) closeSync(this.#process);
    this.#process = undefined;
  }

  #change(state: ContainerRunState): void {
    this.#run = { ...this.#run, state };
    this.#begun = true;
    const checkpoint: ContainerCheckpoint = { spec: this.spec, run: this.#run, logDirectory: this.#logDirectory };
    writeState(this.#context.layout.containerCheckpoint(this.spec.podUid, this.run.id), checkpoint);
    this.#context.onChange();
  }

  /** The end of its first process ends all others of the container; before there is one, the launching process is killed. */
  #kill(): void {
    this.#isKilled = true;
    const pid = this.#pid ?? this.#child?.pid;
    if (pid !== undefined) signal(pid, 'SIGKILL');
  }
}

/** A missing device is an error when the root is made. */
function ruleOf({ hostPath, readOnly }: ContainerDevice): readonly DeviceRule[] {
  const facts = statSync(hostPath, { throwIfNoEntry: false });
  if (facts === undefined) return [];
  return [{ type: facts.isBlockDevice() ? 'b' : 'c', number: deviceNumber(facts.rdev), access: readOnly ? 'rm' : 'rwm' }];
}

/** 'major:minor', as Linux encodes it. */
const deviceNumber = (rdev: number): string => `${(rdev >>> 8) & 0xfff}:${(rdev & 0xff) | ((rdev >>> 12) & 0xfff00)}`;

/** Of the machine's memory: what a container without a limit of ephemeral storage may write to its root. */
const writableShare = 1 / 8;

const startErrorPrefix =
  'failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: error during container init: ';
