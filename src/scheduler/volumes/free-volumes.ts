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
import { type Place, PlaceMap, placesOf, type Whereabouts, whereaboutsOfTerms } from './places.ts';

/**
 * The volumes that nobody has, arranged so that a claim finds the one that it would get on a node without looking at those that other
 * nodes have: by class, volume mode and attributes class, then by place, then by size. They are arranged when somebody first asks for
 * such: of most classes no pod ever waits for a volume to be chosen, and arranging would cost each bind for nothing.
 */
export class FreeVolumes {
  readonly #shelves = new Map<string, Shelf>();
  /** What is not arranged yet: by shelf, then by name. */
  readonly #unasked = new Map<string, Map<string, Volume>>();
  readonly #nodes: LabelledNodes;

  constructor(nodes: LabelledNodes) {
    this.#nodes = nodes;
    nodes.onRelabel((node, label, change) => {
      for (const shelf of this.#shelves.values()) shelf.relabel(node, label, change);
    });
  }

  /** A volume changed from the one to the other. Undefined: it is not there, or somebody has a right to it. */
  change(before: Volume | undefined, after: Volume | undefined): void {
    if (before !== undefined && isFree(before)) this.#remove(before);
    if (after !== undefined && isFree(after)) this.#add(after);
  }

  #add(volume: Volume): void {
    const key = shelfKey(volume);
    const shelf = this.#shelves.get(key);
    if (shelf === undefined) entryOf(this.#unasked, key, () => new Map<string, Volume>()).set(volume.name, volume);
    else shelf.add(volume);
  }

  #remove(volume: Volume): void {
    const key = shelfKey(volume);
    const shelf = this.#shelves.get(key);
    shelf?.remove(volume);
    if (shelf?.empty === true) this.#shelves.delete(key);
    const unasked = this.#unasked.get(key);
    unasked?.delete(volume.name);
    if (unasked?.size === 0) this.#unasked.delete(key);
  }

  /** What a claim may choose from: good until anything changes. */
  choiceFor(claim: Claim): Choice {
    const key = shelfKey(claim);
    return new Choice(claim, this.#shelves.get(key) ?? this.#arrange(key));
  }

  #arrange(key: string): Shelf | undefined {
    const unasked = this.#unasked.get(key);
    if (unasked === undefined) return undefined;
    const shelf = new Shelf(this.#nodes);
    for (const volume of unasked.values()) shelf.add(volume);
    this.#unasked.delete(key);
    this.#shelves.set(key, shelf);
    return shelf;
  }
}

/** Free volumes that agree in all that a claim and its volume have to agree in. */
class Shelf {
  readonly places = new PlaceMap(() => new Pile());
  /** By node: at how many of its places there is anything. */
  readonly #counts = new Map<string, number>();
  readonly #reached = new Set<string>();
  readonly #nodes: LabelledNodes;
  /** By what is asked for: a number that stands for it. */
  readonly #questions = new Map<string, number>();

  constructor(nodes: LabelledNodes) {
    this.#nodes = nodes;
  }

  /** The same for claims that ask for the same. */
  questionOf({ request, accessModes, selector }: Claim): number {
    if (this.#questions.size >= mostQuestions) this.#questions.clear();
    return entryOf(this.#questions, `${request.unscaled}e${request.exponent} ${accessModes} ${selector.text}`, () => ++questions);
  }

  get empty(): boolean {
    return this.places.empty;
  }

  /** No other node can reach any of these volumes. Undefined: any may. */
  get reached(): ReadonlySet<string> | undefined {
    return this.places.at('anywhere') === undefined ? this.#reached : undefined;
  }

  add(volume: Volume): void {
    const where = whereaboutsOfTerms(volume.nodes);
    const item = itemOf(volume, where);
    for (const place of placesOf(where)) {
      if (this.places.at(place) === undefined) this.#count(place, 1);
      this.places.open(place).put(item);
    }
  }

  remove(volume: Volume): void {
    const where = whereaboutsOfTerms(volume.nodes);
    const item = itemOf(volume, where);
    for (const place of placesOf(where)) {
      const pile = this.places.at(place);
      pile?.take(item);
      if (pile?.size !== 0) continue;
      this.places.close(place);
      this.#count(place, -1);
    }
  }

  relabel(node: string, label: string, { before, after }: { readonly before: string | undefined; readonly after: string | undefined }): void {
    if (before !== undefined && this.places.at({ label, value: before }) !== undefined) this.#countNode(node, -1);
    if (after !== undefined && this.places.at({ label, value: after }) !== undefined) this.#countNode(node, 1);
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

let questions = 0;
const mostQuestions = 1000;

interface Item {
  readonly volume: Volume;
  /** Whoever looks at the place where it lies can reach it, without a further question. */
  readonly exact: boolean;
  /** Whatever the claim is called and labelled: what it asks for decides. */
  readonly open: boolean;
}

const itemOf = (volume: Volume, where: Whereabouts): Item => ({
  volume,
  exact: volume.nodes === undefined || (where.type === 'places' && where.exact),
  open: volume.claimSelector.text === '',
});

/** The free volumes at one place, the smallest first. */
class Pile extends SortedList<Item> {
  /** Those about which more has to be asked than what the claim asks for. */
  #intricate = 0;
  /** The last question, and its answer until something changes here: claims of one workload all ask the same. */
  #question = 0;
  #answer: Answer = 'nothing';

  constructor() {
    super((a, b) => bySize(a.volume, b.volume));
  }

  put(item: Item): void {
    this.add(item);
    if (!isPlain(item)) this.#intricate++;
    this.#question = 0;
  }

  take(item: Item): void {
    if (!this.remove(item)) return;
    if (!isPlain(item)) this.#intricate--;
    this.#question = 0;
  }

  /** The first item that will do depends on what is asked for, and on nothing else. */
  get isPlain(): boolean {
    return this.#intricate === 0;
  }

  /** Undefined: nobody has asked that since something changed. */
  answerTo(question: number): Answer | undefined {
    return this.#question === question ? this.#answer : undefined;
  }

  remember(question: number, answer: Answer): void {
    this.#question = question;
    this.#answer = answer;
  }
}

type Answer = Item | 'nothing';

const isPlain = ({ exact, open }: Item): boolean => exact && open;

/**
 * The free volumes that would do for one claim, whichever the node. They are looked for place by place, and only as far as anybody
 * asks: thousands of nodes in one zone ask once.
 */
export class Choice {
  readonly #claim: Claim;
  readonly #shelf: Shelf | undefined;
  readonly #question: number;
  readonly #fitting = new Map<Pile, Fitting>();

  constructor(claim: Claim, shelf: Shelf | undefined) {
    this.#claim = claim;
    this.#shelf = shelf;
    this.#question = shelf?.questionOf(claim) ?? 0;
  }

  /** No node but these will find anything. Undefined: any may. */
  get nodes(): ReadonlySet<string> | undefined {
    return this.#shelf === undefined ? noNodes : this.#shelf.reached;
  }

  /** The smallest volume that would do on a node of these labels. `taken`: by other claims of the same pod. */
  smallest(labels: Labels | undefined, taken: ReadonlySet<string>): Volume | undefined {
    const places = this.#shelf?.places;
    if (places === undefined) return undefined;
    const everywhere = places.at('anywhere');
    let best = everywhere === undefined ? undefined : this.#smallestOf(everywhere, labels, taken);
    for (let i = 0; i < places.breadth; i++) {
      const pile = places.reached(labels, i);
      const found = pile === undefined ? undefined : this.#smallestOf(pile, labels, taken);
      if (found !== undefined && (best === undefined || bySize(found, best) < 0)) best = found;
    }
    return best;
  }

  #smallestOf(pile: Pile, labels: Labels | undefined, taken: ReadonlySet<string>): Volume | undefined {
    if (pile.isPlain) {
      const first = pile.answerTo(this.#question) ?? this.#askPlain(pile);
      if (first === 'nothing') return undefined;
      if (!taken.has(first.volume.name)) return first.volume;
    }
    const fitting = entryOf(this.#fitting, pile, () => new Fitting(this.#in(pile)));
    for (let at = 0; ; at++) {
      const item = fitting.get(at);
      if (item === undefined) return undefined;
      const { volume, exact } = item;
      if (taken.has(volume.name)) continue;
      if (exact || volume.nodes === undefined || matchesNode(volume.nodes, { labels })) return volume;
    }
  }

  #askPlain(pile: Pile): Answer {
    const answer = this.#in(pile).next().value ?? 'nothing';
    pile.remember(this.#question, answer);
    return answer;
  }

  *#in(pile: Pile): Generator<Item, void, undefined> {
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
