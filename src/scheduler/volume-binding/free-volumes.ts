import { compareQuantities } from '../../api/quantity.ts';
import { type Labels, matchesLabels } from '../../api/selectors/label-selector.ts';
import { offersModes } from '../../storage/volumes/access-modes.ts';
import { zero } from '../../api/volumes/capacity.ts';
import type { Claim } from '../../storage/volumes/claim.ts';
import { matchVolume } from '../../storage/volumes/match.ts';
import { SortedList } from '../../storage/volumes/sorted-list.ts';
import { matchesNode } from '../../storage/volumes/topology.ts';
import { isFree, type Volume } from '../../storage/volumes/volume.ts';
import { bySize, entryOf, bucketKey } from '../../storage/volumes/volume-index.ts';
import type { NodeLabelIndex } from './node-label-index.ts';
import { type TopologyTerm, TopologyIndex, topologyTermsOf, type VolumeTopology, volumeTopologyOfTerms } from './volume-topology.ts';

/**
 * An index of the free PVs: by class, volume mode and attributes class, then by topology, then by size. So the PV that a claim would get
 * on a node is found without examining the PVs of other nodes. A bucket is indexed at the first lookup: most classes bind immediately, and
 * an index would only slow their binds down.
 */
export class FreeVolumes {
  readonly #buckets = new Map<string, VolumeBucket>();
  /** Not indexed yet: by bucket key, then by name. */
  readonly #unindexed = new Map<string, Map<string, Volume>>();
  readonly #nodes: NodeLabelIndex;

  constructor(nodes: NodeLabelIndex) {
    this.#nodes = nodes;
    nodes.onRelabel((node, label, change) => {
      for (const shelf of this.#buckets.values()) shelf.relabel(node, label, change);
    });
  }

  /** A PV changed. Undefined: it does not exist, or a claim is bound to it. */
  change(before: Volume | undefined, after: Volume | undefined): void {
    if (before !== undefined && isFree(before)) this.#remove(before);
    if (after !== undefined && isFree(after)) this.#add(after);
  }

  #add(volume: Volume): void {
    const key = bucketKey(volume);
    const shelf = this.#buckets.get(key);
    if (shelf === undefined) entryOf(this.#unindexed, key, () => new Map<string, Volume>()).set(volume.name, volume);
    else shelf.add(volume);
  }

  #remove(volume: Volume): void {
    const key = bucketKey(volume);
    const shelf = this.#buckets.get(key);
    shelf?.remove(volume);
    if (shelf?.isEmpty === true) this.#buckets.delete(key);
    const unasked = this.#unindexed.get(key);
    unasked?.delete(volume.name);
    if (unasked?.size === 0) this.#unindexed.delete(key);
  }

  /** Valid until the next change of a PV or a node. */
  candidatesFor(claim: Claim): CandidateVolumes {
    const key = bucketKey(claim);
    return new CandidateVolumes(claim, this.#buckets.get(key) ?? this.#index(key));
  }

  #index(key: string): VolumeBucket | undefined {
    const unasked = this.#unindexed.get(key);
    if (unasked === undefined) return undefined;
    const shelf = new VolumeBucket(this.#nodes);
    for (const volume of unasked.values()) shelf.add(volume);
    this.#unindexed.delete(key);
    this.#buckets.set(key, shelf);
    return shelf;
  }
}

/** Free PVs with the same class, volume mode and attributes class. */
class VolumeBucket {
  readonly byTopology = new TopologyIndex(() => new TopologyBucket());
  /** By node: how many of its labels have PVs. */
  readonly #counts = new Map<string, number>();
  readonly #reached = new Set<string>();
  readonly #nodes: NodeLabelIndex;
  /** By request, modes and selector. */
  readonly #requestIds = new Map<string, number>();

  constructor(nodes: NodeLabelIndex) {
    this.#nodes = nodes;
  }

  /** Equal for claims with the same request, modes and selector. */
  requestId({ request, accessModes, selector }: Claim): number {
    if (this.#requestIds.size >= maxRequestIds) this.#requestIds.clear();
    return entryOf(this.#requestIds, `${request.unscaled}e${request.exponent} ${accessModes} ${selector.text}`, () => ++requestIds);
  }

  get isEmpty(): boolean {
    return this.byTopology.isEmpty;
  }

  /** No other node can access any of these PVs. Undefined: any node may. */
  get reachable(): ReadonlySet<string> | undefined {
    return this.byTopology.get('anywhere') === undefined ? this.#reached : undefined;
  }

  add(volume: Volume): void {
    const where = volumeTopologyOfTerms(volume.nodes);
    const item = freeVolumeOf(volume, where);
    for (const place of topologyTermsOf(where)) {
      if (this.byTopology.get(place) === undefined) this.#count(place, 1);
      this.byTopology.getOrCreate(place).insert(item);
    }
  }

  remove(volume: Volume): void {
    const where = volumeTopologyOfTerms(volume.nodes);
    const item = freeVolumeOf(volume, where);
    for (const place of topologyTermsOf(where)) {
      const pile = this.byTopology.get(place);
      pile?.delete(item);
      if (pile?.size !== 0) continue;
      this.byTopology.delete(place);
      this.#count(place, -1);
    }
  }

  relabel(node: string, label: string, { before, after }: { readonly before: string | undefined; readonly after: string | undefined }): void {
    if (before !== undefined && this.byTopology.get({ label, value: before }) !== undefined) this.#countNode(node, -1);
    if (after !== undefined && this.byTopology.get({ label, value: after }) !== undefined) this.#countNode(node, 1);
  }

  #count(place: TopologyTerm | 'anywhere', times: 1 | -1): void {
    if (place !== 'anywhere') for (const node of this.#nodes.nodesWith(place.label, place.value)) this.#countNode(node, times);
  }

  #countNode(node: string, times: 1 | -1): void {
    const count = (this.#counts.get(node) ?? 0) + times;
    if (count > 0) {
      this.#counts.set(node, count);
      this.#reached.add(node);
    } else {
      this.#counts.delete(node);
      this.#reached.delete(node);
    }
  }
}

let requestIds = 0;
const maxRequestIds = 1000;

interface FreeVolume {
  readonly volume: Volume;
  /** Its topology term is sufficient: the node affinity needs no further check. */
  readonly exact: boolean;
  /** It has no claim selector. */
  readonly unselective: boolean;
}

const freeVolumeOf = (volume: Volume, where: VolumeTopology): FreeVolume => ({
  volume,
  exact: volume.nodes === undefined || (where.type === 'places' && where.exact),
  unselective: volume.claimSelector.text === '',
});

/** The free PVs of one topology term, the smallest first. */
class TopologyBucket extends SortedList<FreeVolume> {
  /** How many PVs do not match by the claim's request alone. */
  #conditional = 0;
  /** The last lookup, valid until a PV changes: the claims of one workload are all alike. */
  #cachedRequest = 0;
  #cachedMatch: Match = 'nothing';

  constructor() {
    super((a, b) => bySize(a.volume, b.volume));
  }

  insert(item: FreeVolume): void {
    this.add(item);
    if (!isUnconditional(item)) this.#conditional++;
    this.#cachedRequest = 0;
  }

  delete(item: FreeVolume): void {
    if (!this.remove(item)) return;
    if (!isUnconditional(item)) this.#conditional--;
    this.#cachedRequest = 0;
  }

  /** The first match depends on the claim's request alone. */
  get isUnconditional(): boolean {
    return this.#conditional === 0;
  }

  /** Undefined: not cached. */
  cachedMatch(question: number): Match | undefined {
    return this.#cachedRequest === question ? this.#cachedMatch : undefined;
  }

  cacheMatch(question: number, answer: Match): void {
    this.#cachedRequest = question;
    this.#cachedMatch = answer;
  }
}

type Match = FreeVolume | 'nothing';

const isUnconditional = ({ exact, unselective: open }: FreeVolume): boolean => exact && open;

/**
 * The free PVs that match one claim, for any node. Each topology term is searched lazily, and once for all nodes that share it.
 */
export class CandidateVolumes {
  readonly #claim: Claim;
  readonly #bucket: VolumeBucket | undefined;
  readonly #requestId: number;
  readonly #fitting = new Map<TopologyBucket, LazyList>();

  constructor(claim: Claim, shelf: VolumeBucket | undefined) {
    this.#claim = claim;
    this.#bucket = shelf;
    this.#requestId = shelf?.requestId(claim) ?? 0;
  }

  /** No other node has a match. Undefined: any node may. */
  get nodes(): ReadonlySet<string> | undefined {
    return this.#bucket === undefined ? noNodes : this.#bucket.reachable;
  }

  /** The smallest match for a node with these labels. `taken`: by other claims of the same pod. */
  smallest(labels: Labels | undefined, taken: ReadonlySet<string>): Volume | undefined {
    const places = this.#bucket?.byTopology;
    if (places === undefined) return undefined;
    const everywhere = places.get('anywhere');
    let best = everywhere === undefined ? undefined : this.#smallestOf(everywhere, labels, taken);
    for (let i = 0; i < places.labelCount; i++) {
      const pile = places.reachableFrom(labels, i);
      const found = pile === undefined ? undefined : this.#smallestOf(pile, labels, taken);
      if (found !== undefined && (best === undefined || bySize(found, best) < 0)) best = found;
    }
    return best;
  }

  #smallestOf(pile: TopologyBucket, labels: Labels | undefined, taken: ReadonlySet<string>): Volume | undefined {
    if (pile.isUnconditional) {
      const first = pile.cachedMatch(this.#requestId) ?? this.#findUnconditional(pile);
      if (first === 'nothing') return undefined;
      if (!taken.has(first.volume.name)) return first.volume;
    }
    const fitting = entryOf(this.#fitting, pile, () => new LazyList(this.#in(pile)));
    for (let at = 0; ; at++) {
      const item = fitting.get(at);
      if (item === undefined) return undefined;
      const { volume, exact } = item;
      if (taken.has(volume.name)) continue;
      if (exact || volume.nodes === undefined || matchesNode(volume.nodes, { labels })) return volume;
    }
  }

  #findUnconditional(pile: TopologyBucket): Match {
    const answer = this.#in(pile).next().value ?? 'nothing';
    pile.cacheMatch(this.#requestId, answer);
    return answer;
  }

  *#in(pile: TopologyBucket): Generator<FreeVolume, void, undefined> {
    for (const item of pile.from(({ volume }) => compareQuantities(volume.capacity ?? zero, this.#claim.request) < 0)) if (this.#fits(item.volume)) yield item;
  }

  #fits(volume: Volume): boolean {
    const { accessModes, selector } = this.#claim;
    // The most frequent mismatches first, without building their reasons.
    if (!offersModes(volume.accessModes, accessModes) || (selector.type === 'valid' && !matchesLabels(selector.selector, volume.labels))) return false;
    return matchVolume(this.#claim, volume, { node: 'any' }) === 'fits';
  }
}

const noNodes: ReadonlySet<string> = new Set();

/** A list that is computed as far as it is read. */
class LazyList {
  readonly #found: FreeVolume[] = [];
  readonly #rest: Iterator<FreeVolume, void, undefined>;

  constructor(rest: Iterator<FreeVolume, void, undefined>) {
    this.#rest = rest;
  }

  get(at: number): FreeVolume | undefined {
    while (this.#found.length <= at) {
      const next = this.#rest.next();
      if (next.done === true) return undefined;
      this.#found.push(next.value);
    }
    return this.#found[at];
  }
}
