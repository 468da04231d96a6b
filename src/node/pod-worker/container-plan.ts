/** Which containers of a pod have to be started or stopped now, and what the pod waits for. */
import type { Container, EphemeralContainer, Pod } from '../../api/generated/types.ts';
import type { Stored } from '../../api/stored.ts';
import { isSidecar } from '../../api/kinds/pod/pod-parts.ts';
import { goDuration, heldBackUntil, nextBackOff, shouldRestart } from '../pods/restart.ts';
import { type ContainerRecord, hasExited, type Waiting } from '../pods/runtime-state.ts';
import type { ContainerRun } from '../runtime.ts';
import type { PodWorkerAction, KillContainer, StartContainer, RecordPodEvent } from './actions.ts';
import { containerReference } from '../pods/container-reference.ts';
import { containerRecords, type RunsSnapshot } from './container-records.ts';

export interface PlanSnapshot extends RunsSnapshot {
  /** Why the container cannot be created; undefined: it can. */
  readonly problem: (container: Container) => Waiting | undefined;
}

export interface ContainerPlan {
  readonly records: ReadonlyMap<string, ContainerRecord>;
  /** In order; after the first that is a start, all others are. */
  readonly actions: readonly PodWorkerAction[];
  /** When to plan again although nothing changed; milliseconds since 1970. */
  readonly again: number | undefined;
}

/** Init containers one after the other, sidecars that stay, then all others. `now`: milliseconds since 1970. */
export function planStart(snapshot: PlanSnapshot, now: number): ContainerPlan {
  const planner = new Planner(snapshot, now);
  const { initContainers = [], containers, ephemeralContainers = [] } = snapshot.pod.spec;
  const regular = containers ?? [];
  // Sidecars and ephemeral containers serve the others: they end with them, and are not restarted.
  const hasFailed = initContainers.some((container) => !isSidecar(container) && planner.hasFailed(container));
  if (hasFailed || regular.every((container) => planner.isOver(container))) {
    planner.stop([...ephemeralContainers, ...initContainers.toReversed()], graceOf(snapshot.pod), stopping);
    return planner.plan();
  }
  // Ephemeral containers start also while the pod is still being initialized: that may be what is being debugged.
  for (const container of ephemeralContainers) planner.startOnce(container);
  const isInitialized = regular.some(({ name }) => planner.hasRun(name));
  if (planner.initialize(initContainers, isInitialized)) for (const container of regular) planner.keep(container);
  return planner.plan();
}

/** Everything is stopped by the deadline: regular containers first, then sidecars in reverse order. */
export function planStop(snapshot: PlanSnapshot, deadline: number, now: number): ContainerPlan {
  const planner = new Planner(snapshot, now);
  const { initContainers = [], containers, ephemeralContainers = [] } = snapshot.pod.spec;
  const regular = [...(containers ?? []), ...ephemeralContainers];
  planner.stop(regular, deadline - now, stopping);
  if (!regular.some(({ name }) => planner.isUp(name))) planner.stop(initContainers.toReversed(), deadline - now, stopping);
  return planner.plan();
}

const stopping = ({ name }: Container): string => `Stopping container ${name}`;

/** The pod's grace period in milliseconds. */
export const graceOf = ({ spec }: Pod): number => (spec.terminationGracePeriodSeconds ?? 30) * 1000;

/** The least that a kubelet gives a container, whatever its grace period. */
const shortestGraceMs = 2_000;

interface WithPod {
  readonly pod: Stored<Pod>;
}

class Planner {
  readonly #snapshot: PlanSnapshot;
  readonly #now: number;
  readonly #records: Map<string, ContainerRecord>;
  readonly #waiting: Map<string, Waiting>;
  readonly #events: (RecordPodEvent & WithPod)[] = [];
  readonly #kills: (KillContainer & WithPod)[] = [];
  readonly #starts: (StartContainer & WithPod)[] = [];
  #again: number | undefined;
  /** A container's postStart hook has to be over before the next container starts. */
  #waitsForHook: boolean;

  constructor(snapshot: PlanSnapshot, now: number) {
    this.#snapshot = snapshot;
    this.#now = now;
    this.#records = new Map(containerRecords(snapshot));
    this.#waiting = new Map(snapshot.memory.waiting);
    this.#waitsForHook = [...snapshot.memory.hooks.values()].includes('running');
  }

  plan(): ContainerPlan {
    const { memory, pod } = this.#snapshot;
    const changed = this.#waiting.size !== memory.waiting.size || [...this.#waiting].some(([name, waiting]) => memory.waiting.get(name) !== waiting);
    const remember: PodWorkerAction[] = changed ? [{ do: 'remember', pod, changes: { waiting: this.#waiting } }] : [];
    return { records: this.#records, actions: [...this.#events, ...remember, ...this.#kills, ...this.#starts], again: this.#again };
  }

  hasRun(name: string): boolean {
    return this.#snapshot.runs.some((run) => run.name === name) || this.#records.get(name)?.run !== undefined;
  }

  isUp(name: string): boolean {
    return this.#latest(name)?.state.type === 'running';
  }

  /** Whether the regular containers may start. */
  initialize(containers: readonly Container[], isInitialized: boolean): boolean {
    for (const container of containers) {
      if (isSidecar(container)) {
        this.keep(container);
        if (!isInitialized && this.#records.get(container.name)?.started !== true) return false;
      } else if (!isInitialized && !this.#hasSucceeded(container)) {
        this.keep(container);
        return false;
      }
    }
    return true;
  }

  /** Starts the container unless it runs, is over, or has to wait; stops it if it must be restarted. */
  keep(container: Container): void {
    const run = this.#latest(container.name);
    if (run?.state.type === 'running') return this.#check(container, run);
    const record = this.#records.get(container.name);
    if (hasExited(record)) {
      if (!this.#restarts(container, record.run.exitCode)) return;
      const until = heldBackUntil(this.#snapshot.memory.backOffs.get(container.name), record.run.finishedAt, this.#now);
      if (until !== undefined) return this.#holdBack(container, until);
    }
    this.#create(container, record);
  }

  /** Ephemeral containers are never restarted. */
  startOnce(container: EphemeralContainer): void {
    if (this.hasRun(container.name)) return;
    const { targetContainerName: target = '' } = container;
    const isMissing = target !== '' && this.#latest(target)?.state.type !== 'running';
    if (isMissing) return this.#waitFor(container, { reason: 'CreateContainerConfigError', message: `unable to find target container ${target}` });
    this.#create(container, undefined);
  }

  #create(container: Container, record: ContainerRecord | undefined): void {
    const retryAt = this.#snapshot.memory.retryAt.get(container.name);
    if (retryAt !== undefined && retryAt > this.#now) return this.#planAgainAt(retryAt);
    const problem = this.#snapshot.problem(container);
    if (problem === undefined) return this.#start(container, record);
    this.#waitFor(container, problem);
  }

  #waitFor(container: Container, problem: Waiting): void {
    this.#wait(container, problem, { type: 'Warning', reason: 'Failed', message: `Error: ${problem.message}` });
  }

  isOver(container: Container): boolean {
    const record = this.#records.get(container.name);
    return !this.isUp(container.name) && hasExited(record) && !this.#restarts(container, record.run.exitCode);
  }

  /** A container whose definition changed is restarted whatever its policy (kubelet: computePodActions). */
  #restarts(container: Container, exitCode: number): boolean {
    const run = this.#latest(container.name);
    const isReplaced = run !== undefined && run.image !== (container.image ?? '') && this.#snapshot.memory.stopping.has(run.id);
    return isReplaced || shouldRestart(container, this.#snapshot.pod.spec, exitCode);
  }

  /** For good. */
  hasFailed(container: Container): boolean {
    return this.isOver(container) && !this.#hasSucceeded(container);
  }

  stop(containers: readonly Container[], graceMs: number, why: (container: Container) => string): void {
    for (const container of containers) {
      const run = this.#latest(container.name);
      if (run?.state.type === 'running') this.#kill(container, run, { graceMs, message: why(container) });
    }
  }

  /** Stops a running container that has to be restarted. */
  #check(container: Container, run: ContainerRun): void {
    const { pod, memory, health } = this.#snapshot;
    const restarts = (container.restartPolicy ?? pod.spec.restartPolicy ?? 'Always') !== 'Never' ? ', will be restarted' : '';
    const { failed } = health(run.id);
    const graceMs = graceOf(pod);
    if (run.image !== (container.image ?? '')) {
      this.#kill(container, run, { graceMs, message: `Container ${container.name} definition changed, will be restarted` });
    } else if (memory.hooks.get(run.id) === 'failed') {
      this.#kill(container, run, { graceMs, message: 'FailedPostStartHook' });
    } else if (failed !== undefined) {
      const own = (failed === 'liveness' ? container.livenessProbe : container.startupProbe)?.terminationGracePeriodSeconds;
      this.#kill(container, run, {
        graceMs: own === undefined ? graceMs : own * 1000,
        message: `Container ${container.name} failed ${failed} probe${restarts}`,
      });
    }
  }

  #kill(container: Container, { id }: ContainerRun, { graceMs, message }: { readonly graceMs: number; readonly message: string }): void {
    const deadline = this.#now + Math.max(graceMs, shortestGraceMs);
    const before = this.#snapshot.memory.stopping.get(id);
    // A run that is being stopped is stopped again only if it has notably less time now.
    if (before !== undefined && before <= deadline + 1000) return;
    this.#kills.push({ do: 'kill', pod: this.#snapshot.pod, container, id, deadline, message });
  }

  #start(container: Container, record: ContainerRecord | undefined): void {
    if (this.#waitsForHook) return;
    const last = hasExited(record) ? record.run : undefined;
    const known = this.#snapshot.memory.backOffs.get(container.name);
    this.#starts.push({
      do: 'start',
      pod: this.#snapshot.pod,
      container,
      attempt: (this.#latest(container.name)?.attempt ?? (last === undefined ? -1 : (record?.restarts ?? 0))) + 1,
      backOff: last === undefined ? undefined : nextBackOff(known, last.finishedAt, this.#now),
    });
    this.#waitsForHook = container.lifecycle?.postStart !== undefined;
  }

  #holdBack(container: Container, until: number): void {
    const ms = this.#snapshot.memory.backOffs.get(container.name)?.ms ?? 0;
    this.#planAgainAt(until);
    const message = `back-off ${goDuration(ms)} restarting failed container=${container.name} pod=${this.#podName()}`;
    const backOffMessage = `Back-off restarting failed container ${container.name} in pod ${this.#podName()}`;
    this.#wait(container, { reason: 'CrashLoopBackOff', message }, { type: 'Warning', reason: 'BackOff', message: backOffMessage });
  }

  #wait(container: Container, waiting: Waiting, event: Omit<RecordPodEvent, 'do' | 'about'>): void {
    const before = this.#waiting.get(container.name);
    const record = this.#records.get(container.name) ?? { run: undefined, previous: undefined, restarts: 0, imageId: '', started: false, ready: false };
    this.#records.set(container.name, { ...record, waiting });
    if (before?.reason === waiting.reason && before.message === waiting.message) return;
    this.#waiting.set(container.name, waiting);
    this.#events.push({ do: 'record-event', pod: this.#snapshot.pod, about: containerReference(this.#snapshot.pod, container.name), ...event });
  }

  #latest(name: string): ContainerRun | undefined {
    return this.#snapshot.runs.findLast((run) => run.name === name);
  }

  #hasSucceeded({ name }: Container): boolean {
    const record = this.#records.get(name);
    return !this.isUp(name) && hasExited(record) && record.run.exitCode === 0;
  }

  #planAgainAt(time: number): void {
    this.#again = Math.min(this.#again ?? time, time);
  }

  /** 'web_default(uid)' */
  #podName(): string {
    const { name, namespace = '', uid } = this.#snapshot.pod.metadata;
    return `${name}_${namespace}(${uid})`;
  }
}
