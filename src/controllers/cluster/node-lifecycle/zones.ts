import type { Node } from '../../../api/generated/types.ts';
import type { Clock } from '../../../world/world.ts';
import { readyOf } from './conditions.ts';
import type { EvictionSlot } from './taints.ts';

export interface ZonesOptions {
  readonly clock: Clock;
  /** The node may have its eviction slot now. */
  readonly enqueue: (node: string) => void;
  /** All nodes of the cluster went down, or one came back. */
  readonly onAllDown: (allDown: boolean) => void;
}

/**
 * Counts the ready nodes of each zone, and limits the rate of evictions: one node every ten seconds in each zone. If most of a zone is
 * down, one every hundred seconds, or none in a small zone: the pods would overload the rest. If all zones are down, none.
 */
export class Zones {
  readonly #options: ZonesOptions;
  readonly #zones = new Map<string, Zone>();
  readonly #nodes = new Map<string, Counted>();
  /** How many zones have counted nodes, and how many of these zones have no ready node. */
  #counting = 0;
  #down = 0;

  constructor(options: ZonesOptions) {
    this.#options = options;
  }

  /** Counts a node in its current state. Undefined: it was deleted, or is not monitored. */
  count(name: string, node: Node | undefined): void {
    const before = this.#nodes.get(name);
    const after = node === undefined ? undefined : countedOf(node);
    if (before?.zone === after?.zone && before?.isReady === after?.isReady && before?.isExcluded === after?.isExcluded) return;
    const wasAllDown = this.allDown;
    if (before !== undefined) this.#add(before, -1);
    if (after !== undefined) this.#add(after, 1);
    if (after === undefined) this.#nodes.delete(name);
    else this.#nodes.set(name, after);
    if (before !== undefined && before.zone !== after?.zone) this.dequeue(name, before.zone);
    if (this.allDown !== wasAllDown) this.#options.onAllDown(this.allDown);
    // The eviction rate of the zone may have changed.
    for (const zone of new Set([before?.zone, after?.zone])) this.#enqueueNext(zone);
  }

  get allDown(): boolean {
    return this.#counting > 0 && this.#down === this.#counting;
  }

  names(): Iterable<string> {
    return this.#nodes.keys();
  }

  /** Puts the node into the queue of its zone. */
  slotOf(name: string): EvictionSlot {
    const zone = this.#zones.get(this.#nodes.get(name)?.zone ?? '');
    if (zone === undefined) return { state: 'later' };
    zone.queue.add(name);
    if (this.allDown) return { state: 'off' };
    const interval = intervalOf(zone);
    if (first(zone.queue) !== name || interval === undefined) return { state: 'later' };
    const inMs = zone.lastEviction === undefined ? 0 : zone.lastEviction + interval - this.#options.clock.monotonic();
    return inMs <= 0 ? { state: 'now' } : { state: 'soon', inMs };
  }

  /** The node used its slot. */
  slotTaken(name: string): void {
    const zone = this.#zones.get(this.#nodes.get(name)?.zone ?? '');
    if (zone !== undefined) zone.lastEviction = this.#options.clock.monotonic();
    this.dequeue(name);
  }

  dequeue(name: string, zoneName = this.#nodes.get(name)?.zone): void {
    const zone = this.#zones.get(zoneName ?? '');
    if (zone?.queue.delete(name) === true) this.#enqueueNext(zoneName);
  }

  #enqueueNext(zoneName: string | undefined): void {
    const next = first(this.#zones.get(zoneName ?? '')?.queue ?? []);
    if (next !== undefined) this.#options.enqueue(next);
  }

  #add({ zone: name, isReady, isExcluded }: Counted, by: 1 | -1): void {
    const zone = this.#zones.get(name) ?? { members: 0, ready: 0, counted: 0, queue: new Set(), lastEviction: undefined };
    this.#tally(zone, -1);
    zone.members += by;
    if (!isExcluded) zone.counted += by;
    if (!isExcluded && isReady) zone.ready += by;
    this.#tally(zone, 1);
    if (zone.members === 0) this.#zones.delete(name);
    else this.#zones.set(name, zone);
  }

  #tally({ counted, ready }: Zone, by: 1 | -1): void {
    if (counted > 0) this.#counting += by;
    if (counted > 0 && ready === 0) this.#down += by;
  }
}

interface Zone {
  /** All nodes, and those that count: nodes with the exclude-disruption label do not. */
  members: number;
  counted: number;
  /** Of the counted nodes. */
  ready: number;
  /** Nodes that wait for an eviction slot, in this order. */
  readonly queue: Set<string>;
  /** By the monotonic clock. */
  lastEviction: number | undefined;
}

interface Counted {
  readonly zone: string;
  readonly isReady: boolean;
  readonly isExcluded: boolean;
}

const countedOf = (node: Node): Counted => ({
  zone: zoneOf(node),
  isReady: readyOf(node)?.status === 'True',
  isExcluded: node.metadata.labels?.['node.kubernetes.io/exclude-disruption'] !== undefined,
});

function zoneOf({ metadata: { labels = {} } }: Node): string {
  const zone = labels['failure-domain.beta.kubernetes.io/zone'] ?? labels['topology.kubernetes.io/zone'] ?? '';
  const region = labels['failure-domain.beta.kubernetes.io/region'] ?? labels['topology.kubernetes.io/region'] ?? '';
  return `${region}\0${zone}`;
}

const usualIntervalMs = 10_000;
const slowIntervalMs = 100_000;
const largeZone = 50;

/** Milliseconds between two evictions. Undefined: no evictions. */
function intervalOf({ counted, ready }: Zone): number | undefined {
  const unready = counted - ready;
  const isMostlyDown = ready > 0 && unready > 2 && unready / counted >= 0.55;
  if (!isMostlyDown) return usualIntervalMs;
  return counted > largeZone ? slowIntervalMs : undefined;
}

function first(queue: Iterable<string>): string | undefined {
  for (const name of queue) return name;
  return undefined;
}
