/**
 * Where things are that only some nodes can reach. A place is a label with a value: whatever lies at `hostname=n1` is out of reach for
 * every node without that label, so that a node looks only at what lies at its own labels, however much there is elsewhere.
 */
import type { Labels, Requirement } from '../../api/selectors/label-selector.ts';
import type { NodeTerms } from '../../storage/volumes/topology.ts';
import { entryOf } from '../../storage/volumes/volume-index.ts';

export interface TopologyTerm {
  readonly label: string;
  readonly value: string;
}

/**
 * - `anywhere`: no label is asked for that all nodes within reach would have
 * - `places`: at least one of these labels is needed. `exact`: and none but that
 */
export type VolumeTopology = { readonly type: 'anywhere' } | { readonly type: 'places'; readonly places: readonly TopologyTerm[]; readonly exact: boolean };

const anywhere: VolumeTopology = { type: 'anywhere' };

/** Of alternatives that are all met by labels: the fewest labels of which a node needs one. Undefined: there is no condition at all. */
export function volumeTopologyOf(alternatives: readonly (readonly Requirement[])[] | undefined): VolumeTopology {
  if (alternatives === undefined) return anywhere;
  const places: TopologyTerm[] = [];
  for (const requirements of alternatives) {
    const narrowest = narrowestOf(requirements);
    if (narrowest === undefined) return anywhere;
    for (const value of narrowest.values) places.push({ label: narrowest.key, value });
  }
  return { type: 'places', places: distinct(places), exact: alternatives.every(({ length }) => length === 1) };
}

const known = new WeakMap<NodeTerms, VolumeTopology>();

export function volumeTopologyOfTerms(terms: NodeTerms | undefined): VolumeTopology {
  if (terms === undefined) return anywhere;
  let where = known.get(terms);
  if (where === undefined) known.set(terms, (where = volumeTopologyOf(terms.map(({ labels }) => labels))));
  return where;
}

function narrowestOf(requirements: readonly Requirement[]): Requirement | undefined {
  let best: Requirement | undefined;
  for (const each of requirements) {
    const names = each.operator === 'in' || each.operator === '=' || each.operator === '==';
    if (names && (best === undefined || breadth(each) < breadth(best))) best = each;
  }
  return best;
}

/** A host name is one node, where a zone may be thousands. */
const breadth = ({ key, values }: Requirement): number => (key === 'kubernetes.io/hostname' ? values.length - 0.5 : values.length);

function distinct(places: readonly TopologyTerm[]): readonly TopologyTerm[] {
  return places.filter(({ label, value }, i) => places.findIndex((other) => other.label === label && other.value === value) === i);
}

/** Things by the places at which they lie; what can be reached from anywhere lies in a place of its own. */
export class TopologyIndex<T> {
  readonly #byLabel = new Map<string, Map<string, T>>();
  /** The same, for going through them thousands of times between two changes. */
  #labels: readonly (readonly [label: string, values: ReadonlyMap<string, T>])[] = [];
  readonly #make: () => T;
  #anywhere: T | undefined;

  constructor(make: () => T) {
    this.#make = make;
  }

  /** What is at the place; made if nothing is there yet. */
  getOrCreate(place: TopologyTerm | 'anywhere'): T {
    if (place === 'anywhere') return (this.#anywhere ??= this.#make());
    let values = this.#byLabel.get(place.label);
    if (values === undefined) {
      this.#byLabel.set(place.label, (values = new Map()));
      this.#labels = [...this.#byLabel];
    }
    return entryOf(values, place.value, this.#make);
  }

  get(place: TopologyTerm | 'anywhere'): T | undefined {
    return place === 'anywhere' ? this.#anywhere : this.#byLabel.get(place.label)?.get(place.value);
  }

  /** Nothing is left there. */
  delete(place: TopologyTerm | 'anywhere'): void {
    if (place === 'anywhere') {
      this.#anywhere = undefined;
      return;
    }
    const values = this.#byLabel.get(place.label);
    values?.delete(place.value);
    if (values?.size !== 0) return;
    this.#byLabel.delete(place.label);
    this.#labels = [...this.#byLabel];
  }

  get isEmpty(): boolean {
    return this.#anywhere === undefined && this.#byLabel.size === 0;
  }

  /** How many labels say where something is. */
  get labelCount(): number {
    return this.#labels.length;
  }

  /** What a node of these labels finds at the place that the i-th label names. */
  reachableFrom(labels: Labels | undefined, i: number): T | undefined {
    const entry = this.#labels[i];
    // Whatever else 'constructor' and its like may be: a label's value is a text.
    const value: unknown = entry === undefined || labels === undefined ? undefined : labels[entry[0]];
    return typeof value === 'string' ? entry?.[1].get(value) : undefined;
  }
}

/** The places at which a thing lies. */
export const topologyTermsOf = (where: VolumeTopology): readonly (TopologyTerm | 'anywhere')[] => (where.type === 'anywhere' ? everywhere : where.places);

const everywhere = ['anywhere'] as const;
