import type { NodeInfo } from '../framework.ts';

/** Numbers by topology pair: a node label and its value. */
export class TopologyCounts {
  readonly #byLabel = new Map<string, Map<string, number>>();

  /** A node without the label does not count. */
  add(node: NodeInfo, label: string, amount: number): void {
    const value = topologyValueOf(node, label);
    if (value === undefined) return;
    let counts = this.#byLabel.get(label);
    if (counts === undefined) this.#byLabel.set(label, (counts = new Map()));
    const count = (counts.get(value) ?? 0) + amount;
    if (count !== 0) counts.set(value, count);
    else if (counts.delete(value) && counts.size === 0) this.#byLabel.delete(label);
  }

  at(label: string, value: string): number {
    return this.#byLabel.get(label)?.get(value) ?? 0;
  }

  /** Over all pairs of the node. */
  sumAt(node: NodeInfo): number {
    let sum = 0;
    for (const [label, counts] of this.#byLabel) {
      const value = topologyValueOf(node, label);
      if (value !== undefined) sum += counts.get(value) ?? 0;
    }
    return sum;
  }

  /** The label of a pair of the node with a count above zero. */
  occupied(node: NodeInfo): string | undefined {
    for (const [label, counts] of this.#byLabel) {
      const value = topologyValueOf(node, label);
      if (value !== undefined && (counts.get(value) ?? 0) > 0) return label;
    }
    return undefined;
  }

  get isEmpty(): boolean {
    return this.#byLabel.size === 0;
  }

  copy(): TopologyCounts {
    const copy = new TopologyCounts();
    for (const [label, counts] of this.#byLabel) copy.#byLabel.set(label, new Map(counts));
    return copy;
  }
}

export function topologyValueOf({ labels }: Pick<NodeInfo, 'labels'>, label: string): string | undefined {
  return labels !== undefined && Object.hasOwn(labels, label) ? labels[label] : undefined;
}
