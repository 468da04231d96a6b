import type { Pod } from '../../../api/generated/types.ts';
import { podKind } from '../../../api/kinds/pod/pod.ts';
import { type Change, keyOf } from '../../../client/informers/cache.ts';
import { type Client, refOf } from '../../../client/client.ts';
import { Trigger, type Controller, type Outcome, outcomeOf } from '../../../client/controller/loop.ts';
import { RecentMap } from '../../../client/recent-map.ts';
import type { EventRecorder } from '../../../client/events/event-recorder.ts';
import type { PodAssignment, NodeAllocations } from '../../allocations.ts';
import { hollowPodSnapshot } from './sight.ts';
import { type Action, noMemory, type PodMemory } from './actions.ts';
import { decidePod, type HollowPodSnapshot } from './decide.ts';
import { dependency } from '../../cache/indexes.ts';
import type { NodeCaches } from '../../cache/node-caches.ts';
import { podSources } from '../../cache/sources.ts';

export interface HollowPodsOptions {
  readonly caches: NodeCaches;
  readonly allocations: NodeAllocations;
  /** In hexadecimal. */
  readonly sha256: (text: string) => string;
  /** Each node writes under its own name. */
  readonly clientOf: (node: string) => Client;
  readonly recorder: EventRecorder;
  /** A pod of the node has unmounted its volumes. */
  readonly onVacated: (node: string) => void;
}

export interface HollowPods {
  readonly controller: Controller<string, HollowPodSnapshot, Action>;
  /** The node stands by what its status says: pods that waited for that may go on. */
  readonly reported: (node: string) => void;
}

/** Pods of hollow nodes, all of them in one loop. Keys are 'namespace/name'. */
export function hollowPods(options: HollowPodsOptions): HollowPods {
  const { caches: view } = options;
  const desk = new HollowPodWorker(options);
  const bell = new Trigger<string>();
  // Before the loop hears of it: what a pod held is free when others are woken by its end.
  view.pods.subscribe((change) => desk.follow(change));
  return {
    controller: {
      name: 'hollow-pods',
      parallelism: 128,
      sources: [...podSources(view), bell],
      snapshot: (key) => desk.look(key),
      decide: decidePod,
      perform: (action) => desk.perform(action),
    },
    reported: (node) => {
      for (const pod of view.waitingPods.get(dependency.node(node))) bell.fire(keyOf(pod.metadata));
    },
  };
}

class HollowPodWorker {
  readonly #options: HollowPodsOptions;
  /** By uid. */
  readonly #memories = new RecentMap<string, PodMemory>(remembered);

  constructor(options: HollowPodsOptions) {
    this.#options = options;
  }

  look(key: string): HollowPodSnapshot | undefined {
    const { caches: view } = this.#options;
    const pod = view.pods.getKey(key);
    const host = pod === undefined ? undefined : view.hostOf(pod);
    if (pod === undefined || host === undefined) return undefined;
    const { uid = '' } = pod.metadata;
    return { ...hollowPodSnapshot(pod, host, this.#options), memory: this.#memories.get(uid) ?? noMemory };
  }

  /** A pod that is gone holds nothing, however it went. */
  follow({ before, after }: Change<Pod>): void {
    if (before === undefined || before.metadata.uid === after?.metadata.uid) return;
    this.#options.allocations.forget(before.spec.nodeName ?? '', before.metadata.uid ?? '');
  }

  async perform(action: Action): Promise<Outcome> {
    const { pod } = action;
    const { allocations: holdings } = this.#options;
    const [node, uid] = [pod.spec.nodeName ?? '', pod.metadata.uid ?? ''];
    switch (action.do) {
      case 'admit':
        return this.#ifThere(pod, () => holdings.admit(node, uid));
      case 'give':
        return this.#ifThere(pod, () => holdings.setResized(node, pod.metadata));
      case 'occupy':
        return this.#occupy(pod, action.holding);
      case 'vacate':
        holdings.release(node, uid);
        this.#memories.set(uid, noMemory);
        this.#options.onVacated(node);
        return 'done';
      case 'write-status':
        return outcomeOf(await this.#options.clientOf(node).updateStatus(podKind, { ...pod, status: action.status }));
      case 'remove':
        return this.#remove(pod);
      case 'remember':
        this.#memories.set(uid, action.memory);
        for (const image of action.pulled) holdings.addImage(node, image);
        return 'done';
      case 'tell': {
        const { about = pod, type, reason, message } = action;
        this.#options.recorder.record(about, { type, reason, message }, node);
        return 'done';
      }
    }
  }

  /** Whoever is gone must not hold anything: nobody would ever take it back. */
  #ifThere(pod: Pod, effect: () => void): Outcome {
    if (this.#options.caches.pods.get(refOf(pod))?.metadata.uid !== pod.metadata.uid) return 'conflict';
    effect();
    return 'done';
  }

  /** Decided a moment ago; what it was decided on may not hold any more. */
  #occupy(pod: Pod, holding: PodAssignment): Outcome {
    const { allocations: holdings } = this.#options;
    const node = pod.spec.nodeName ?? '';
    const isNew = holding.address !== undefined && holding.address !== pod.status.podIP;
    const isTaken = isNew && [...holdings.addresses(node)].includes(holding.address);
    if (isTaken || holding.attached.some((volume) => !holdings.mayMount(node, volume))) return 'conflict';
    return this.#ifThere(pod, () => holdings.assign(node, pod.metadata.uid ?? '', holding));
  }

  async #remove(pod: Pod): Promise<Outcome> {
    const { uid } = pod.metadata;
    const client = this.#options.clientOf(pod.spec.nodeName ?? '');
    const removed = await client.delete(podKind, refOf(pod), { gracePeriodSeconds: 0, ...(uid === undefined ? {} : { preconditions: { uid } }) });
    return !removed.ok && removed.reason === 'notFound' ? 'done' : outcomeOf(removed);
  }
}

const remembered = 100_000;
