/** The container shim: a process that starts containers, writes their logs and reaps them. It outlives agents. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import type { Disk, DiskLock } from '../../../../world/disk.ts';
import type { Cancel, World } from '../../../../world/world.ts';
import type { Result } from '../../../runtime.ts';
import type { RootImage } from '../container-root.ts';
import { devicesScript } from '../devices.ts';
import { makeHostImage } from '../host-image.ts';
import type { InitLauncher } from '../init/launcher.ts';
import { type ShimCall, lineReader, type ShimOpening, type ShimRequest, type ShimMessage } from '../protocol.ts';
import { ControlGroups } from './control-groups.ts';
import { groupOf, type Layout, layoutOf, socketOf } from './layout.ts';
import type { LogBounds } from './log-file.ts';
import { Network } from './network.ts';
import { ShimPod, type PodCheckpoint } from './pod.ts';
import { directoriesOf, killGroups, marked, signal } from './processes.ts';
import { type Incoming, refuse, serveAttach, serveConnect, serveExec } from './sessions.ts';
import type { RootMaker } from './roots.ts';
import { namesIn, readState } from './state-files.ts';
import { Semaphore } from './semaphore.ts';

export interface ShimOptions extends ShimSettings {
  readonly world: World;
  readonly disk: Pick<Disk, 'lock'>;
  readonly roots: RootMaker;
  readonly inits: InitLauncher;
}

export interface ShimSettings {
  /** The directory of its state. */
  readonly root: string;
  /** The pod CIDR. */
  readonly podCidr: string;
  readonly logBounds?: LogBounds;
  /** How long it continues without an agent when nothing runs. */
  readonly idleMs?: number;
}

const usualLogBounds: LogBounds = { bytes: 10 * 1024 * 1024, files: 5 };
const usualIdleMs = 10_000;

/** How long the shim before it may take to end or to listen. */
const longestWaitMs = 15_000;
const checkEveryMs = 20;

/** Resolves when the shim has been idle for long enough; at once if another shim listens already. */
export async function runShim(options: ShimOptions): Promise<void> {
  // Containers of other users than root see what is made here.
  process.umask(0o022);
  const lock = await lockUnlessServed(options);
  if (lock === undefined) return;
  try {
    const shim = new ContainerShim(options);
    shim.recover();
    await shim.serve();
  } finally {
    await lock.release();
  }
}

/** The containers belong to the shim that holds the lock. Undefined: another shim listens. @throws if another one neither listens nor ends */
async function lockUnlessServed({ root, world, disk }: ShimOptions): Promise<DiskLock | undefined> {
  mkdirSync(root, { recursive: true, mode: 0o700 });
  const until = world.clock.monotonic() + longestWaitMs;
  for (;;) {
    const lock = await disk.lock(root);
    if (await answers(socketOf(root))) {
      await lock?.release();
      return undefined;
    }
    if (lock !== undefined) return lock;
    if (world.clock.monotonic() > until) throw new Error(`another container shim holds ${root}, and does not listen`);
    await new Promise<void>((resolve) => void world.timers.after(checkEveryMs, resolve));
  }
}

const answers = (socketPath: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(socketPath);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });

class ContainerShim {
  readonly #options: ShimOptions;
  readonly #layout: Layout;
  readonly #network: Network;
  readonly #pods = new Map<string, ShimPod>();
  readonly #agents = new Set<Socket>();
  readonly #server: Server;
  readonly #starts: Semaphore;
  readonly #image: RootImage;
  readonly #groups: ControlGroups;
  #cancelIdle: Cancel = () => undefined;
  #cleaned: Promise<void> | undefined;

  constructor(options: ShimOptions) {
    this.#options = options;
    this.#layout = layoutOf(options.root);
    this.#groups = new ControlGroups(this.#layout.group);
    this.#network = new Network({ cidr: options.podCidr, bridge: this.#layout.bridge });
    this.#starts = new Semaphore(options.world.timers, 2 * availableParallelism());
    this.#server = createServer((socket) => this.#accept(socket));
    mkdirSync(this.#layout.scratch, { recursive: true });
    const { image, scratch } = this.#layout;
    this.#image = makeHostImage({ host: '/', directory: image, seenAs: path.relative(scratch, image) });
    if (!existsSync(this.#layout.devices)) execFileSync('sh', ['-c', devicesScript(this.#layout.devices)]);
  }

  /** Containers of a shim that died have lost their pipes: they are killed, and their state is kept. */
  recover(): void {
    for (const pid of marked(this.#layout.mark('')).values()) if (pid !== process.pid) signal(pid, 'SIGKILL');
    // The end of their parents does not end processes that have changed their user.
    killGroups(directoriesOf(this.#layout.group));
    this.#groups.removeEmpty(runningGroups());
    for (const uid of namesIn(this.#layout.pods)) {
      const checkpoint = readState(this.#layout.podCheckpoint(uid)) as PodCheckpoint | undefined;
      if (checkpoint === undefined) rmSync(path.join(this.#layout.pods, uid), { recursive: true, force: true });
      else this.#addPod(checkpoint).recover();
    }
  }

  /** Only with the lock: a socket that is there is of a shim that has ended. */
  async serve(): Promise<void> {
    const socket = socketOf(this.#options.root);
    mkdirSync(path.dirname(socket), { recursive: true, mode: 0o700 });
    rmSync(socket, { force: true });
    await new Promise<void>((resolve, reject) => {
      this.#server.on('close', resolve);
      this.#server.on('error', reject);
      this.#server.listen(socket, () => this.#watchIdle());
    });
    await this.#clean();
  }

  /** Once: the next shim may have begun. */
  #clean(): Promise<void> {
    this.#cleaned ??= this.#network.remove().then(() => {
      this.#groups.removeEmpty(runningGroups());
      rmSync(socketOf(this.#options.root), { force: true });
    });
    return this.#cleaned;
  }

  #addPod(checkpoint: PodCheckpoint): ShimPod {
    const { world, roots, inits, logBounds = usualLogBounds } = this.#options;
    const pod = new ShimPod(checkpoint, {
      world,
      layout: this.#layout,
      network: this.#network,
      roots,
      image: this.#image,
      controlGroups: this.#groups,
      inits,
      logBounds,
      onChange: (uid) => this.#changed(uid),
    });
    this.#pods.set(pod.uid, pod);
    return pod;
  }

  #changed(uid: string): void {
    const pod = this.#pods.get(uid);
    const message: ShimMessage = pod === undefined ? { tell: 'gone', uid } : { tell: 'pod', pod: pod.state };
    for (const agent of this.#agents) sendMessage(agent, message);
    this.#watchIdle();
  }

  /** Without agents and containers, the shim ends after a while. */
  #watchIdle(): void {
    this.#cancelIdle();
    const { world, idleMs = usualIdleMs } = this.#options;
    const isIdle = this.#agents.size === 0 && [...this.#pods.values()].every(({ pause }) => pause === undefined);
    this.#cancelIdle = isIdle ? world.timers.after(idleMs, () => this.#server.close()) : () => undefined;
  }

  #accept(socket: Socket): void {
    socket.on('error', () => socket.destroy());
    let waiting: Buffer[] = [];
    let onChunk = (chunk: Buffer): void => void waiting.push(chunk);
    const incoming: Incoming = (next) => {
      onChunk = next;
      for (const chunk of waiting) next(chunk);
      waiting = [];
    };
    let head = Buffer.alloc(0);
    const begin = (chunk: Buffer): void => {
      head = Buffer.concat([head, chunk]);
      const end = head.indexOf(10);
      if (end < 0) return;
      socket.off('data', begin);
      socket.on('data', (later: Buffer) => onChunk(later));
      if (head.length > end + 1) waiting.push(head.subarray(end + 1));
      try {
        this.#open(socket, JSON.parse(head.subarray(0, end).toString()) as ShimOpening, incoming);
      } catch (error) {
        refuse(socket, { reason: 'failed', message: String(error) });
      }
    };
    socket.on('data', begin);
  }

  #open(socket: Socket, opening: ShimOpening, incoming: Incoming): void {
    if (opening.open === 'control') return this.#serveAgent(socket, incoming);
    const { world, inits } = this.#options;
    const line = { socket, incoming };
    if (opening.open === 'connect') {
      const pod = this.#pods.get(opening.uid);
      if (pod === undefined) return refuse(socket, { reason: 'not-found', message: 'no such pod' });
      return serveConnect(line, opening.port, { world, inits, pod, mark: this.#layout.mark('session') });
    }
    const pod = [...this.#pods.values()].find((each) => each.container(opening.id) !== undefined);
    const container = pod?.container(opening.id);
    if (pod === undefined || container === undefined) return refuse(socket, { reason: 'not-found', message: 'no such container' });
    const context = { world, inits, pod, mark: this.#layout.mark('session') };
    if (opening.open === 'exec') serveExec(line, container, { context, options: opening });
    else serveAttach(line, container, { context, options: opening });
  }

  #serveAgent(socket: Socket, incoming: Incoming): void {
    this.#agents.add(socket);
    this.#watchIdle();
    socket.on('close', () => {
      this.#agents.delete(socket);
      this.#watchIdle();
    });
    for (const pod of this.#pods.values()) sendMessage(socket, { tell: 'pod', pod: pod.state });
    sendMessage(socket, { tell: 'all' });
    incoming(lineReader((line) => void this.#answer(socket, JSON.parse(line) as ShimRequest)));
  }

  async #answer(socket: Socket, request: ShimRequest): Promise<void> {
    const { number } = request;
    try {
      const result = await this.#perform(request);
      sendMessage(socket, result.ok ? { tell: 'answer', number, value: result.value } : { tell: 'failure', number, error: result.error });
    } catch (error) {
      sendMessage(socket, { tell: 'failure', number, error: { reason: 'failed', message: String(error) } });
    }
  }

  async #perform(call: ShimCall): Promise<Result<unknown>> {
    const done = { ok: true, value: undefined } as const;
    switch (call.call) {
      case 'start-pod':
        return this.#starts.run(() => (this.#pods.get(call.spec.uid) ?? this.#addPod({ spec: call.spec, pause: undefined, ips: [] })).start());
      case 'stop-pod':
        await this.#pods.get(call.uid)?.stop();
        return done;
      case 'remove-pod':
        return this.#remove(call.uid);
      case 'start-container': {
        const pod = this.#pods.get(call.spec.podUid);
        return pod === undefined
          ? { ok: false, error: { reason: 'not-found', message: 'no such pod' } }
          : this.#starts.run(() => pod.startContainer(call.spec));
      }
      case 'stop-container':
        await this.#container(call.id)?.stop(call.graceMs);
        return done;
      case 'limit-pod':
        return this.#pods.get(call.uid)?.limit(call.limits) ?? { ok: false, error: { reason: 'not-found', message: 'no such pod' } };
      case 'limit-container': {
        const container = this.#container(call.id);
        return container?.limit(call.limits) ?? { ok: false, error: { reason: 'not-found', message: 'no such container' } };
      }
      case 'remove-container':
        for (const pod of this.#pods.values()) pod.removeContainer(call.id);
        return done;
      case 'shut-down':
        await Promise.all(Array.from(this.#pods.keys(), (uid) => this.#remove(uid)));
        this.#server.close();
        await this.#clean();
        // After the answer.
        this.#options.world.timers.soon(() => {
          for (const agent of this.#agents) agent.end();
        });
        return { ok: true, value: process.pid };
    }
  }

  #container(id: string) {
    for (const pod of this.#pods.values()) {
      const found = pod.container(id);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  async #remove(uid: string): Promise<Result<undefined>> {
    const pod = this.#pods.get(uid);
    if (pod !== undefined) {
      await pod.stop();
      pod.remove();
      this.#pods.delete(uid);
      this.#changed(uid);
    }
    return { ok: true, value: undefined };
  }
}

/** The control groups of all shims that run on this machine. */
const runningGroups = (): ReadonlySet<string> => new Set([...marked('shim ').keys()].map((mark) => groupOf(mark.slice('shim '.length, mark.lastIndexOf(' ')))));

const sendMessage = (socket: Socket, message: ShimMessage): boolean => socket.write(`${JSON.stringify(message)}\n`);
