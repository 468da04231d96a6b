import { type LabelSelector, matchesLabels } from '../api/selectors/label-selector.ts';
import { countUp, type NodeInfo } from './node-info.ts';
import type { PodInfo } from './pod-info.ts';

/** How many pods a selector selects, by node and by the value of a node label. Pods that are being deleted do not count. */
export interface SelectedPods {
  readonly byNode: ReadonlyMap<string, number>;
  /** Nodes without the label do not count. */
  byLabel(label: string): ReadonlyMap<string, number>;
}

/** What the index is made from. */
export interface PlacedPods {
  podsIn(namespace: string): Iterable<PodInfo>;
  node(name: string): NodeInfo | undefined;
}

/**
 * The counts for the selectors that the scheduler asked for lately, updated with each pod. PodTopologySpread would otherwise look at every pod of
 * the namespace for each pod that it places: a set of n pods would cost n².
 */
export class SelectedPodsIndex {
  readonly #placed: PlacedPods;
  /** By namespace and selector; the one that was asked for last is the last one. */
  readonly #kept = new Map<string, Selection>();
  /** By namespace and one label that the selector requires: a pod concerns the selections of its own labels, not all of them. */
  readonly #byLabel = new Map<string, Set<Selection>>();

  constructor(placed: PlacedPods) {
    this.#placed = placed;
  }

  of(namespace: string, selector: LabelSelector): SelectedPods {
    const key = `${namespace} ${JSON.stringify(selector)}`;
    const selection = this.#kept.get(key) ?? this.#make(namespace, selector);
    this.#kept.delete(key);
    this.#kept.set(key, selection);
    if (this.#kept.size > selectionLimit) this.#dropOldest();
    return selection;
  }

  /** `by`: 1 if the pod was placed on the node, -1 if it is no longer there. */
  podChanged(pod: PodInfo, node: NodeInfo, by: 1 | -1): void {
    if (this.#kept.size === 0) return;
    for (const bucket of bucketsOf(pod)) for (const selection of this.#byLabel.get(bucket) ?? []) selection.count(pod, node, by);
  }

  /** A node is gone, or has other labels. */
  clear(): void {
    this.#kept.clear();
    this.#byLabel.clear();
  }

  #make(namespace: string, selector: LabelSelector): Selection {
    const selection = new Selection(selector, this.#smallestBucket(namespace, selector), this.#placed);
    for (const pod of this.#placed.podsIn(namespace)) {
      const node = this.#placed.node(pod.nodeName);
      if (node !== undefined) selection.count(pod, node, 1);
    }
    const { bucket } = selection;
    this.#byLabel.set(bucket, (this.#byLabel.get(bucket) ?? new Set()).add(selection));
    return selection;
  }

  /** Of the labels that the selector requires, the one that the fewest others are found by: hundreds of sets may share a label. */
  #smallestBucket(namespace: string, selector: LabelSelector): string {
    const requirements = selector.type === 'nothing' ? [] : selector.requirements;
    const buckets = requirements.flatMap(({ key, operator, values }) => (operator === '=' ? [bucketOf(namespace, key, values[0] ?? '')] : []));
    const size = (bucket: string): number => this.#byLabel.get(bucket)?.size ?? 0;
    return buckets.reduce((least, bucket) => (size(bucket) < size(least) ? bucket : least), buckets[0] ?? namespace);
  }

  #dropOldest(): void {
    const [oldest] = this.#kept;
    if (oldest === undefined) return;
    const [key, selection] = oldest;
    this.#kept.delete(key);
    const bucket = this.#byLabel.get(selection.bucket);
    bucket?.delete(selection);
    if (bucket?.size === 0) this.#byLabel.delete(selection.bucket);
  }
}

/** As many sets as are scaled at the same time; beyond it, counts are made anew. */
const selectionLimit = 1_000;

const bucketOf = (namespace: string, key: string, value: string): string => `${namespace} ${key}=${value}`;

/** The namespace itself has the selectors that require no label. */
const bucketsOf = ({ namespace, labels }: PodInfo): readonly string[] => [
  namespace,
  ...Object.entries(labels ?? {}).map(([key, value]) => bucketOf(namespace, key, value)),
];

class Selection implements SelectedPods {
  readonly bucket: string;
  readonly byNode = new Map<string, number>();
  readonly #selector: LabelSelector;
  readonly #placed: PlacedPods;
  readonly #byLabel = new Map<string, Map<string, number>>();

  constructor(selector: LabelSelector, bucket: string, placed: PlacedPods) {
    this.#selector = selector;
    this.bucket = bucket;
    this.#placed = placed;
  }

  count(pod: PodInfo, node: NodeInfo, by: 1 | -1): void {
    if (pod.pod.metadata.deletionTimestamp !== undefined || !matchesLabels(this.#selector, pod.labels)) return;
    countUp(this.byNode, node.name, by);
    for (const [label, counts] of this.#byLabel) addByLabel(counts, node, { label, by });
  }

  byLabel(label: string): ReadonlyMap<string, number> {
    const known = this.#byLabel.get(label);
    if (known !== undefined) return known;
    const counts = new Map<string, number>();
    for (const [name, by] of this.byNode) {
      const node = this.#placed.node(name);
      if (node !== undefined) addByLabel(counts, node, { label, by });
    }
    this.#byLabel.set(label, counts);
    return counts;
  }
}

function addByLabel(counts: Map<string, number>, { labels }: NodeInfo, { label, by }: { readonly label: string; readonly by: number }): void {
  const value = labels !== undefined && Object.hasOwn(labels, label) ? labels[label] : undefined;
  if (value !== undefined) countUp(counts, value, by);
}
