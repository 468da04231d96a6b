import { compareQuantities } from '../../api/quantity.ts';
import { type Labels, matchesLabels } from '../../api/selectors/label-selector.ts';
import { offersModes } from '../../storage/volumes/access-modes.ts';
import { zero } from '../../api/volumes/capacity.ts';
import type { Claim } from '../../storage/volumes/claim.ts';
import { matchVolume } from '../../storage/volumes/match.ts';
import { SortedList } from '../../storage/volumes/sorted-list.ts';
import { matchesNode } from '../../storage/volumes/topology.ts';
import { isFree, type Volume } from '../../storage/volumes/volume.ts';
import { bucketKey, bySize, entryOf } from '../../storage/volumes/volume-index.ts';
import type { NodeLabelIndex } from './node-label-index.ts';
import { TopologyIndex, type TopologyTerm, topologyTermsOf, type VolumeTopology, volumeTopologyOfTerms } from './volume-topology.ts';

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
      for (const bucket of this.#buckets.values()) bucket.relabel(node, label, change);
    });
  }

  /** A PV changed. Undefined: it does not exist, or a claim is bound to it. */
  change(before: Volume | undefined, after: Volume | undefined): void {
    if (before !== undefined && isFree(before)) this.#remove(before);
    if (after !== undefined && isFree(after)) this.#add(after);
  }

  #add(volume: Volume): void {
    const key = bucketKey(volume);
    const bucket = this.#buckets.get(key);
    if (bucket === undefined) entryOf(this.#unindexed, key, () => new Map<string, Volume>()).set(volume.name, volume);
    else bucket.add(volume);
  }

  #remove(volume: Volume): void {
    const key = bucketKey(volume);
    const bucket = this.#buckets.get(key);
    bucket?.remove(volume);
    if (bucket?.isEmpty === true) this.#buckets.delete(key);
    const unindexed = this.#unindexed.get(key);
    unindexed?.delete(volume.name);
    if (unindexed?.size === 0) this.#unindexed.delete(key);
  }

  /** Valid until the next change of a PV or a node. */
  candidatesFor(claim: Claim): CandidateVolumes {
    const key = bucketKey(claim);
    return new CandidateVolumes(claim, this.#buckets.get(key) ?? this.#index(key));
  }

  #index(key: string): VolumeBucket | undefined {
    const unindexed = this.#unindexed.get(key);
    if (unindexed === undefined) return undefined;
    const bucket = new VolumeBucket(this.#nodes);
    for (const volume of unindexed.values()) bucket.add(volume);
    this.#unindexed.delete(key);
    this.#buckets.set(key, bucket);
    return bucket;
  }
}

/** Free PVs with the same class, volume mode and attributes class. */
class VolumeBucket {
  readonly byTopology = new TopologyIndex(() => new TopologyBucket());
  /** By node: how many of its labels have PVs. */
  readonly #counts = new Map<string, number>();
  readonly #reachable = new Set<string>();
  readonly #nodes: NodeLabelIndex;
  /** By request, modes and selector. */
  readonly #requestIds = new Map<string, number>();

  constructor(nodes: NodeLabelIndex) {
    this.#nodes = nodes;
  }

  /** Equal for claims with the same request, modes and selector. */
  requestId({ request, accessModes, selector }: Claim): number {
    if (this.#requestIds.size >= maxRequestIds) this.#requestIds.clear();
    return entryOf(this.#requestIds, `${request.unscaled}e${request.exponent} ${accessModes} ${selector.text}`, () => ++lastRequestId);
  }

  get isEmpty(): boolean {
    return this.byTopology.isEmpty;
  }

  /** No other node can access any of these PVs. Undefined: any node may. */
  get reachable(): ReadonlySet<string> | undefined {
    return this.byTopology.get('anywhere') === undefined ? this.#reachable : undefined;
  }

  add(volume: Volume): void {
    const topology = volumeTopologyOfTerms(volume.nodes);
    const candidate = freeVolumeOf(volume, topology);
    for (const term of topologyTermsOf(topology)) {
      if (this.byTopology.get(term) === undefined) this.#count(term, 1);
      this.byTopology.getOrCreate(term).insert(candidate);
    }
  }

  remove(volume: Volume): void {
    const topology = volumeTopologyOfTerms(volume.nodes);
    const candidate = freeVolumeOf(volume, topology);
    for (const term of topologyTermsOf(topology)) {
      const group = this.byTopology.get(term);
      group?.delete(candidate);
      if (group?.size !== 0) continue;
      this.byTopology.delete(term);
      this.#count(term, -1);
    }
  }

  relabel(node: string, label: string, { before, after }: { readonly before: string | undefined; readonly after: string | undefined }): void {
    if (before !== undefined && this.byTopology.get({ label, value: before }) !== undefined) this.#countNode(node, -1);
    if (after !== undefined && this.byTopology.get({ label, value: after }) !== undefined) this.#countNode(node, 1);
  }

  #count(term: TopologyTerm | 'anywhere', times: 1 | -1): void {
    if (term !== 'anywhere') for (const node of this.#nodes.nodesWith(term.label, term.value)) this.#countNode(node, times);
  }

  #countNode(node: string, times: 1 | -1): void {
    const count = (this.#counts.get(node) ?? 0) + times;
    if (count > 0) {
      this.#counts.set(node, count);
      this.#reachable.add(node);
    } else {
      this.#counts.delete(node);
      this.#reachable.delete(node);
    }
  }
}

let lastRequestId = 0;
const maxRequestIds = 1000;

interface FreeVolume {
  readonly volume: Volume;
  /** Its topology term is sufficient: the node affinity needs no further check. */
  readonly exact: boolean;
  /** It has no claim selector. */
  readonly unselective: boolean;
}

const freeVolumeOf = (volume: Volume, topology: VolumeTopology): FreeVolume => ({
  volume,
  exact: volume.nodes === undefined || (topology.type === 'terms' && topology.exact),
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

  insert(candidate: FreeVolume): void {
    this.add(candidate);
    if (!isUnconditional(candidate)) this.#conditional++;
    this.#cachedRequest = 0;
  }

  delete(candidate: FreeVolume): void {
    if (!this.remove(candidate)) return;
    if (!isUnconditional(candidate)) this.#conditional--;
    this.#cachedRequest = 0;
  }

  /** The first match depends on the claim's request alone. */
  get isUnconditional(): boolean {
    return this.#conditional === 0;
  }

  /** Undefined: not cached. */
  cachedMatch(requestId: number): Match | undefined {
    return this.#cachedRequest === requestId ? this.#cachedMatch : undefined;
  }

  cacheMatch(requestId: number, match: Match): void {
    this.#cachedRequest = requestId;
    this.#cachedMatch = match;
  }
}

type Match = FreeVolume | 'nothing';

const isUnconditional = ({ exact, unselective }: FreeVolume): boolean => exact && unselective;

/** The free PVs that match one claim, for any node. Each topology term is searched lazily, and once for all nodes that share it. */
export class CandidateVolumes {
  readonly #claim: Claim;
  readonly #bucket: VolumeBucket | undefined;
  readonly #requestId: number;
  readonly #matches = new Map<TopologyBucket, LazyList>();

  constructor(claim: Claim, bucket: VolumeBucket | undefined) {
    this.#claim = claim;
    this.#bucket = bucket;
    this.#requestId = bucket?.requestId(claim) ?? 0;
  }

  /** No other node has a match. Undefined: any node may. */
  get nodes(): ReadonlySet<string> | undefined {
    return this.#bucket === undefined ? noNodes : this.#bucket.reachable;
  }

  /** The smallest match for a node with these labels. `taken`: by other claims of the same pod. */
  smallest(labels: Labels | undefined, taken: ReadonlySet<string>): Volume | undefined {
    const byTopology = this.#bucket?.byTopology;
    if (byTopology === undefined) return undefined;
    const anywhere = byTopology.get('anywhere');
    let best = anywhere === undefined ? undefined : this.#smallestOf(anywhere, labels, taken);
    for (let i = 0; i < byTopology.labelCount; i++) {
      const group = byTopology.reachableFrom(labels, i);
      const found = group === undefined ? undefined : this.#smallestOf(group, labels, taken);
      if (found !== undefined && (best === undefined || bySize(found, best) < 0)) best = found;
    }
    return best;
  }

  #smallestOf(group: TopologyBucket, labels: Labels | undefined, taken: ReadonlySet<string>): Volume | undefined {
    if (group.isUnconditional) {
      const first = group.cachedMatch(this.#requestId) ?? this.#findUnconditional(group);
      if (first === 'nothing') return undefined;
      if (!taken.has(first.volume.name)) return first.volume;
    }
    const matches = entryOf(this.#matches, group, () => new LazyList(this.#matchesIn(group)));
    for (let at = 0; ; at++) {
      const candidate = matches.get(at);
      if (candidate === undefined) return undefined;
      const { volume, exact } = candidate;
      if (taken.has(volume.name)) continue;
      if (exact || volume.nodes === undefined || matchesNode(volume.nodes, { labels })) return volume;
    }
  }

  #findUnconditional(group: TopologyBucket): Match {
    const match = this.#matchesIn(group).next().value ?? 'nothing';
    group.cacheMatch(this.#requestId, match);
    return match;
  }

  *#matchesIn(group: TopologyBucket): Generator<FreeVolume, void, undefined> {
    for (const candidate of group.from(({ volume }) => compareQuantities(volume.capacity ?? zero, this.#claim.request) < 0))
      if (this.#fits(candidate.volume)) yield candidate;
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
