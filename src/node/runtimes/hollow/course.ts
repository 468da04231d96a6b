/** What the containers of a pod on a hollow node do, moment by moment: a function of what they did before and of the time. */
import type { Container, EphemeralContainer, ObjectReference, Pod, Probe } from '../../../api/generated/types.ts';
import { isSidecar } from '../../../api/kinds/pod/pod-parts.ts';
import { type BackOff, goDuration, heldBackUntil, nextBackOff, shouldRestart } from '../../pods/restart.ts';
import { containerReference } from '../../pods/container-reference.ts';
import { type ContainerRecord, hasExited, isRunning } from '../../pods/runtime-state.ts';
import { type Script, scriptOf } from './script.ts';

export interface CourseSight {
  readonly pod: Pod;
  /** By container. */
  readonly records: ReadonlyMap<string, ContainerRecord>;
  readonly backOffs: ReadonlyMap<string, BackOff>;
  /** Containers that get other resources, and have to be started anew for that. */
  readonly restarting?: ReadonlySet<string>;
  /** Why the container cannot be made; undefined: it can. */
  readonly problem: (container: Container) => string | undefined;
  readonly hasImage: (image: string) => boolean;
  /** In hexadecimal. */
  readonly sha256: (text: string) => string;
}

export interface Course {
  readonly records: ReadonlyMap<string, ContainerRecord>;
  readonly backOffs: ReadonlyMap<string, BackOff>;
  /** In order. */
  readonly happenings: readonly Happening[];
  readonly pulled: readonly string[];
  /** When something happens next by itself; milliseconds since 1970. */
  readonly again: number | undefined;
}

/** An event. */
export interface Happening {
  /** A container; the pod itself, unless said. */
  readonly about?: ObjectReference;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

/** The pod goes on: init containers one after the other, sidecars that stay, then all others. `now`: milliseconds since 1970. */
export function advance(sight: CourseSight, now: number): Course {
  const stage = new Stage(sight, now);
  const { initContainers = [], containers, ephemeralContainers = [] } = sight.pod.spec;
  const regular = containers ?? [];
  for (const container of [...initContainers, ...regular, ...ephemeralContainers]) stage.endIfDue(container);
  for (const container of ephemeralContainers) stage.startOnce(container);
  const isInitialized = regular.some(({ name }) => sight.records.get(name)?.run !== undefined);
  if (!stage.initialize(initContainers, isInitialized)) return stage.course();
  for (const container of regular) stage.keepRunning(container);
  // Sidecars are there for the others, and so is whoever looks into them.
  if (regular.every((container) => stage.isOver(container))) stage.stopAll([...initContainers, ...ephemeralContainers]);
  return stage.course();
}

/** The pod is stopped: regular containers first, then their sidecars. */
export interface Stop {
  /** Milliseconds since 1970. */
  readonly since: number;
  readonly graceMs: number;
  /** It was said already. */
  readonly told: boolean;
}

export function halt(sight: CourseSight, stop: Stop, now: number): Course {
  const stage = new Stage(sight, now);
  const { initContainers = [], containers, ephemeralContainers = [] } = sight.pod.spec;
  const regular = [...(containers ?? []), ...ephemeralContainers];
  const killedAt = stop.since + Math.max(stop.graceMs, shortestGraceMs);
  if (!stop.told) for (const container of [...regular, ...initContainers]) stage.sayStopping(container);
  const ends = regular.map((container) => stage.haltOne(container, { from: stop.since, killedAt }));
  const from = Math.max(stop.since, ...ends);
  for (const container of initContainers) stage.haltOne(container, { from, killedAt: Math.max(from, killedAt) });
  return stage.course();
}

/** Kubelets give every container this long, whatever was asked for. */
const shortestGraceMs = 2_000;

class Stage {
  readonly #sight: CourseSight;
  readonly #script: Script;
  readonly #now: number;
  readonly #records: Map<string, ContainerRecord>;
  readonly #backOffs: Map<string, BackOff>;
  readonly #happenings: Happening[] = [];
  readonly #pulled: string[] = [];
  /** What ended just now is seen to have ended before it runs again. */
  readonly #justEnded = new Set<string>();
  #again: number | undefined;

  constructor(sight: CourseSight, now: number) {
    this.#sight = sight;
    this.#now = now;
    this.#script = scriptOf(sight.pod);
    this.#records = new Map(sight.records);
    this.#backOffs = new Map(sight.backOffs);
  }

  course(): Course {
    for (const container of [...(this.#sight.pod.spec.initContainers ?? []), ...(this.#sight.pod.spec.containers ?? [])]) this.#probe(container);
    return { records: this.#records, backOffs: this.#backOffs, happenings: this.#happenings, pulled: this.#pulled, again: this.#again };
  }

  endIfDue(container: Container): void {
    const record = this.#records.get(container.name);
    const runFor = this.#script.runFor(container);
    if (record?.run?.state !== 'running' || runFor === undefined) return;
    const due = record.run.startedAt + runFor;
    if (due <= this.#now) this.#end(container, this.#script.exitCode(container), due);
    else this.#wakeAt(due);
  }

  /** Whether all that has to happen before the regular containers start has happened. */
  initialize(containers: readonly Container[], isInitialized: boolean): boolean {
    for (const container of containers) {
      if (isSidecar(container)) {
        this.keepRunning(container);
        if (!isInitialized && !this.#hasStarted(container)) return false;
      } else if (!isInitialized && !this.#hasSucceeded(container)) {
        this.keepRunning(container);
        this.endIfDue(container);
        if (this.#hasFailedForGood(container)) this.stopAll(containers);
        if (!this.#hasSucceeded(container)) return false;
      }
    }
    return true;
  }

  /** Starts it unless it runs, is over, or has to wait. */
  keepRunning(container: Container): void {
    const record = this.#records.get(container.name);
    if (record?.run?.state === 'running') {
      if (record.run.image !== (container.image ?? '')) this.#replace(container, 'definition changed, will be restarted');
      else if (this.#sight.restarting?.has(container.name) === true) this.#replace(container, 'resize requires restart');
      return;
    }
    if (this.#justEnded.has(container.name)) return this.isOver(container) ? undefined : this.#wakeAt(this.#now);
    if (hasExited(record)) {
      if (!shouldRestart(container, this.#sight.pod.spec, record.run.exitCode)) return;
      const until = heldBackUntil(this.#backOffs.get(container.name), record.run.finishedAt, this.#now);
      if (until !== undefined) return this.#holdBack(container, record, until);
    }
    this.#make(container);
  }

  /** Ephemeral containers are never started again. */
  startOnce(container: EphemeralContainer): void {
    if (this.#records.get(container.name)?.run === undefined) this.#make(container);
  }

  #make(container: Container): void {
    const problem = this.#sight.problem(container);
    if (problem === undefined) return this.#start(container);
    this.#wait(container, { reason: 'CreateContainerConfigError', message: problem }, { type: 'Warning', reason: 'Failed', message: `Error: ${problem}` });
  }

  isOver(container: Container): boolean {
    const record = this.#records.get(container.name);
    return hasExited(record) && !shouldRestart(container, this.#sight.pod.spec, record.run.exitCode);
  }

  stopAll(containers: readonly Container[]): void {
    for (const container of containers) {
      this.sayStopping(container);
      if (isRunning(this.#records.get(container.name))) this.#end(container, 0, this.#now);
    }
  }

  sayStopping(container: Container): void {
    if (isRunning(this.#records.get(container.name)))
      this.#tell(container, { type: 'Normal', reason: 'Killing', message: `Stopping container ${container.name}` });
  }

  /** When it has stopped, or will have. */
  haltOne(container: Container, { from, killedAt }: { readonly from: number; readonly killedAt: number }): number {
    if (!isRunning(this.#records.get(container.name))) return from;
    const asked = from + (container.lifecycle?.preStop?.sleep?.seconds ?? 0) * 1000 + this.#script.stopAfter(container);
    const end = Math.min(asked, killedAt);
    if (end <= this.#now) this.#end(container, asked < killedAt ? 0 : killed, end);
    else this.#wakeAt(end);
    return end;
  }

  #replace(container: Container, why: string): void {
    this.#tell(container, { type: 'Normal', reason: 'Killing', message: `Container ${container.name} ${why}` });
    this.#end(container, 0, this.#now);
    this.#start(container);
  }

  #holdBack(container: Container, record: ContainerRecord, until: number): void {
    const ms = this.#backOffs.get(container.name)?.ms ?? 0;
    const message = `back-off ${goDuration(ms)} restarting failed container=${container.name} pod=${this.#podName()}`;
    this.#wakeAt(until);
    if (record.waiting?.message === message) return;
    const said = `Back-off restarting failed container ${container.name} in pod ${this.#podName()}`;
    this.#wait(container, { reason: 'CrashLoopBackOff', message }, { type: 'Warning', reason: 'BackOff', message: said });
  }

  #wait(container: Container, waiting: NonNullable<ContainerRecord['waiting']>, report: Omit<Happening, 'about'>): void {
    const record = this.#records.get(container.name);
    if (record?.waiting?.reason !== waiting.reason || record.waiting.message !== waiting.message) this.#tell(container, report);
    const nothing = { run: undefined, previous: undefined, restarts: 0, imageId: '' };
    this.#records.set(container.name, { ...(record ?? nothing), started: false, ready: false, waiting });
  }

  #start(container: Container): void {
    const { image = '', name } = container;
    const before = this.#records.get(name);
    const last = hasExited(before) ? before.run : undefined;
    if (last !== undefined) this.#backOffs.set(name, nextBackOff(this.#backOffs.get(name), last.finishedAt, this.#now));
    this.#pull(container);
    this.#tell(container, { type: 'Normal', reason: 'Created', message: 'Container created' });
    this.#tell(container, { type: 'Normal', reason: 'Started', message: 'Container started' });
    const restarts = last === undefined || before === undefined ? 0 : before.restarts + 1;
    const id = `hollow://${this.#sight.sha256(`${this.#sight.pod.metadata.uid ?? ''}/${name}/${restarts}`)}`;
    this.#records.set(name, {
      // Statuses tell the second, and are all that is remembered.
      run: { state: 'running', id, image, startedAt: Math.floor(this.#now / 1000) * 1000 },
      previous: last,
      restarts,
      imageId: imageIdOf(image, this.#sight.sha256),
      started: false,
      ready: false,
      waiting: undefined,
    });
    this.#justEnded.delete(name);
    this.endIfDue(container);
  }

  #pull(container: Container): void {
    const { image = '', imagePullPolicy } = container;
    const isPresent = this.#sight.hasImage(image) || this.#pulled.includes(image) || imagePullPolicy === 'Never';
    if (isPresent && imagePullPolicy !== 'Always') {
      const message = `Container image ${JSON.stringify(image)} already present on machine and can be accessed by the pod`;
      return this.#tell(container, { type: 'Normal', reason: 'Pulled', message });
    }
    const pulled = `Successfully pulled image ${JSON.stringify(image)} in 0s (0s including waiting). Image size: 0 bytes.`;
    this.#tell(container, { type: 'Normal', reason: 'Pulling', message: `Pulling image ${JSON.stringify(image)}` });
    this.#tell(container, { type: 'Normal', reason: 'Pulled', message: pulled });
    this.#pulled.push(image);
  }

  #end({ name }: Container, exitCode: number, at: number): void {
    const record = this.#records.get(name);
    if (record?.run?.state !== 'running') return;
    const { id, image, startedAt } = record.run;
    const run = { state: 'exited', id, image, startedAt, finishedAt: Math.max(at, startedAt), exitCode } as const;
    this.#records.set(name, { ...record, run, started: false, ready: false, waiting: undefined });
    this.#justEnded.add(name);
  }

  /** Whether it counts as started and ready by now. */
  #probe(container: Container): void {
    const record = this.#records.get(container.name);
    if (record === undefined) return;
    const isInit = this.#sight.pod.spec.initContainers?.includes(container) === true && !isSidecar(container);
    const started = this.#hasStarted(container);
    const ready = isInit ? this.#hasSucceeded(container) : started && this.#isDue(container, this.#readyAfter(container));
    this.#records.set(container.name, { ...record, started, ready });
  }

  #hasStarted(container: Container): boolean {
    return this.#isDue(container, probeMs(container.startupProbe));
  }

  #readyAfter(container: Container): number {
    return Math.max(probeMs(container.startupProbe), probeMs(container.readinessProbe), this.#script.readyAfter(container));
  }

  /** It runs, and has run for so long. */
  #isDue({ name }: Container, ms: number): boolean {
    const run = this.#records.get(name)?.run;
    if (run?.state !== 'running') return false;
    const due = run.startedAt + ms;
    if (due > this.#now && Number.isFinite(due)) this.#wakeAt(due);
    return due <= this.#now;
  }

  #hasSucceeded({ name }: Container): boolean {
    const record = this.#records.get(name);
    return hasExited(record) && record.run.exitCode === 0;
  }

  #hasFailedForGood(container: Container): boolean {
    return this.isOver(container) && !this.#hasSucceeded(container);
  }

  #wakeAt(time: number): void {
    this.#again = Math.min(this.#again ?? time, time);
  }

  #tell({ name }: Container, report: Omit<Happening, 'about'>): void {
    this.#happenings.push({ about: containerReference(this.#sight.pod, name), ...report });
  }

  /** 'web_default(uid)' */
  #podName(): string {
    const { name = '', namespace = '', uid = '' } = this.#sight.pod.metadata;
    return `${name}_${namespace}(${uid})`;
  }
}

/** What SIGKILL leaves behind. */
const killed = 137;

/** A probe on a hollow node succeeds as soon as it is made, as often as it has to. */
function probeMs(probe: Probe | undefined): number {
  if (probe === undefined) return 0;
  const { initialDelaySeconds = 0, successThreshold = 1, periodSeconds = 10 } = probe;
  return (initialDelaySeconds + (successThreshold - 1) * periodSeconds) * 1000;
}

/** 'nginx@sha256:…' */
function imageIdOf(image: string, sha256: (text: string) => string): string {
  if (image.includes('@')) return image;
  const tag = image.lastIndexOf(':');
  const name = tag > image.lastIndexOf('/') ? image.slice(0, tag) : image;
  return `${name}@sha256:${sha256(image)}`;
}
