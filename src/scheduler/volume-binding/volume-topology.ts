/**
 * The topology of volumes and storage capacities, as an index. A topology term is a node label with a value: a volume at `hostname=n1` is
 * accessible only from nodes with that label. So a node looks up its own labels, however many volumes there are elsewhere.
 */
import type { Labels, Requirement } from '../../api/selectors/label-selector.ts';
import type { NodeTerms } from '../../storage/volumes/topology.ts';
import { entryOf } from '../../storage/volumes/volume-index.ts';

export interface TopologyTerm {
  readonly label: string;
  readonly value: string;
}

/**
 * - `anywhere`: no single label is a necessary condition
 * - `terms`: a node needs at least one of these labels. `exact`: one of them is sufficient
 */
export type VolumeTopology = { readonly type: 'anywhere' } | { readonly type: 'terms'; readonly terms: readonly TopologyTerm[]; readonly exact: boolean };

const anywhere: VolumeTopology = { type: 'anywhere' };

/** The smallest set of labels of which a node needs one to match any of the alternatives. Undefined: no condition. */
export function volumeTopologyOf(alternatives: readonly (readonly Requirement[])[] | undefined): VolumeTopology {
  if (alternatives === undefined) return anywhere;
  const terms: TopologyTerm[] = [];
  for (const requirements of alternatives) {
    const narrowest = narrowestOf(requirements);
    if (narrowest === undefined) return anywhere;
    for (const value of narrowest.values) terms.push({ label: narrowest.key, value });
  }
  return { type: 'terms', terms: distinct(terms), exact: alternatives.every(({ length }) => length === 1) };
}

const topologies = new WeakMap<NodeTerms, VolumeTopology>();

export function volumeTopologyOfTerms(terms: NodeTerms | undefined): VolumeTopology {
  if (terms === undefined) return anywhere;
  let topology = topologies.get(terms);
  if (topology === undefined) topologies.set(terms, (topology = volumeTopologyOf(terms.map(({ labels }) => labels))));
  return topology;
}

function narrowestOf(requirements: readonly Requirement[]): Requirement | undefined {
  let best: Requirement | undefined;
  for (const each of requirements) {
    const isPositive = each.operator === 'in' || each.operator === '=' || each.operator === '==';
    if (isPositive && (best === undefined || breadth(each) < breadth(best))) best = each;
  }
  return best;
}

/** A host name selects one node, a zone may select thousands. */
const breadth = ({ key, values }: Requirement): number => (key === 'kubernetes.io/hostname' ? values.length - 0.5 : values.length);

function distinct(terms: readonly TopologyTerm[]): readonly TopologyTerm[] {
  return terms.filter(({ label, value }, i) => terms.findIndex((other) => other.label === label && other.value === value) === i);
}

/** Values by topology term; 'anywhere' has an entry of its own. */
export class TopologyIndex<T> {
  readonly #byLabel = new Map<string, Map<string, T>>();
  /** The same as an array: read thousands of times between two changes. */
  #labels: readonly (readonly [label: string, values: ReadonlyMap<string, T>])[] = [];
  readonly #make: () => T;
  #anywhere: T | undefined;

  constructor(make: () => T) {
    this.#make = make;
  }

  getOrCreate(term: TopologyTerm | 'anywhere'): T {
    if (term === 'anywhere') return (this.#anywhere ??= this.#make());
    let values = this.#byLabel.get(term.label);
    if (values === undefined) {
      this.#byLabel.set(term.label, (values = new Map()));
      this.#labels = [...this.#byLabel];
    }
    return entryOf(values, term.value, this.#make);
  }

  get(term: TopologyTerm | 'anywhere'): T | undefined {
    return term === 'anywhere' ? this.#anywhere : this.#byLabel.get(term.label)?.get(term.value);
  }

  delete(term: TopologyTerm | 'anywhere'): void {
    if (term === 'anywhere') {
      this.#anywhere = undefined;
      return;
    }
    const values = this.#byLabel.get(term.label);
    values?.delete(term.value);
    if (values?.size !== 0) return;
    this.#byLabel.delete(term.label);
    this.#labels = [...this.#byLabel];
  }

  get isEmpty(): boolean {
    return this.#anywhere === undefined && this.#byLabel.size === 0;
  }

  /** How many different labels the terms have. */
  get labelCount(): number {
    return this.#labels.length;
  }

  /** The value for the i-th label, for a node with these labels. */
  reachableFrom(labels: Labels | undefined, i: number): T | undefined {
    const entry = this.#labels[i];
    // 'constructor' and other inherited properties are no strings.
    const value: unknown = entry === undefined || labels === undefined ? undefined : labels[entry[0]];
    return typeof value === 'string' ? entry?.[1].get(value) : undefined;
  }
}

export const topologyTermsOf = (topology: VolumeTopology): readonly (TopologyTerm | 'anywhere')[] =>
  topology.type === 'anywhere' ? anywhereOnly : topology.terms;

const anywhereOnly = ['anywhere'] as const;
