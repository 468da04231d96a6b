/** The pods of a ReplicaSet as a decision counts them. */
import type { Pod, ReplicaSet } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { Availability } from '../../pods/availability.ts';
import type { PodView } from '../../pods/pod-views.ts';
import { selects } from '../../pods/selector.ts';
import { isPodActive, isPodReady, isPodTerminating } from '../../pods/state.ts';

/** Pods that the set controls; those that it does not select are mismatched, and not counted. */
export interface OwnedPods {
  /** Neither ended nor being deleted. */
  readonly active: number;
  readonly terminating: number;
  /** Active pods with all labels of the template. */
  readonly fullyLabeled: number;
  readonly ready: number;
  available(now: number): number;
  /** When the next pod has been ready for minReadySeconds. */
  nextAvailability(now: number): number | undefined;
  activePods(): readonly Stored<Pod>[];
  /** Active pods that are to be released. */
  readonly mismatched: Iterable<Stored<Pod>>;
}

/** Keeps `OwnedPods` up: a change of one pod costs O(1). */
export class PodsView implements OwnedPods, PodView {
  readonly #set: Stored<ReplicaSet>;
  readonly #active = new Map<string, Stored<Pod>>();
  readonly #mismatched = new Map<string, Stored<Pod>>();
  readonly #availability: Availability;
  #terminating = 0;
  #fullyLabeled = 0;
  #ready = 0;

  constructor(set: Stored<ReplicaSet>, pods: Iterable<Stored<Pod>>) {
    this.#set = set;
    this.#availability = new Availability(set.spec.minReadySeconds);
    for (const pod of pods) this.podChanged(undefined, pod);
  }

  podChanged(before: Stored<Pod> | undefined, after: Stored<Pod> | undefined): void {
    if (before !== undefined) this.#count(before, -1);
    if (after !== undefined) this.#count(after, 1);
    const [from, to] = [this.#mapOf(before), this.#mapOf(after)];
    // A pod that stays keeps its place.
    if (before !== undefined && from !== to) from?.delete(before.metadata.name);
    if (after !== undefined) to?.set(after.metadata.name, after);
  }

  #mapOf(pod: Stored<Pod> | undefined): Map<string, Stored<Pod>> | undefined {
    if (pod === undefined || !this.#isInNamespace(pod) || !isPodActive(pod)) return undefined;
    return this.#selects(pod) ? this.#active : this.#mismatched;
  }

  #isInNamespace({ metadata }: Stored<Pod>): boolean {
    return metadata.namespace === this.#set.metadata.namespace;
  }

  #selects({ metadata }: Stored<Pod>): boolean {
    return selects(this.#set.spec.selector, metadata.labels);
  }

  #count(pod: Stored<Pod>, by: 1 | -1): void {
    if (!this.#isInNamespace(pod) || !this.#selects(pod)) return;
    if (isPodTerminating(pod)) this.#terminating += by;
    if (!isPodActive(pod)) return;
    if (hasLabels(pod, this.#set.spec.template.metadata.labels ?? {})) this.#fullyLabeled += by;
    if (isPodReady(pod)) this.#ready += by;
    if (by === 1) this.#availability.add(pod);
    else this.#availability.remove(pod);
  }

  get active(): number {
    return this.#active.size;
  }

  get terminating(): number {
    return this.#terminating;
  }

  get fullyLabeled(): number {
    return this.#fullyLabeled;
  }

  get ready(): number {
    return this.#ready;
  }

  available(now: number): number {
    return this.#ready - [...this.#availability.notYet(now)].length;
  }

  nextAvailability(now: number): number | undefined {
    return this.#availability.next(now);
  }

  activePods(): readonly Stored<Pod>[] {
    return [...this.#active.values()];
  }

  get mismatched(): Iterable<Stored<Pod>> {
    return this.#mismatched.values();
  }
}

const hasLabels = ({ metadata }: Pod, labels: Readonly<Record<string, string>>): boolean =>
  Object.entries(labels).every(([key, value]) => metadata.labels?.[key] === value);
