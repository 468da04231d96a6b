import type { Node } from '../../api/generated/types.ts';
import type { Stored } from '../../api/stored.ts';
import type { Labels } from '../../api/selectors/label-selector.ts';
import { entryOf } from '../../storage/volumes/volume-index.ts';
import type { ObjectChange } from '../framework.ts';

export type RelabelListener = (node: string, label: string, change: ObjectChange<string>) => void;

/** Node names by label. */
export class NodeLabelIndex {
  readonly #nodes = new Map<string, Labels>();
  readonly #byLabel = new Map<string, Map<string, Set<string>>>();
  readonly #listeners: RelabelListener[] = [];

  /** Undefined: the node does not exist. */
  labelsOf(node: string): Labels | undefined {
    return this.#nodes.get(node);
  }

  /** The nodes that have this label with this value. The set is live. */
  nodesWith(label: string, value: string): ReadonlySet<string> {
    return this.#byLabel.get(label)?.get(value) ?? none;
  }

  /** Called for each label that a node gets, changes or loses, after the index was updated. */
  onRelabel(listener: RelabelListener): void {
    this.#listeners.push(listener);
  }

  observe({ before, after }: ObjectChange<Stored<Node>>): void {
    const { name } = (after ?? before).metadata;
    const known = this.#nodes.get(name) ?? noLabels;
    const labels = after?.metadata.labels ?? noLabels;
    if (after === undefined) this.#nodes.delete(name);
    else this.#nodes.set(name, labels);
    // Most updates are heartbeats.
    if (known === labels) return;
    for (const [label, value] of Object.entries(known)) {
      const next = Object.hasOwn(labels, label) ? labels[label] : undefined;
      if (next !== value) this.#relabel(name, label, { before: value, after: next });
    }
    for (const [label, value] of Object.entries(labels)) if (!Object.hasOwn(known, label)) this.#relabel(name, label, { before: undefined, after: value });
  }

  #relabel(node: string, label: string, change: ObjectChange<string>): void {
    const values = entryOf(this.#byLabel, label, () => new Map<string, Set<string>>());
    if (change.before !== undefined) {
      const left = values.get(change.before);
      left?.delete(node);
      if (left?.size === 0) values.delete(change.before);
    }
    if (change.after !== undefined) entryOf(values, change.after, () => new Set()).add(node);
    if (values.size === 0) this.#byLabel.delete(label);
    for (const listener of this.#listeners) listener(node, label, change);
  }
}

const none: ReadonlySet<string> = new Set();
const noLabels: Labels = {};
