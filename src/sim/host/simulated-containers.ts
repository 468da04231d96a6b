import type { ContainerMount } from '../../node/contract.ts';
import type { ContainerRun, ContainerSpec, PodSandbox, PodSandboxSpec, PodState } from '../../node/runtime.ts';
import type { SimulatedWorld } from '../world/world.ts';

interface RunningPod {
  state: PodState;
  /** By the run's id. */
  readonly mounts: Map<string, readonly ContainerMount[]>;
}

/** How long a container with a task runs, and how long another one takes to end when it is asked to. */
const [taskMs, stopMs] = [1_000, 200];
const killed = 137;

/** The containers of a simulated machine. They outlive the agent that started them. */
export class Containers {
  readonly #world: SimulatedWorld;
  readonly #pods = new Map<string, RunningPod>();
  /** The agent that runs now; others are dead. */
  listener: (uid: string) => void = () => undefined;

  constructor(world: SimulatedWorld) {
    this.#world = world;
  }

  states(): readonly PodState[] {
    return Array.from(this.#pods.values(), ({ state }) => state);
  }

  pod(uid: string): PodState | undefined {
    return this.#pods.get(uid)?.state;
  }

  /** Pods with a container that runs and sees this path. */
  usersOf(path: string): readonly string[] {
    return Array.from(this.#pods).flatMap(([uid, { state, mounts }]) =>
      state.runs.some((run) => run.state.type === 'running' && mounts.get(run.id)?.some(({ hostPath }) => hostPath === path) === true) ? [uid] : [],
    );
  }

  startPod({ uid, namespace, name, address }: PodSandboxSpec): PodSandbox {
    const sandbox = { ips: address === undefined ? [] : [address] };
    const pod = this.#pods.get(uid);
    if (pod === undefined) this.#pods.set(uid, { state: { uid, namespace, name, sandbox, runs: [] }, mounts: new Map() });
    else pod.state = { ...pod.state, sandbox };
    this.listener(uid);
    return sandbox;
  }

  /** Undefined: the pod has no sandbox. */
  start({ podUid, name, attempt, image, mounts, command }: ContainerSpec): ContainerRun | undefined {
    const pod = this.#pods.get(podUid);
    if (pod?.state.sandbox === undefined) return undefined;
    const id = `${podUid}-${name}-${attempt}`;
    const run: ContainerRun = { id, name, attempt, image, state: { type: 'running', startedAt: this.#world.clock.now() } };
    pod.mounts.set(id, mounts);
    pod.state = { ...pod.state, runs: [...pod.state.runs.filter((each) => each.id !== id), run] };
    // Only the scrubbers of volumes have a command here.
    if (command.length > 0) this.#world.timers.after(taskMs, () => this.#end(id, 0));
    this.listener(podUid);
    return run;
  }

  /** `onEnd` is called when it has ended. */
  stop(id: string, onEnd: () => void): void {
    this.#world.timers.after(stopMs, () => {
      this.#end(id, 0);
      onEnd();
    });
  }

  stopPod(uid: string): void {
    const pod = this.#pods.get(uid);
    if (pod === undefined) return;
    for (const { id } of pod.state.runs) this.#end(id, killed);
    pod.state = { ...pod.state, sandbox: undefined };
    this.listener(uid);
  }

  removePod(uid: string): void {
    this.#pods.delete(uid);
    this.listener(uid);
  }

  isRunning(id: string): boolean {
    return Array.from(this.#pods.values()).some(({ state }) => state.runs.some((run) => run.id === id && run.state.type === 'running'));
  }

  /** The machine is off. */
  clear(): void {
    this.#pods.clear();
  }

  #end(id: string, exitCode: number): void {
    for (const [uid, pod] of this.#pods) {
      const ended = pod.state.runs.find((run) => run.id === id && run.state.type === 'running');
      if (ended === undefined) continue;
      const { startedAt } = ended.state;
      const end = { startedAt, finishedAt: this.#world.clock.now(), exitCode, reason: exitCode === 0 ? 'Completed' : 'Error', message: '' };
      pod.state = { ...pod.state, runs: pod.state.runs.map((run) => (run === ended ? { ...run, state: { type: 'exited', ...end } } : run)) };
      this.listener(uid);
    }
  }
}
