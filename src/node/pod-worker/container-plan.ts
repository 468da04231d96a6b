/** Which containers of a pod have to be started or stopped now, and what the pod waits for. */
import type { Container, EphemeralContainer, Pod } from '../../api/generated/types.ts';
import { isSidecar } from '../../api/kinds/pod/pod-parts.ts';
import { goDuration, heldBackUntil, nextBackOff, shouldRestart } from '../pods/restart.ts';
import { type ContainerRecord, hasExited, type Waiting } from '../pods/runtime-state.ts';
import type { ContainerRun } from '../runtime.ts';
import type { PodWorkerAction, KillContainer, StartContainer, RecordPodEvent } from './actions.ts';
import { containerReference } from '../pods/container-reference.ts';
import { containerRecords, type RunsSnapshot } from './container-records.ts';

export interface PlanSnapshot extends RunsSnapshot {
  /** Why the container cannot be made; undefined: it can. */
  readonly problem: (container: Container) => string | undefined;
}

export interface ContainerPlan {
  readonly records: ReadonlyMap<string, ContainerRecord>;
  /** In order; after the first that is a start, all others are. */
  readonly actions: readonly PodWorkerAction[];
  /** When something is due by itself; milliseconds since 1970. */
  readonly again: number | undefined;
}

/** Init containers one after the other, sidecars that stay, then all others. `now`: milliseconds since 1970. */
export function planStart(sight: PlanSnapshot, now: number): ContainerPlan {
  const stage = new Planner(sight, now);
  const { initContainers = [], containers, ephemeralContainers = [] } = sight.pod.spec;
  const regular = containers ?? [];
  // They start also while the pod is still being initialized: that may be what somebody looks into.
  for (const container of ephemeralContainers) stage.startOnce(container);
  const isInitialized = regular.some(({ name }) => stage.hasRun(name));
  if (!stage.initialize(initContainers, isInitialized)) return stage.plan();
  for (const container of regular) stage.keep(container);
  // Sidecars are there for the others, and so is whoever looks into them.
  if (regular.every((container) => stage.isOver(container))) stage.stop([...ephemeralContainers, ...initContainers.toReversed()], graceOf(sight.pod), stopping);
  return stage.plan();
}

/** Everything is stopped by the deadline: regular containers first, then their sidecars, the last first. */
export function planStop(sight: PlanSnapshot, deadline: number, now: number): ContainerPlan {
  const stage = new Planner(sight, now);
  const { initContainers = [], containers, ephemeralContainers = [] } = sight.pod.spec;
  const regular = [...(containers ?? []), ...ephemeralContainers];
  stage.stop(regular, deadline - now, stopping);
  if (!regular.some(({ name }) => stage.isUp(name))) stage.stop(initContainers.toReversed(), deadline - now, stopping);
  return stage.plan();
}

const stopping = ({ name }: Container): string => `Stopping container ${name}`;

/** Of the whole pod, in milliseconds. */
export const graceOf = ({ spec }: Pod): number => (spec.terminationGracePeriodSeconds ?? 30) * 1000;

/** Kubelets give every container this long, whatever was asked for. */
const shortestGraceMs = 2_000;

class Planner {
  readonly #sight: PlanSnapshot;
  readonly #now: number;
  readonly #records: Map<string, ContainerRecord>;
  readonly #waiting: Map<string, Waiting>;
  readonly #tells: (RecordPodEvent & { readonly pod: Pod })[] = [];
  readonly #kills: (KillContainer & { readonly pod: Pod })[] = [];
  readonly #starts: (StartContainer & { readonly pod: Pod })[] = [];
  #again: number | undefined;
  /** What a container does after its start has to be over before the next one starts. */
  #isHeldUp: boolean;

  constructor(sight: PlanSnapshot, now: number) {
    this.#sight = sight;
    this.#now = now;
    this.#records = new Map(containerRecords(sight));
    this.#waiting = new Map(sight.memory.waiting);
    this.#isHeldUp = [...sight.memory.hooks.values()].includes('running');
  }

  plan(): ContainerPlan {
    const { memory, pod } = this.#sight;
    const changed = this.#waiting.size !== memory.waiting.size || [...this.#waiting].some(([name, waiting]) => memory.waiting.get(name) !== waiting);
    const remember: PodWorkerAction[] = changed ? [{ do: 'remember', pod, news: { waiting: this.#waiting } }] : [];
    return { records: this.#records, actions: [...this.#tells, ...remember, ...this.#kills, ...this.#starts], again: this.#again };
  }

  hasRun(name: string): boolean {
    return this.#sight.runs.some((run) => run.name === name) || this.#records.get(name)?.run !== undefined;
  }

  isUp(name: string): boolean {
    return this.#latest(name)?.state.type === 'running';
  }

  /** Whether all that has to happen before the regular containers start has happened. */
  initialize(containers: readonly Container[], isInitialized: boolean): boolean {
    for (const container of containers) {
      if (isSidecar(container)) {
        this.keep(container);
        if (!isInitialized && this.#records.get(container.name)?.started !== true) return false;
      } else if (!isInitialized && !this.#hasSucceeded(container)) {
        this.keep(container);
        if (this.isOver(container)) this.stop(containers.toReversed(), graceOf(this.#sight.pod), stopping);
        return false;
      }
    }
    return true;
  }

  /** Starts it unless it runs, is over, or has to wait; stops it if it must not go on as it is. */
  keep(container: Container): void {
    const run = this.#latest(container.name);
    if (run?.state.type === 'running') return this.#check(container, run);
    const record = this.#records.get(container.name);
    if (hasExited(record)) {
      if (!shouldRestart(container, this.#sight.pod.spec, record.run.exitCode)) return;
      const until = heldBackUntil(this.#sight.memory.backOffs.get(container.name), record.run.finishedAt, this.#now);
      if (until !== undefined) return this.#holdBack(container, until);
    }
    this.#make(container, record);
  }

  /** Ephemeral containers are never started again. */
  startOnce(container: EphemeralContainer): void {
    if (this.hasRun(container.name)) return;
    const { targetContainerName: target = '' } = container;
    const isMissing = target !== '' && this.#latest(target)?.state.type !== 'running';
    if (isMissing) return this.#waitForConfig(container, `unable to find target container ${target}`);
    this.#make(container, undefined);
  }

  #make(container: Container, record: ContainerRecord | undefined): void {
    const retryAt = this.#sight.memory.retryAt.get(container.name);
    if (retryAt !== undefined && retryAt > this.#now) return this.#wakeAt(retryAt);
    const problem = this.#sight.problem(container);
    if (problem === undefined) return this.#start(container, record);
    this.#waitForConfig(container, problem);
  }

  #waitForConfig(container: Container, problem: string): void {
    this.#wait(container, { reason: 'CreateContainerConfigError', message: problem }, { type: 'Warning', reason: 'Failed', message: `Error: ${problem}` });
  }

  isOver(container: Container): boolean {
    const record = this.#records.get(container.name);
    return !this.isUp(container.name) && hasExited(record) && !shouldRestart(container, this.#sight.pod.spec, record.run.exitCode);
  }

  stop(containers: readonly Container[], graceMs: number, why: (container: Container) => string): void {
    for (const container of containers) {
      const run = this.#latest(container.name);
      if (run?.state.type === 'running') this.#kill(container, run, { graceMs, message: why(container) });
    }
  }

  /** A container that runs may have to be started anew. */
  #check(container: Container, run: ContainerRun): void {
    const { pod, memory, health } = this.#sight;
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
    const before = this.#sight.memory.stopping.get(id);
    // What is being stopped is asked again only if there is notably less time.
    if (before !== undefined && before <= deadline + 1000) return;
    this.#kills.push({ do: 'kill', pod: this.#sight.pod, container, id, deadline, message });
  }

  #start(container: Container, record: ContainerRecord | undefined): void {
    if (this.#isHeldUp) return;
    const last = hasExited(record) ? record.run : undefined;
    const known = this.#sight.memory.backOffs.get(container.name);
    this.#starts.push({
      do: 'start',
      pod: this.#sight.pod,
      container,
      attempt: (this.#latest(container.name)?.attempt ?? (last === undefined ? -1 : (record?.restarts ?? 0))) + 1,
      backOff: last === undefined ? undefined : nextBackOff(known, last.finishedAt, this.#now),
    });
    this.#isHeldUp = container.lifecycle?.postStart !== undefined;
  }

  #holdBack(container: Container, until: number): void {
    const ms = this.#sight.memory.backOffs.get(container.name)?.ms ?? 0;
    this.#wakeAt(until);
    const message = `back-off ${goDuration(ms)} restarting failed container=${container.name} pod=${this.#podName()}`;
    const said = `Back-off restarting failed container ${container.name} in pod ${this.#podName()}`;
    this.#wait(container, { reason: 'CrashLoopBackOff', message }, { type: 'Warning', reason: 'BackOff', message: said });
  }

  #wait(container: Container, waiting: Waiting, report: Omit<RecordPodEvent, 'do' | 'about'>): void {
    const before = this.#waiting.get(container.name);
    const record = this.#records.get(container.name) ?? { run: undefined, previous: undefined, restarts: 0, imageId: '', started: false, ready: false };
    this.#records.set(container.name, { ...record, waiting });
    if (before?.reason === waiting.reason && before.message === waiting.message) return;
    this.#waiting.set(container.name, waiting);
    this.#tells.push({ do: 'tell', pod: this.#sight.pod, about: containerReference(this.#sight.pod, container.name), ...report });
  }

  #latest(name: string): ContainerRun | undefined {
    return this.#sight.runs.findLast((run) => run.name === name);
  }

  #hasSucceeded({ name }: Container): boolean {
    const record = this.#records.get(name);
    return !this.isUp(name) && hasExited(record) && record.run.exitCode === 0;
  }

  #wakeAt(time: number): void {
    this.#again = Math.min(this.#again ?? time, time);
  }

  /** 'web_default(uid)' */
  #podName(): string {
    const { name = '', namespace = '', uid = '' } = this.#sight.pod.metadata;
    return `${name}_${namespace}(${uid})`;
  }
}
