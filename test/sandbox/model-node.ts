/** A node on virtual time with a model of a runtime: actions on its one pod take effect at once. */
import type { Pod, PodStatus } from '../../src/api/generated/types.ts';
import { validatePodStatusUpdate } from '../../src/api/kinds/pod/pod-status.ts';
import type { Stored } from '../../src/api/stored.ts';
import type { Host } from '../../src/node/host.ts';
import { type PodWorkerAction, initialWorkerState, type PodWorkerState } from '../../src/node/pod-worker/actions.ts';
import { decidePod, type PodWorkerSnapshot } from '../../src/node/pod-worker/decide.ts';
import type { ContainerHealth, ContainerRun, PodState } from '../../src/node/runtime.ts';

/** The behaviour of a container. Milliseconds. */
export interface Behaviour {
  /** Undefined: it runs until it is stopped. */
  readonly runFor: number | undefined;
  readonly exitCode: number;
  /** How long it takes to stop. */
  readonly stopAfter: number;
}

export const system = {
  machineID: '',
  systemUUID: '',
  bootID: '',
  kernelVersion: '',
  osImage: '',
  containerRuntimeVersion: '',
  kubeletVersion: '',
  kubeProxyVersion: '',
  operatingSystem: 'linux',
  architecture: 'amd64',
};

const host: Host = { name: 'n1', labels: {}, ip: '1.2.3.4', podCidr: '10.0.0.0/24', capacity: { cpu: '2', memory: '4Gi', pods: '3' }, system, drivers: [] };

export class ModelNode {
  pod: Stored<Pod> | undefined;
  now = Date.UTC(2026, 0, 1);
  memory: PodWorkerState = initialWorkerState;
  volumesReady = true;
  volumesRejected: string | undefined;
  health: (id: string) => ContainerHealth = () => ({ started: true, ready: true, failed: undefined });
  /** Events, as 'reason: message'. */
  readonly said: string[] = [];
  /** Everything that was done, as 'start app', 'kill app', 'stop-sandbox' … */
  readonly done: string[] = [];
  /** All statuses that were written, in order. */
  readonly statuses: PodStatus[] = [];
  /** The resources of runs that were resized, by id. */
  readonly limits = new Map<string, object>();
  #state: PodState | undefined;
  #admitted = false;
  readonly #behaviour: (container: string) => Behaviour;
  /** When runs end, by id. */
  readonly #ends = new Map<string, { readonly at: number; readonly exitCode: number }>();

  constructor(pod: Stored<Pod>, behaviour: (container: string) => Behaviour) {
    this.pod = pod;
    this.#behaviour = behaviour;
  }

  get runs(): readonly ContainerRun[] {
    return this.#state?.runs ?? [];
  }

  snapshot(): PodWorkerSnapshot {
    const uid = this.pod?.metadata.uid;
    return {
      pod: this.pod,
      host,
      node: undefined,
      admitted: this.#admitted || this.pod?.status.startTime !== undefined,
      others: () => [],
      mounts: () =>
        this.volumesReady ? { ready: true, mounts: new Map(), supplementalGroups: [] } : { ready: false, waiting: ['v'], rejected: this.volumesRejected },
      isUnmounted: this.memory.volumesReleased,
      freeAddress: () => '10.0.0.5',
      problem: () => undefined,
      state: this.#state?.uid === uid ? this.#state : undefined,
      strays: this.#state !== undefined && this.#state.uid !== uid ? [{ uid: this.#state.uid, node: host.name }] : [],
      memory: this.memory,
      health: (id) => this.health(id),
      runtime: 'model',
      imageId: (image) => image,
      invalidAnnotations: () => [],
    };
  }

  /** The agent restarts; runtime and objects are unchanged. */
  crash(): void {
    this.memory = initialWorkerState;
    this.#admitted = false;
  }

  /** Decides and performs until nothing is left to do at this moment. `perform` false: the agent restarts instead. */
  settle(perform: () => boolean = () => true): number | undefined {
    for (let round = 0; round < 100; round++) {
      const { actions, again } = decidePod(this.snapshot(), this.now);
      if (actions.length === 0) return again;
      for (const action of actions) {
        if (perform()) this.#perform(action);
        else {
          this.crash();
          break;
        }
      }
    }
    throw new Error(`never at rest: ${this.done.slice(-20).join(', ')}`);
  }

  /** Moves time on, to each moment at which something is due. */
  pass(ms: number, perform?: () => boolean): void {
    const until = this.now + ms;
    for (let again = this.settle(perform); ; again = this.settle(perform)) {
      const due = [...[...this.#ends.values()].map(({ at }) => at), ...(again === undefined ? [] : [again])].filter((at) => at <= until);
      if (due.length === 0) break;
      this.now = Math.max(this.now, Math.min(...due));
      this.#endRuns();
    }
    this.now = until;
    this.#endRuns();
    this.settle(perform);
  }

  delete(graceSeconds: number): void {
    if (this.pod === undefined) return;
    const deletionTimestamp = new Date(this.now + graceSeconds * 1000).toISOString();
    this.pod = { ...this.pod, metadata: { ...this.pod.metadata, deletionTimestamp, deletionGracePeriodSeconds: graceSeconds } };
  }

  #perform(action: PodWorkerAction): void {
    const name = 'container' in action ? ` ${action.container.name}` : '';
    if (action.do !== 'record-event' && action.do !== 'allocate' && action.do !== 'remember' && action.do !== 'write-status')
      this.done.push(`${action.do}${name}`);
    switch (action.do) {
      case 'admit':
        this.#admitted = true;
        return;
      case 'allocate':
        return;
      case 'write-status':
        if (this.pod !== undefined) this.#writeStatus(this.pod, action.status);
        return;
      case 'start-sandbox':
        this.#state = { ...identity(action.pod), sandbox: { ips: action.address === undefined ? [] : [action.address] }, runs: this.runs };
        return;
      case 'start':
        return this.#start(action);
      case 'resize':
        return void this.limits.set(action.id, action.container.resources);
      case 'kill':
        return this.#kill(action);
      case 'stop-sandbox':
        if (this.#state !== undefined) this.#state = { ...this.#state, sandbox: undefined };
        this.memory = { ...this.memory, volumesReleased: true };
        return;
      case 'delete-pod':
        this.pod = undefined;
        return;
      case 'remember':
        this.memory = { ...this.memory, ...action.changes };
        return;
      case 'record-event':
        this.said.push(`${action.reason}: ${action.message}`);
        return;
      case 'discard':
        this.#state = undefined;
        this.#ends.clear();
        return;
    }
  }

  /** As the API server does: a status that fails validation is an error. */
  #writeStatus(pod: Stored<Pod>, status: PodStatus): void {
    const next = { ...pod, status };
    const wrong = validatePodStatusUpdate(next, pod);
    if (wrong.length > 0) throw new Error(`the API server rejects the status: ${JSON.stringify(wrong)}`);
    this.pod = next;
    this.statuses.push(status);
  }

  #start({ container, attempt, backOff }: Extract<PodWorkerAction, { do: 'start' }>): void {
    if (this.#state?.sandbox === undefined) throw new Error('a container without a sandbox');
    const { runFor, exitCode } = this.#behaviour(container.name);
    const id = `${container.name}-${attempt}`;
    this.#state = {
      ...this.#state,
      runs: [...this.runs, { id, name: container.name, attempt, image: container.image ?? '', state: { type: 'running', startedAt: this.now } }],
    };
    if (container.lifecycle?.postStart !== undefined) this.memory = { ...this.memory, hooks: new Map(this.memory.hooks).set(id, 'running') };
    if (runFor !== undefined) this.#ends.set(id, { at: this.now + runFor, exitCode });
    if (backOff !== undefined) this.memory = { ...this.memory, backOffs: new Map(this.memory.backOffs).set(container.name, backOff) };
    this.memory = { ...this.memory, waiting: new Map([...this.memory.waiting].filter(([name]) => name !== container.name)) };
  }

  #kill({ container, id, deadline, message }: Extract<PodWorkerAction, { do: 'kill' }>): void {
    this.memory = { ...this.memory, stopping: new Map(this.memory.stopping).set(id, deadline) };
    this.said.push(`Killing: ${message}`);
    const asked = this.now + this.#behaviour(container.name).stopAfter;
    this.#ends.set(id, asked <= deadline ? { at: asked, exitCode: 0 } : { at: deadline, exitCode: 137 });
  }

  #endRuns(): void {
    for (const [id, { at, exitCode }] of this.#ends) {
      if (at > this.now || this.#state === undefined) continue;
      this.#ends.delete(id);
      const end = (run: ContainerRun): ContainerRun =>
        run.id !== id
          ? run
          : {
              ...run,
              state: { type: 'exited', startedAt: run.state.startedAt, finishedAt: at, exitCode, reason: exitCode === 0 ? 'Completed' : 'Error', message: '' },
            };
      this.#state = { ...this.#state, runs: this.runs.map(end) };
    }
  }
}

const identity = ({ metadata: { uid, namespace = '', name } }: Stored<Pod>) => ({ uid, namespace, name });
