import type { ChildProcess } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Duplex, Writable } from 'node:stream';
import type { Cancel, World } from '../../../../world/world.ts';
import type { ContainerEnd, ContainerLimits, ContainerRun, ContainerRunState, ContainerSpec, Result } from '../../../runtime.ts';
import { type ContainerRoot, containerRoot, type RootImage } from '../container-root.ts';
import { containerScript, variablesOf, scriptError } from '../container-script.ts';
import { programOf } from '../images.ts';
import { exitCodeOf } from '../protocol.ts';
import { inTerminal } from '../terminal.ts';
import { joinGroups, type ControlGroup, limit } from './control-groups.ts';
import type { Layout } from './layout.ts';
import { LogFile, type LogBounds, oldFiles } from './log-file.ts';
import { areTooLong, descendantsOf, launch, runScript, signal, signalNumber, wordsOf } from './processes.ts';
import type { RootMaker } from './roots.ts';
import { writeState } from './state-files.ts';

export interface ShimContainerContext {
  readonly world: World;
  readonly layout: Layout;
  readonly logBounds: LogBounds;
  readonly roots: RootMaker;
  readonly image: RootImage;
  /** The process that holds the pod's namespaces; undefined: there are none. */
  readonly pause: number | undefined;
  /** The first process of another running container of the pod. */
  readonly processOf: (container: string) => number | undefined;
  /** The run's state has changed. */
  readonly onChange: () => void;
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
  #child: ChildProcess | undefined;
  /** The container's first process, in the host's process namespace. */
  #pid: number | undefined;
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

  get stdin(): Writable | undefined {
    return this.#child?.stdin ?? undefined;
  }

  /** Directories of control groups that a process entering the container joins. */
  get groups(): readonly string[] {
    return this.#limited?.directories ?? [];
  }

  get ended(): Promise<void> {
    return this.#ended;
  }

  /** Resolves once its program has been started, or cannot be. */
  start(): Promise<Result<ContainerRun>> {
    const { world, layout, logBounds } = this.#context;
    mkdirSync(this.#logDirectory, { recursive: true, mode: 0o755 });
    const log = new LogFile(this.logFile, world.clock, logBounds);
    writeFileSync(this.#terminationFile, '', { mode: 0o666 });
    this.#limited = this.#limitedBy(this.spec.resources);
    const program = programOf(this.spec);
    const inside = this.spec.tty ? inTerminal(program) : program;
    const texts = [...variablesOf(this.spec), ...inside];
    if (areTooLong(texts)) {
      log.close();
      return Promise.resolve(this.#fail(`exec ${program[0]}: argument list too long: unknown`));
    }
    const child = launch(this.#command(), {
      script: containerScript(this.spec, { groups: this.groups, isSharing: this.#isSharing, words: wordsOf(texts) }, program),
      texts,
      stdio: [this.spec.stdin || this.spec.tty ? 'pipe' : 'ignore', 'pipe', 'pipe', 'pipe'],
      mark: layout.mark(this.run.id),
    });
    this.#child = child;
    child.stdin?.on('error', () => undefined);
    for (const stream of ['stdout', 'stderr'] as const) {
      child[stream]?.on('data', (chunk: Buffer) => {
        log.write(stream, chunk);
        for (const listener of this.#listeners) listener(stream, chunk);
      });
    }
    return this.#follow(child, log);
  }

  /** False: the container does not run. */
  limit(limits: ContainerLimits): boolean {
    if (this.#pid === undefined) return false;
    const before = this.groups;
    this.#limited = this.#limitedBy(limits);
    joinGroups(
      this.groups.filter((group) => !before.includes(group)),
      descendantsOf(this.#pid),
    );
    return true;
  }

  #limitedBy(limits: ContainerLimits): ControlGroup {
    return limit(this.#context.layout.group, this.run.id.slice(0, 32), { ...limits, readOnlyDevices: readOnlyDevices(this.spec) });
  }

  listen(listener: Listener): Cancel {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async stop(graceMs: number): Promise<void> {
    if (this.#run.state.type === 'exited') return;
    if (graceMs > 0 && this.#pid !== undefined) signal(this.#pid, 'SIGTERM');
    const cancel = this.#context.world.timers.after(graceMs, () => this.#kill());
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

  get #isSharing(): boolean {
    return this.spec.mounts.some(({ propagation }) => propagation === 'shared');
  }

  get #root(): ContainerRoot {
    const { layout, image } = this.#context;
    return containerRoot(this.spec, {
      scratch: layout.scratch,
      image,
      devices: path.relative(layout.scratch, layout.devices),
      files: layout.files(this.spec.podUid),
      terminationMessage: this.#terminationFile,
      groups: [],
    });
  }

  #command(): readonly string[] {
    const { layout, pause } = this.#context;
    const join = pause === undefined ? [] : ['nsenter', '-t', String(pause), ...layout.podNamespaces(this.spec.podUid)];
    const target = this.spec.processesOf === undefined ? undefined : this.#context.processOf(this.spec.processesOf);
    const enter = target === undefined ? [] : ['nsenter', '-t', String(target), '--pid'];
    const pids = this.spec.hostPid || target !== undefined ? [] : ['--pid'];
    // Shared mounts propagate both ways; all others only from the host to the container.
    const propagation = this.#isSharing ? 'unchanged' : 'slave';
    // The first child after unsharing the process namespace is the container's first process. This shell reports its exit status, which unshare --fork does not
    // if SIGKILL ended it.
    return [...join, ...enter, 'unshare', '--mount', '--propagation', propagation, ...pids, 'sh', '-c', 'sh -c "$0"; exit $?', runScript];
  }

  #follow(child: ChildProcess, log: LogFile): Promise<Result<ContainerRun>> {
    const { clock } = this.#context.world;
    return new Promise((resolve) => {
      const failed = (message: string): void => resolve(this.#fail(message));
      const line = child.stdio[3] as Duplex | null;
      let report = '';
      line?.on('error', () => undefined);
      line?.on('data', (chunk: Buffer) => {
        report += chunk.toString();
        if (this.#pid === undefined && /^\d+\n/.test(report)) {
          this.#pid = Number.parseInt(report, 10);
          void this.#makeRoot(this.#pid).then((wrong) => {
            if (wrong === '') return void line.write('made\n');
            report += `error ${wrong.replaceAll('\n', ' ')}\n`;
            this.#kill();
          });
        }
        if (!report.endsWith('\nok\n')) return;
        this.#change({ type: 'running', startedAt: clock.now() });
        resolve({ ok: true, value: this.#run });
      });
      child.on('error', (error) => failed(error.message));
      child.on('close', (code, name) => {
        log.close();
        if (report.endsWith('\nok\n')) this.#end(this.#ending(exitCodeOf(code, signalNumber(name))));
        else if (this.#run.state.type !== 'exited') failed(scriptError(report) ?? `it ended with ${exitCodeOf(code, signalNumber(name))}`);
        this.#limited?.remove();
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
    const lines = readEnd(this.logFile, 64 * 1024)
      .split('\n')
      .slice(-81);
    return Buffer.from(lines.map((line) => line.split(' ').slice(3).join(' ')).join('\n'))
      .subarray(-2048)
      .toString();
  }

  #end(end: ContainerEnd): void {
    this.#child = undefined;
    this.#pid = undefined;
    this.#change({ type: 'exited', ...end });
    this.#resolveEnded();
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
    const pid = this.#pid ?? this.#child?.pid;
    if (pid !== undefined) signal(pid, 'SIGKILL');
  }
}

/** By device number. A missing device is an error when the container is created. */
const readOnlyDevices = ({ devices }: ContainerSpec): readonly string[] =>
  devices.flatMap(({ readOnly, hostPath }) => {
    const facts = readOnly ? statSync(hostPath, { throwIfNoEntry: false }) : undefined;
    return facts === undefined ? [] : [deviceNumber(facts.rdev)];
  });

/** 'major:minor', as Linux encodes it. */
const deviceNumber = (rdev: number): string => `${(rdev >>> 8) & 0xfff}:${(rdev & 0xff) | ((rdev >>> 12) & 0xfff00)}`;

const startErrorPrefix =
  'failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: error during container init: ';

function readEnd(file: string, bytes: number): string {
  try {
    const whole = readFileSync(file);
    return whole.subarray(Math.max(0, statSync(file).size - bytes)).toString();
  } catch {
    return '';
  }
}
