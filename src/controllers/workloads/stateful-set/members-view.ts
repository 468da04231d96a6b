/** The pods of a StatefulSet, in the order in which a decision needs them. */
import type { Pod } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { SortedList } from '../../../storage/volumes/sorted-list.ts';
import { Availability } from '../../pods/availability.ts';
import type { PodView } from '../../pods/pod-views.ts';
import { selects } from '../../pods/selector.ts';
import { hasClaimToExpand } from './claim-expansion.ts';
import type { ClaimsSnapshot } from './claims.ts';
import { isMemberOf, isWithin, type OrdinalRange, ordinalOf, ordinalsOf, revisionOf } from './identity.ts';
import { ascending, descending, inOrder } from './in-order.ts';
import { OrdinalGaps } from './ordinal-gaps.ts';
import { isMarked, isSettled } from './settled.ts';
import { type CountedMembers, isRunningAndReady, isTerminating } from './status.ts';

/**
 * What a decision reads of the pods that a StatefulSet controls. Wanted pods have an ordinal of its range, condemned ones do not. A list of ordinals may
 * have more than its name says, never less: the decision looks at each of them. So a decision costs as much as there is to do, not as there are replicas.
 */
export interface Members extends CountedMembers {
  /** The revisions of all pods. */
  revisions(): Iterable<string>;
  /** When the next pod has been ready for minReadySeconds. */
  nextAvailability(now: number): number | undefined;
  at(ordinal: number): Stored<Pod> | undefined;
  /** Pods that it controls, but that do not match any more. */
  readonly mismatched: Iterable<Stored<Pod>>;
  /** Wanted ordinals upwards whose pod is missing or has ended, or whose pod or claims need a write. */
  unsettled(): Iterable<number>;
  /** Wanted ordinals upwards whose pod is missing or not available. */
  unavailable(now: number): Iterable<number>;
  /** Wanted ordinals downwards whose pod is missing, not available, or of another revision. */
  outdated(revision: string, now: number): Iterable<number>;
  /** Wanted ordinals downwards with a claim that is smaller than its template wants. */
  toExpand(): Iterable<number>;
  /** Condemned ordinals downwards. */
  condemned(): Iterable<number>;
  /** Condemned ordinals downwards whose pod is not being deleted. */
  condemnedStaying(): Iterable<number>;
  /** Condemned ordinals downwards whose claims do not have the owners of the retention policy. */
  condemnedUnmarked(): Iterable<number>;
  /** Condemned ordinals upwards whose pod is not available. */
  condemnedUnavailable(now: number): Iterable<number>;
}

/** Keeps `Members` up: a change of one pod or claim costs O(log n). */
export class MembersView implements Members, PodView {
  readonly #snapshot: ClaimsSnapshot;
  readonly #range: OrdinalRange;
  readonly #pods = new Map<number, Stored<Pod>>();
  readonly #mismatched = new Map<string, Stored<Pod>>();
  readonly #missing: OrdinalGaps;
  readonly #wanted = new PodLists();
  readonly #condemned = new PodLists();
  readonly #toExpand = ordinals();
  readonly #availability: Availability;
  /** How many pods have a revision, whether they are being deleted or not. */
  readonly #ofRevision = new Map<string, number>();
  #readyReplicas = 0;

  constructor(snapshot: ClaimsSnapshot, pods: Iterable<Stored<Pod>>) {
    this.#snapshot = snapshot;
    this.#range = ordinalsOf(snapshot.set);
    this.#availability = new Availability(snapshot.set.spec.minReadySeconds);
    this.#missing = new OrdinalGaps(this.#range);
    for (const pod of pods) this.podChanged(undefined, pod);
  }

  /** `before`, `after`: pods that the set controls, of one name. */
  podChanged(before: Stored<Pod> | undefined, after: Stored<Pod> | undefined): void {
    if (before !== undefined && this.#isInNamespace(before)) this.#remove(before);
    if (after !== undefined && this.#isInNamespace(after)) this.#add(after);
  }

  #isInNamespace({ metadata }: Stored<Pod>): boolean {
    return metadata.namespace === this.#snapshot.set.metadata.namespace;
  }

  claimChanged(ordinal: number): void {
    const pod = this.#pods.get(ordinal);
    if (pod === undefined) return;
    this.#listsOf(ordinal).unsettled.remove(ordinal);
    this.#toExpand.remove(ordinal);
    this.#judge(pod, ordinal);
  }

  #listsOf(ordinal: number): PodLists {
    return isWithin(this.#range, ordinal) ? this.#wanted : this.#condemned;
  }

  #add(pod: Stored<Pod>): void {
    const { set } = this.#snapshot;
    if (!selects(set.spec.selector, pod.metadata.labels) || !isMemberOf(set, pod)) {
      this.#mismatched.set(pod.metadata.name, pod);
      return;
    }
    const ordinal = ordinalOf(pod);
    if (ordinal < 0) return;
    this.#pods.set(ordinal, pod);
    this.#missing.fill(ordinal);
    this.#listsOf(ordinal).add(ordinal, pod);
    count(this.#ofRevision, revisionOf(pod), 1);
    if (isRunningAndReady(pod)) this.#readyReplicas++;
    this.#availability.add(pod);
    this.#judge(pod, ordinal);
  }

  /** Whether the pod's claims, and the pod itself, are as they should be. */
  #judge(pod: Stored<Pod>, ordinal: number): void {
    const { unsettled } = this.#listsOf(ordinal);
    const member = { name: pod.metadata.name, ordinal, pod };
    if (!isWithin(this.#range, ordinal)) {
      if (!isMarked(this.#snapshot, member)) unsettled.add(ordinal);
      return;
    }
    if (!isSettled(this.#snapshot, member)) unsettled.add(ordinal);
    if (hasClaimToExpand(this.#snapshot, pod)) this.#toExpand.add(ordinal);
  }

  #remove(pod: Stored<Pod>): void {
    this.#mismatched.delete(pod.metadata.name);
    const ordinal = ordinalOf(pod);
    const known = this.#pods.get(ordinal);
    if (known === undefined || known.metadata.name !== pod.metadata.name) return;
    this.#pods.delete(ordinal);
    this.#missing.open(ordinal);
    this.#listsOf(ordinal).remove(ordinal, known);
    this.#toExpand.remove(ordinal);
    count(this.#ofRevision, revisionOf(known), -1);
    if (isRunningAndReady(known)) this.#readyReplicas--;
    this.#availability.remove(known);
  }

  get replicas(): number {
    return this.#pods.size;
  }

  get readyReplicas(): number {
    return this.#readyReplicas;
  }

  availableReplicas(now: number): number {
    let available = this.#readyReplicas;
    for (const pod of this.#availability.notYet(now)) if (isRunningAndReady(pod)) available--;
    return available;
  }

  stayingReplicas(revision: string): number {
    return this.#wanted.staying(revision) + this.#condemned.staying(revision);
  }

  revisions(): Iterable<string> {
    return this.#ofRevision.keys();
  }

  nextAvailability(now: number): number | undefined {
    return this.#availability.next(now);
  }

  at(ordinal: number): Stored<Pod> | undefined {
    return this.#pods.get(ordinal);
  }

  get mismatched(): Iterable<Stored<Pod>> {
    return this.#mismatched.values();
  }

  unsettled(): Iterable<number> {
    return inOrder(ascending, this.#missing.upwards(), upwards(this.#wanted.unsettled));
  }

  unavailable(now: number): Iterable<number> {
    return inOrder(ascending, this.#missing.upwards(), upwards(this.#wanted.unready), this.#waiting(now));
  }

  outdated(revision: string, now: number): Iterable<number> {
    return inOrder(
      descending,
      this.#missing.downwards(),
      downwards(this.#wanted.unready),
      this.#waiting(now).reverse(),
      ...this.#wanted.otherRevisions(revision).map(downwards),
    );
  }

  /** Upwards. */
  #waiting(now: number, isCounted: (ordinal: number) => boolean = (ordinal) => isWithin(this.#range, ordinal)): number[] {
    return Array.from(this.#availability.notYet(now), ordinalOf).filter(isCounted).sort(ascending);
  }

  toExpand(): Iterable<number> {
    return downwards(this.#toExpand);
  }

  condemned(): Iterable<number> {
    return downwards(this.#condemned.all);
  }

  condemnedStaying(): Iterable<number> {
    return inOrder(descending, ...this.#condemned.otherRevisions(undefined).map(downwards));
  }

  condemnedUnmarked(): Iterable<number> {
    return downwards(this.#condemned.unsettled);
  }

  condemnedUnavailable(now: number): Iterable<number> {
    return inOrder(
      ascending,
      upwards(this.#condemned.unready),
      this.#waiting(now, (ordinal) => !isWithin(this.#range, ordinal)),
    );
  }
}

/** The ordinals of wanted or of condemned pods. */
class PodLists {
  readonly all = ordinals();
  /** Being deleted, or not running and ready. */
  readonly unready = ordinals();
  readonly unsettled = ordinals();
  /** By revision, without those that are being deleted. */
  readonly #staying = new Map<string, SortedList<number>>();

  add(ordinal: number, pod: Stored<Pod>): void {
    this.all.add(ordinal);
    if (isTerminating(pod) || !isRunningAndReady(pod)) this.unready.add(ordinal);
    if (isTerminating(pod)) return;
    const revision = revisionOf(pod);
    const list = this.#staying.get(revision) ?? ordinals();
    list.add(ordinal);
    this.#staying.set(revision, list);
  }

  remove(ordinal: number, pod: Stored<Pod>): void {
    for (const list of [this.all, this.unready, this.unsettled]) list.remove(ordinal);
    const revision = revisionOf(pod);
    const list = this.#staying.get(revision);
    list?.remove(ordinal);
    if (list?.size === 0) this.#staying.delete(revision);
  }

  staying(revision: string): number {
    return this.#staying.get(revision)?.size ?? 0;
  }

  /** `revision` undefined: of all revisions. */
  otherRevisions(revision: string | undefined): readonly SortedList<number>[] {
    return [...this.#staying].flatMap(([each, list]) => (each === revision ? [] : [list]));
  }
}

const ordinals = (): SortedList<number> => new SortedList<number>(ascending);
const upwards = (list: SortedList<number>): Iterable<number> => list.from(() => false);
const downwards = (list: SortedList<number>): Iterable<number> => list.downFrom(() => true);

function count(counts: Map<string, number>, key: string, by: 1 | -1): void {
  const next = (counts.get(key) ?? 0) + by;
  if (next === 0) counts.delete(key);
  else counts.set(key, next);
}
