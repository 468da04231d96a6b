import type { Duplex } from 'node:stream';
import type { Container, Pod, Probe } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { semanticallyEqual } from '../../../api/validation/equality.ts';
import type { Change } from '../../../client/informers/cache.ts';
import type { Cancel, World } from '../../../world/world.ts';
import type { Exit, Run } from '../../pods/runtime-state.ts';
import { recordsOf } from '../../pods/status/container-statuses.ts';
import { hasSandbox, isTerminal } from '../../pods/status/pod-status.ts';
import type {
  ContainerEnd,
  ContainerHealth,
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
} from '../../runtime.ts';
import { type Script, scriptOf } from './script.ts';

export interface HollowRuntimeOptions {
  readonly world: Pick<World, 'clock' | 'timers'>;
  /** Whether the pod is on one of the hollow nodes. */
  readonly isHere: (pod: Pod) => boolean;
  /** In hexadecimal. */
  readonly sha256: (text: string) => string;
}

/** A container that is being stopped. */
interface Stop {
  readonly askedAt: number;
  /** When it ends. */
  readonly at: number;
  readonly exitCode: number;
  readonly callbacks: (() => void)[];
}

interface HollowPod {
  state: PodState;
  /** By the run's id. */
  readonly stops: Map<string, Stop>;
  cancel: Cancel;
}

/** What SIGKILL leaves behind. */
const killed = 137;
/** Runs of one container that are kept: the current one and the one before. */
const keptRuns = 2;

/**
 * The runtime of nodes on which nothing runs: annotations of a pod script what its containers do (`scriptOf`), timers do it. One runtime
 * serves all hollow nodes of a process. It keeps no journal: a pod's status is its only memory, from which a restarted agent recovers
 * the runs. Statuses have whole seconds, so a run starts at a whole second: its end is then the same for every agent.
 */
export class HollowRuntime implements Runtime {
  readonly name = 'hollow';
  readonly version = '';
  readonly #options: HollowRuntimeOptions;
  /** By uid: the objects of all pods on hollow nodes. */
  readonly #objects = new Map<string, Stored<Pod>>();
  readonly #scripts = new WeakMap<Pod, Script>();
  readonly #pods = new Map<string, HollowPod>();
  /** By the run's id: the pod's uid. */
  readonly #uids = new Map<string, string>();
  readonly #listeners = new Set<(uid: string) => void>();

  constructor(options: HollowRuntimeOptions) {
    this.#options = options;
  }

  readonly scripted: ScriptedContainers = {
    health: (id) => this.#health(id),
    problems: (pod) => scriptOf(pod).problems,
  };

  /** Pods are recovered one by one, when `podChanged` tells of them. */
  recover(): Promise<readonly PodState[]> {
    return Promise.resolve([]);
  }

  podChanged({ before, after }: Change<Pod>): void {
    if (before !== undefined && before.metadata.uid !== after?.metadata.uid) this.#objects.delete(before.metadata.uid);
    if (after === undefined || !this.#options.isHere(after)) return;
    const { uid } = after.metadata;
    this.#objects.set(uid, after);
    const pod = this.#pods.get(uid);
    if (pod === undefined) {
      if (hasSandbox(after.status) && !isTerminal(after.status.phase)) this.#recoverPod(after);
    } else if (!semanticallyEqual(before?.metadata.annotations, after.metadata.annotations)) this.#advance(pod);
  }

  #recoverPod({ metadata: { uid, namespace = '', name }, spec, status }: Stored<Pod>): void {
    const ips = spec.hostNetwork === true ? [] : (status.podIPs ?? []).map(({ ip }) => ip);
    const runs = [...recordsOf(status)].flatMap(([container, { run, previous, restarts }]) => [
      ...(previous === undefined ? [] : [runOf(previous, container, restarts - 1)]),
      ...(run === undefined ? [] : [runOf(run, container, restarts)]),
    ]);
    for (const { id } of runs) this.#uids.set(id, uid);
    this.#advance(this.#add({ uid, namespace, name, sandbox: { ips }, runs }));
    this.#notify(uid);
  }

  pod(uid: string): PodState | undefined {
    return this.#pods.get(uid)?.state;
  }

  observe(listener: (uid: string) => void): Cancel {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  startPod({ uid, namespace, name, address }: PodSandboxSpec): Promise<Result<PodSandbox>> {
    const sandbox = { ips: address === undefined ? [] : [address] };
    const pod = this.#pods.get(uid);
    if (pod === undefined) this.#add({ uid, namespace, name, sandbox, runs: [] });
    else pod.state = { ...pod.state, sandbox };
    this.#notify(uid);
    return Promise.resolve({ ok: true, value: sandbox });
  }

  stopPod(uid: string): Promise<void> {
    const pod = this.#pods.get(uid);
    if (pod === undefined) return Promise.resolve();
    for (const { id } of pod.state.runs) this.#end(pod, id, { exitCode: killed, at: this.#now });
    pod.state = { ...pod.state, sandbox: undefined };
    this.#advance(pod);
    this.#notify(uid);
    return Promise.resolve();
  }

  removePod(uid: string): Promise<void> {
    const pod = this.#pods.get(uid);
    pod?.cancel();
    for (const { id } of pod?.state.runs ?? []) {
      this.#end(pod, id, { exitCode: killed, at: this.#now });
      this.#uids.delete(id);
    }
    this.#pods.delete(uid);
    this.#notify(uid);
    return Promise.resolve();
  }

  startContainer({ podUid, name, attempt, image }: ContainerSpec): Promise<Result<ContainerRun>> {
    const pod = this.#pods.get(podUid);
    if (pod?.state.sandbox === undefined) return Promise.resolve(failure('failed', `pod ${podUid} has no sandbox`));
    const id = this.#options.sha256(`${podUid}/${name}/${attempt}`);
    const startedAt = Math.floor(this.#now / 1000) * 1000;
    const run: ContainerRun = { id, name, attempt, image, state: { type: 'running', startedAt } };
    const others = pod.state.runs.filter((each) => each.name !== name);
    const dropped = pod.state.runs.filter((each) => each.name === name).slice(0, -(keptRuns - 1));
    const kept = pod.state.runs.filter((each) => each.name === name).slice(-(keptRuns - 1));
    for (const each of dropped) this.#uids.delete(each.id);
    this.#uids.set(id, podUid);
    pod.state = { ...pod.state, runs: [...others, ...kept, run] };
    this.#advance(pod);
    this.#notify(podUid);
    return Promise.resolve({ ok: true, value: run });
  }

  /** The container ends when its script says so, or when the grace period is over. */
  stopContainer(id: string, graceMs: number): Promise<void> {
    const pod = this.#pods.get(this.#uids.get(id) ?? '');
    const run = pod?.state.runs.find((each) => each.id === id);
    if (pod === undefined || run?.state.type !== 'running') return Promise.resolve();
    return new Promise((resolve) => {
      const { askedAt = this.#now, callbacks = [] } = pod.stops.get(id) ?? {};
      const container = this.#containerOf(pod, run.name);
      const stopMs = (container && this.#scriptOf(pod)?.stopAfter(container)) ?? 0;
      const [asked, deadline] = [askedAt + stopMs, this.#now + graceMs];
      const end = asked < deadline || stopMs === 0 ? { at: asked, exitCode: 0 } : { at: deadline, exitCode: killed };
      pod.stops.set(id, { ...end, askedAt, callbacks: [...callbacks, resolve] });
      if (this.#advance(pod)) this.#notify(pod.state.uid);
    });
  }

  limitPod(): Promise<Result<undefined>> {
    return this.limitContainer();
  }

  limitContainer(): Promise<Result<undefined>> {
    return Promise.resolve({ ok: true, value: undefined });
  }

  removeContainer(): Promise<void> {
    return Promise.resolve();
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
    for (const { cancel } of this.#pods.values()) cancel();
    return Promise.resolve();
  }

  get #now(): number {
    return this.#options.world.clock.now();
  }

  #add(state: PodState): HollowPod {
    const pod: HollowPod = { state, stops: new Map(), cancel: () => undefined };
    this.#pods.set(state.uid, pod);
    return pod;
  }

  #notify(uid: string): void {
    for (const listener of this.#listeners) listener(uid);
  }

  #containerOf({ state }: HollowPod, name: string): Container | undefined {
    const { initContainers = [], containers, ephemeralContainers = [] } = this.#objects.get(state.uid)?.spec ?? {};
    return [...(containers ?? []), ...initContainers, ...ephemeralContainers].find((each) => each.name === name);
  }

  /** Ends the runs that are due, and sets the timer for what changes next. Returns whether a run ended. */
  #advance(pod: HollowPod): boolean {
    pod.cancel();
    pod.cancel = () => undefined;
    const script = this.#scriptOf(pod);
    const running = pod.state.runs.filter(({ state }) => state.type === 'running');
    if (script === undefined || running.length === 0) return false;
    const now = this.#now;
    let next = Number.POSITIVE_INFINITY;
    let hasEnded = false;
    for (const { id, name, state } of running) {
      const container = this.#containerOf(pod, name);
      const stop = pod.stops.get(id);
      const runFor = container && script.runFor(container);
      const scripted = container === undefined || runFor === undefined ? undefined : { at: state.startedAt + runFor, exitCode: script.exitCode(container) };
      const end = stop === undefined || (scripted !== undefined && scripted.at < stop.at) ? scripted : stop;
      if (end !== undefined && end.at <= now) {
        this.#end(pod, id, end);
        hasEnded = true;
        continue;
      }
      const changes = container === undefined ? [] : [startedMs(container), readyMs(container, script)].map((ms) => state.startedAt + ms);
      next = Math.min(next, end?.at ?? next, ...changes.filter((time) => time > now));
    }
    if (Number.isFinite(next)) pod.cancel = this.#options.world.timers.after(next - now, () => this.#timer(pod));
    return hasEnded;
  }

  #timer(pod: HollowPod): void {
    this.#advance(pod);
    this.#notify(pod.state.uid);
  }

  #end(pod: HollowPod | undefined, id: string, { at, exitCode }: { readonly at: number; readonly exitCode: number }): void {
    if (pod === undefined) return;
    const runs = pod.state.runs.map((run): ContainerRun => {
      if (run.id !== id || run.state.type !== 'running') return run;
      const { startedAt } = run.state;
      const reason = exitCode === 0 ? 'Completed' : 'Error';
      return { ...run, state: { type: 'exited', startedAt, finishedAt: Math.max(at, startedAt), exitCode, reason, message: '' } };
    });
    pod.state = { ...pod.state, runs };
    for (const callback of pod.stops.get(id)?.callbacks ?? []) callback();
    pod.stops.delete(id);
  }

  #health(id: string): ContainerHealth {
    const pod = this.#pods.get(this.#uids.get(id) ?? '');
    const run = pod?.state.runs.find((each) => each.id === id);
    const container = pod === undefined || run?.state.type !== 'running' ? undefined : this.#containerOf(pod, run.name);
    const script = pod === undefined ? undefined : this.#scriptOf(pod);
    if (run === undefined || container === undefined || script === undefined) return { started: false, ready: false, failed: undefined };
    const ranFor = this.#now - run.state.startedAt;
    return { started: ranFor >= startedMs(container), ready: ranFor >= readyMs(container, script), failed: undefined };
  }

  /** Undefined: the pod is gone. */
  #scriptOf({ state }: HollowPod): Script | undefined {
    const object = this.#objects.get(state.uid);
    if (object === undefined) return undefined;
    let script = this.#scripts.get(object);
    if (script === undefined) this.#scripts.set(object, (script = scriptOf(object)));
    return script;
  }
}

const startedMs = ({ startupProbe }: Container): number => probeMs(startupProbe);

const readyMs = (container: Container, script: Script): number =>
  Math.max(probeMs(container.startupProbe), probeMs(container.readinessProbe), script.readyAfter(container));

/** A probe on a hollow node succeeds whenever it runs. */
function probeMs(probe: Probe | undefined): number {
  if (probe === undefined) return 0;
  const { initialDelaySeconds = 0, successThreshold = 1, periodSeconds = 10 } = probe;
  return (initialDelaySeconds + (successThreshold - 1) * periodSeconds) * 1000;
}

function runOf(run: Run, name: string, attempt: number): ContainerRun {
  const id = run.id.replace(/^hollow:\/\//, '');
  const state = run.state === 'running' ? ({ type: 'running', startedAt: run.startedAt } as const) : ({ type: 'exited', ...endOf(run) } as const);
  return { id, name, attempt, image: run.image, state };
}

function endOf({ startedAt, finishedAt, exitCode, reason, message = '' }: Exit): ContainerEnd {
  return { startedAt, finishedAt, exitCode, reason: reason ?? (exitCode === 0 ? 'Completed' : 'Error'), message };
}

const failure = (reason: RuntimeFailure['reason'], message: string): { readonly ok: false; readonly error: RuntimeFailure } => ({
  ok: false,
  error: { reason, message },
});

const unsupported = failure('unsupported', 'nothing runs on a hollow node');
