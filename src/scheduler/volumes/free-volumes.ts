import { compareQuantities } from '../../api/quantity.ts';
import { type Labels, matchesLabels } from '../../domain/label-selector.ts';
import { offersModes } from '../../domain/volumes/access-modes.ts';
import { zero } from '../../domain/volumes/capacity.ts';
import type { Claim } from '../../domain/volumes/claim.ts';
import { matchVolume } from '../../domain/volumes/match.ts';
import { SortedList } from '../../domain/volumes/sorted-list.ts';
import { matchesNode } from '../../domain/volumes/topology.ts';
import { isFree, type Volume } from '../../domain/volumes/volume.ts';
import { bySize, entryOf, shelfKey } from '../../domain/volumes/volume-index.ts';
import type { LabelledNodes } from './labelled-nodes.ts';
import { type Place, PlaceMap, type Whereabouts, whereaboutsOfTerms } from './places.ts';

/**
 * The volumes that nobody has, arranged so that a claim finds the one that it would get on a node without looking at those that other
 * nodes have: by class, volume mode and attributes class, then by place, then by size.
 */
export class FreeVolumes {
  readonly #shelves = new Map<string, Shelf>();
  readonly #nodes: LabelledNodes;

  constructor(nodes: LabelledNodes) {
    this.#nodes = nodes;
    nodes.onRelabel((node, label, change) => {
      for (const shelf of this.#shelves.values()) shelf.relabel(node, label, change);
    });
  }

  /** A volume changed from the one to the other. */
  change(before: Volume | undefined, after: Volume | undefined): void {
    if (before !== undefined && isFree(before)) this.#remove(before);
    if (after !== undefined && isFree(after)) entryOf(this.#shelves, shelfKey(after), () => new Shelf(this.#nodes)).add(after);
  }

  #remove(volume: Volume): void {
    const key = shelfKey(volume);
    const shelf = this.#shelves.get(key);
    shelf?.remove(volume);
    if (shelf?.empty === true) this.#shelves.delete(key);
  }

  /** What a claim may choose from: good until anything changes. `isPromised`: volumes that look free, but belong to somebody. */
  choiceFor(claim: Claim, isPromised: (volumeName: string) => boolean): Choice {
    return new Choice(claim, this.#shelves.get(shelfKey(claim)), isPromised);
  }
}

/** Free volumes that agree in all that a claim and its volume have to agree in. */
class Shelf {
  readonly places = new PlaceMap(() => new Pile());
  /** The nodes at whose places there is anything. Undefined in `reached`: all of them. */
  readonly #counts = new Map<string, number>();
  readonly #reached = new Set<string>();
  readonly #nodes: LabelledNodes;

  constructor(nodes: LabelledNodes) {
    this.#nodes = nodes;
  }

  get empty(): boolean {
    return this.places.empty;
  }

  /** No other node can reach any of these volumes. Undefined: any may. */
  get reached(): ReadonlySet<string> | undefined {
    return this.places.anywhere === undefined ? this.#reached : undefined;
  }

  add(volume: Volume): void {
    const where = whereaboutsOfTerms(volume.nodes);
    const item = { volume, exact: isExact(where) };
    for (const place of placesOf(where)) if (this.#pileAt(place) === undefined) this.#count(place, 1);
    for (const pile of this.places.open(where)) pile.add(item);
  }

  remove(volume: Volume): void {
    const where = whereaboutsOfTerms(volume.nodes);
    const item = { volume, exact: isExact(where) };
    for (const place of placesOf(where)) {
      const pile = this.#pileAt(place);
      pile?.remove(item);
      if (pile?.size !== 0) continue;
      this.places.close(place);
      this.#count(place, -1);
    }
  }

  relabel(node: string, label: string, { before, after }: { readonly before: string | undefined; readonly after: string | undefined }): void {
    if (before !== undefined && this.places.at(label, before) !== undefined) this.#countNode(node, -1);
    if (after !== undefined && this.places.at(label, after) !== undefined) this.#countNode(node, 1);
  }

  #pileAt(place: Place | 'anywhere'): Pile | undefined {
    return place === 'anywhere' ? this.places.anywhere : this.places.at(place.label, place.value);
  }

  #count(place: Place | 'anywhere', times: 1 | -1): void {
    if (place !== 'anywhere') for (const node of this.#nodes.at(place.label, place.value)) this.#countNode(node, times);
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

const placesOf = (where: Whereabouts): readonly (Place | 'anywhere')[] => (where.type === 'anywhere' ? ['anywhere'] : where.places);

/** `exact`: whoever looks at the place where it lies can reach it, without a further question. */
interface Item {
  readonly volume: Volume;
  readonly exact: boolean;
}

const isExact = (where: Whereabouts): boolean => where.type === 'places' && where.exact;

/** The free volumes at one place, the smallest first. */
class Pile extends SortedList<Item> {
  constructor() {
    super((a, b) => bySize(a.volume, b.volume));
  }
}

/**
 * The free volumes that would do for one claim, whichever the node. They are looked for place by place, and only as far as anybody
 * asks: thousands of nodes in one zone ask once.
 */
export class Choice {
  readonly #claim: Claim;
  readonly #shelf: Shelf | undefined;
  readonly #isPromised: (volumeName: string) => boolean;
  readonly #fitting = new Map<Pile, Fitting>();

  constructor(claim: Claim, shelf: Shelf | undefined, isPromised: (volumeName: string) => boolean) {
    this.#claim = claim;
    this.#shelf = shelf;
    this.#isPromised = isPromised;
  }

  /** No node but these will find anything. Undefined: any may. */
  get nodes(): ReadonlySet<string> | undefined {
    return this.#shelf === undefined ? noNodes : this.#shelf.reached;
  }

  /** The smallest volume that would do on a node of these labels. `taken`: by other claims of the same pod. */
  smallest(labels: Labels | undefined, taken: ReadonlySet<string>): Volume | undefined {
    let best: Volume | undefined;
    this.#shelf?.places.reach(labels, (pile) => {
      const found = this.#smallestOf(pile, labels, taken);
      if (found !== undefined && (best === undefined || bySize(found, best) < 0)) best = found;
      return false;
    });
    return best;
  }

  #smallestOf(pile: Pile, labels: Labels | undefined, taken: ReadonlySet<string>): Volume | undefined {
    const fitting = entryOf(this.#fitting, pile, () => new Fitting(this.#in(pile)));
    for (let at = 0; ; at++) {
      const item = fitting.get(at);
      if (item === undefined) return undefined;
      const { volume, exact } = item;
      if (taken.has(volume.name)) continue;
      if (exact || volume.nodes === undefined || matchesNode(volume.nodes, { labels })) return volume;
    }
  }

  *#in(pile: Pile): Generator<Item, void, undefined> {
    for (const item of pile.from(({ volume }) => compareQuantities(volume.capacity ?? zero, this.#claim.request) < 0)) if (this.#fits(item.volume)) yield item;
  }

  #fits(volume: Volume): boolean {
    const { accessModes, selector } = this.#claim;
    // What most volumes are passed over for, before anybody writes down why.
    if (!offersModes(volume.accessModes, accessModes) || (selector.type === 'valid' && !matchesLabels(selector.selector, volume.labels))) return false;
    return matchVolume(this.#claim, volume, { node: 'any' }) === 'fits' && !this.#isPromised(volume.name);
  }
}

const noNodes: ReadonlySet<string> = new Set();

/** A list that is computed only as far as it is read. */
class Fitting {
  readonly #found: Item[] = [];
  readonly #rest: Iterator<Item, void, undefined>;

  constructor(rest: Iterator<Item, void, undefined>) {
    this.#rest = rest;
  }

  get(at: number): Item | undefined {
    while (this.#found.length <= at) {
      const next = this.#rest.next();
      if (next.done === true) return undefined;
      this.#found.push(next.value);
    }
    return this.#found[at];
  }
}
