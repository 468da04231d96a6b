import type { Container, Pod } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { recordsOf } from '../../pods/status/container-statuses.ts';
import type { Cancel, World } from '../../../world/world.ts';
import type { ContainerHealth, ContainerRun } from '../../runtime.ts';
import type { HandlerResult } from './handler-result.ts';
import type { ContainerHandler } from './handlers.ts';
import { initialProbeState, healthOf, nextProbeState, type ProbeType, probeOf, type ProbeState } from './health.ts';

export interface ProberOptions {
  readonly world: World;
  /** 'sandbox': what ids of containers begin with. */
  readonly runtime: string;
  readonly runHandler: (
    handler: ContainerHandler,
    of: { readonly container: Container; readonly field: string; readonly id: string; readonly pod: Stored<Pod>; readonly timeoutMs: number },
  ) => Promise<HandlerResult>;
  /** The health of a container has changed. */
  readonly onChange: (pod: Stored<Pod>) => void;
  readonly recordUnhealthy: (pod: Stored<Pod>, container: string, message: string) => void;
}

const types = ['startup', 'readiness', 'liveness'] as const;
const healthy: ContainerHealth = { started: true, ready: true, failed: undefined };

/** Runs the probes of containers, each in its period. */
export class Prober {
  readonly #options: ProberOptions;
  /** By the run's id. */
  readonly #workers = new Map<string, ProbeWorker>();
  /** By the pod's uid. */
  readonly #byPod = new Map<string, Set<string>>();

  constructor(options: ProberOptions) {
    this.#options = options;
  }

  /** A run without probes is healthy. */
  health(id: string): ContainerHealth {
    return this.#workers.get(id)?.health ?? healthy;
  }

  /** From now on, these runs of the pod are probed, and no others. */
  follow(pod: Stored<Pod>, runs: readonly ContainerRun[]): void {
    const { uid } = pod.metadata;
    const before = this.#byPod.get(uid);
    const containers = [...(pod.spec.initContainers ?? []), ...(pod.spec.containers ?? [])].filter(isProbed);
    if (before === undefined && containers.length === 0) return;
    const now = new Set<string>();
    for (const container of containers) {
      const run = runs.findLast(({ name }) => name === container.name);
      if (run?.state.type !== 'running') continue;
      now.add(run.id);
      const worker = this.#workers.get(run.id);
      if (worker === undefined) this.#workers.set(run.id, new ProbeWorker(this.#options, { pod, container, run }));
      else worker.update(pod);
    }
    for (const id of before ?? []) if (!now.has(id)) this.#drop(id);
    if (now.size === 0) this.#byPod.delete(uid);
    else this.#byPod.set(uid, now);
  }

  forget(uid: string): void {
    for (const id of this.#byPod.get(uid) ?? []) this.#drop(id);
    this.#byPod.delete(uid);
  }

  stop(): void {
    for (const id of this.#workers.keys()) this.#drop(id);
  }

  #drop(id: string): void {
    this.#workers.get(id)?.stop();
    this.#workers.delete(id);
  }
}

const isProbed = (container: Container): boolean => types.some((type) => probeOf(container, type) !== undefined);

interface ProbeSubject {
  readonly pod: Stored<Pod>;
  readonly container: Container;
  readonly run: ContainerRun;
}

class ProbeWorker {
  readonly #options: ProberOptions;
  readonly #container: Container;
  readonly #id: string;
  #pod: Stored<Pod>;
  readonly #states = new Map<ProbeType, ProbeState>();
  readonly #timers = new Map<ProbeType, Cancel>();
  #stopped = false;

  constructor(options: ProberOptions, { pod, container, run }: ProbeSubject) {
    this.#options = options;
    this.#pod = pod;
    this.#container = container;
    this.#id = run.id;
    const reported = recordsOf(pod.status).get(container.name);
    // The status of this very run holds until probes say otherwise: a restarted agent makes no container unready.
    const isKnown = reported?.run?.id === `${options.runtime}://${run.id}`;
    for (const type of types) {
      const probe = probeOf(container, type);
      if (probe === undefined) continue;
      const state = initialProbeState(run.state.startedAt + (probe.initialDelaySeconds ?? 0) * 1000);
      const known = type === 'startup' ? reported?.started : type === 'readiness' ? reported?.ready : undefined;
      this.#states.set(type, isKnown && known === true ? { ...state, counts: true } : state);
    }
    this.#schedule();
  }

  get health(): ContainerHealth {
    return healthOf(this.#container, this.#states);
  }

  update(pod: Stored<Pod>): void {
    this.#pod = pod;
  }

  stop(): void {
    this.#stopped = true;
    for (const cancel of this.#timers.values()) cancel();
  }

  /** Until the startup probe has succeeded no other probe runs; a container that failed is probed no more. */
  #schedule(): void {
    const { started, failed } = this.health;
    if (this.#stopped || failed !== undefined) return;
    for (const [type, { nextAt }] of this.#states) {
      const isDue = type === 'startup' ? !started : started;
      if (isDue && !this.#timers.has(type)) {
        this.#timers.set(
          type,
          this.#options.world.timers.after(Math.max(0, nextAt - this.#options.world.clock.now()), () => void this.#probe(type)),
        );
      }
    }
  }

  async #probe(type: ProbeType): Promise<void> {
    const { runHandler, recordUnhealthy, onChange, world } = this.#options;
    const probe = probeOf(this.#container, type);
    const state = this.#states.get(type);
    if (probe === undefined || state === undefined || this.#stopped) return;
    const pod = this.#pod;
    const isTerminating = pod.metadata.deletionTimestamp !== undefined && type !== 'readiness';
    const of = { container: this.#container, field: `${type}Probe`, id: this.#id, pod, timeoutMs: (probe.timeoutSeconds ?? 1) * 1000 };
    // A container that is being stopped is not restarted because of a probe.
    const outcome: HandlerResult = isTerminating ? { result: 'success', output: '' } : await runHandler(probe, of);
    if (this.#stopped) return;
    const before = this.health;
    this.#states.set(type, nextProbeState(state, probe, { ok: outcome.result === 'success', now: world.clock.now() }));
    if (outcome.result !== 'success') recordUnhealthy(pod, this.#container.name, unhealthyMessage(type, outcome));
    this.#timers.delete(type);
    this.#schedule();
    const after = this.health;
    if (before.started !== after.started || before.ready !== after.ready || before.failed !== after.failed) onChange(pod);
  }
}

const unhealthyMessage = (type: ProbeType, { result, output }: HandlerResult): string => {
  const name = `${type.charAt(0).toUpperCase()}${type.slice(1)}`;
  return result === 'unknown' ? `${name} probe errored and resulted in Unknown state: ${output}` : `${name} probe failed: ${output}`;
};
