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
 * The volumes that nobody has, arranged so that a claim finds the one that it would get on a node without looking at those that other
 * nodes have: by class, volume mode and attributes class, then by place, then by size. They are arranged when somebody first asks for
 * such: of most classes no pod ever waits for a volume to be chosen, and arranging would cost each bind for nothing.
 */
export class FreeVolumes {
  readonly #buckets = new Map<string, VolumeBucket>();
  /** What is not arranged yet: by shelf, then by name. */
  readonly #unindexed = new Map<string, Map<string, Volume>>();
  readonly #nodes: NodeLabelIndex;

  constructor(nodes: NodeLabelIndex) {
    this.#nodes = nodes;
    nodes.onRelabel((node, label, change) => {
      for (const shelf of this.#buckets.values()) shelf.relabel(node, label, change);
    });
  }

  /** A volume changed from the one to the other. Undefined: it is not there, or somebody has a right to it. */
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

  /** What a claim may choose from: good until anything changes. */
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

/** Free volumes that agree in all that a claim and its volume have to agree in. */
class VolumeBucket {
  readonly byTopology = new TopologyIndex(() => new TopologyBucket());
  /** By node: at how many of its places there is anything. */
  readonly #counts = new Map<string, number>();
  readonly #reached = new Set<string>();
  readonly #nodes: NodeLabelIndex;
  /** By what is asked for: a number that stands for it. */
  readonly #requestIds = new Map<string, number>();

  constructor(nodes: NodeLabelIndex) {
    this.#nodes = nodes;
  }

  /** The same for claims that ask for the same. */
  requestId({ request, accessModes, selector }: Claim): number {
    if (this.#requestIds.size >= maxRequestIds) this.#requestIds.clear();
    return entryOf(this.#requestIds, `${request.unscaled}e${request.exponent} ${accessModes} ${selector.text}`, () => ++requestIds);
  }

  get isEmpty(): boolean {
    return this.byTopology.isEmpty;
  }

  /** No other node can reach any of these volumes. Undefined: any may. */
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
  /** Whoever looks at the place where it lies can reach it, without a further question. */
  readonly exact: boolean;
  /** Whatever the claim is called and labelled: what it asks for decides. */
  readonly unselective: boolean;
}

const freeVolumeOf = (volume: Volume, where: VolumeTopology): FreeVolume => ({
  volume,
  exact: volume.nodes === undefined || (where.type === 'places' && where.exact),
  unselective: volume.claimSelector.text === '',
});

/** The free volumes at one place, the smallest first. */
class TopologyBucket extends SortedList<FreeVolume> {
  /** Those about which more has to be asked than what the claim asks for. */
  #conditional = 0;
  /** The last question, and its answer until something changes here: claims of one workload all ask the same. */
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

  /** The first item that will do depends on what is asked for, and on nothing else. */
  get isUnconditional(): boolean {
    return this.#conditional === 0;
  }

  /** Undefined: nobody has asked that since something changed. */
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
 * The free volumes that would do for one claim, whichever the node. They are looked for place by place, and only as far as anybody
 * asks: thousands of nodes in one zone ask once.
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

  /** No node but these will find anything. Undefined: any may. */
  get nodes(): ReadonlySet<string> | undefined {
    return this.#bucket === undefined ? noNodes : this.#bucket.reachable;
  }

  /** The smallest volume that would do on a node of these labels. `taken`: by other claims of the same pod. */
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
    // What most volumes are passed over for, before anybody writes down why.
    if (!offersModes(volume.accessModes, accessModes) || (selector.type === 'valid' && !matchesLabels(selector.selector, volume.labels))) return false;
    return matchVolume(this.#claim, volume, { node: 'any' }) === 'fits';
  }
}

const noNodes: ReadonlySet<string> = new Set();

/** A list that is computed only as far as it is read. */
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
