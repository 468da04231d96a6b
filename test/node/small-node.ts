/** A node in miniature: does what a decision about one pod asks for, and can forget everything but the object, as a crash does. */
import type { Pod, PodStatus } from '../../src/api/generated/types.ts';
import { validatePodStatusUpdate } from '../../src/api/kinds/pod/pod-status.ts';
import type { PodAssignment } from '../../src/node/allocations.ts';
import { type Action, noMemory, type PodMemory } from '../../src/node/runtimes/hollow/actions.ts';
import { decidePod, type HollowPodSnapshot } from '../../src/node/runtimes/hollow/decide.ts';
import type { VolumeState } from '../../src/node/volumes/volume-state.ts';
import { hostsOf, sha256 } from './cluster.ts';

const host = hostsOf().get('node-1');
if (host === undefined) throw new Error('the first node is missing');

export class SmallNode {
  pod: Pod | undefined;
  readonly told: string[] = [];
  readonly statuses: PodStatus[] = [];
  volumes: readonly VolumeState[];
  #memory: PodMemory = noMemory;
  #holding: PodAssignment | undefined;
  #admitted = false;
  #images = new Set<string>();

  constructor(pod: Pod, volumes: readonly VolumeState[] = []) {
    this.pod = pod;
    this.volumes = volumes;
  }

  sight(): HollowPodSnapshot | undefined {
    if (this.pod === undefined || host === undefined) return undefined;
    return {
      pod: this.pod,
      host,
      node: undefined,
      admitted: this.#admitted || this.pod.status.startTime !== undefined,
      holding: this.#holding,
      others: () => [],
      volumes: () => this.volumes,
      freeAddress: () => '10.128.0.7',
      problem: () => undefined,
      hasImage: (image) => this.#images.has(image),
      sha256,
      memory: this.#memory,
    };
  }

  decide(now: number): readonly Action[] {
    const sight = this.sight();
    return sight === undefined ? [] : decidePod(sight, now).actions;
  }

  /** When the pod asks to be looked at again. */
  again(now: number): number | undefined {
    const sight = this.sight();
    return sight === undefined ? undefined : decidePod(sight, now).again;
  }

  perform(action: Action): void {
    switch (action.do) {
      case 'admit':
        this.#admitted = true;
        return;
      case 'give':
        return;
      case 'occupy':
        this.#holding = action.holding;
        return;
      case 'vacate':
        this.#holding = undefined;
        this.#memory = noMemory;
        return;
      case 'remember':
        this.#memory = action.memory;
        for (const image of action.pulled) this.#images.add(image);
        return;
      case 'tell':
        this.told.push(`${action.reason}: ${action.message}`);
        return;
      case 'remove':
        if ((this.pod?.metadata.finalizers ?? []).length === 0) this.pod = undefined;
        return;
      case 'write-status':
        this.#write(action.status);
    }
  }

  /** As the server does: what no node may say is refused. */
  #write(status: PodStatus): void {
    if (this.pod === undefined) return;
    const next = { ...this.pod, status };
    const wrong = validatePodStatusUpdate(next, this.pod);
    if (wrong.length > 0) throw new Error(`the server refuses it: ${JSON.stringify(wrong)}`);
    this.pod = next;
    this.statuses.push(status);
  }

  /** Passes at one moment, until there is nothing left to do. */
  settle(now: number): void {
    for (let pass = 0; pass < 50; pass++) {
      const actions = this.decide(now);
      if (actions.length === 0) return;
      for (const action of actions) this.perform(action);
    }
    throw new Error('it never comes to rest');
  }

  /** From now on, for so long, whenever the pod asks for it. Resolves to the time at the end. */
  live(from: number, ms: number): void {
    for (let now = from, steps = 0; now <= from + ms; steps++) {
      if (steps > 2000) throw new Error('too many steps');
      this.settle(now);
      const again = this.again(now);
      if (again === undefined) return;
      now = Math.max(again, now + 1);
    }
  }

  delete(now: number, graceSeconds: number): void {
    if (this.pod === undefined) return;
    const deletionTimestamp = `${new Date(now + graceSeconds * 1000).toISOString().slice(0, 19)}Z`;
    const { generation = 1 } = this.pod.metadata;
    this.pod = {
      ...this.pod,
      metadata: { ...this.pod.metadata, generation: generation + 1, deletionTimestamp, deletionGracePeriodSeconds: graceSeconds },
    };
  }

  /** Its agent dies; what is written stays. */
  crash(): void {
    this.#memory = noMemory;
    this.#holding = undefined;
    this.#admitted = false;
    this.#images = new Set();
  }
}
