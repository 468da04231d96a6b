import type { SimulatedServer } from '../cluster/simulated-server.ts';
import type { Observer } from '../invariants/observer.ts';
import type { SimulatedWorld } from '../world/world.ts';
import type { FuzzTimeline } from './fuzz-timeline.ts';

export interface FuzzServerOptions {
  readonly world: SimulatedWorld;
  readonly server: SimulatedServer;
  readonly observer: Observer;
  readonly timeline: FuzzTimeline;
}

/** The files of the store begin with it. */
const headerBytes = 64;

/** Which bit of the file: somewhere between its beginning and its end. */
export interface DamagedPlace {
  readonly permille: number;
  readonly bit: number;
}

/** The API server of a world, with the faults of its process and its disk. */
export class FuzzServer {
  readonly #options: FuzzServerOptions;
  /** A sync of the disk takes up to this long. */
  syncDelayMs = 0;
  /** While the server starts on a damaged disk. */
  #damaged: Promise<void> | undefined;

  constructor(options: FuzzServerOptions) {
    this.#options = options;
  }

  /** Retries while the store cannot be opened: its disk may be full. */
  async start(): Promise<void> {
    const { server, observer, timeline, world } = this.#options;
    if (this.#damaged !== undefined) await this.#damaged;
    while (!server.up) {
      try {
        await server.start();
        const { store } = server;
        if (store !== undefined) await observer.follow(store);
        timeline.add('fault', 'the server starts');
      } catch (error) {
        timeline.add('fault', `the server does not start: ${messageOf(error)}`);
        await world.sleep(1_000);
      }
    }
  }

  crash(how: 'killed' | 'power'): void {
    this.#options.timeline.add('fault', `the server crashes (${how})`);
    this.#options.server.crash(how);
  }

  /** The server is killed, and a bit of its disk is not what it was when it starts again. The disk is replaced by a good copy afterwards. */
  damage(place: DamagedPlace): void {
    this.#damaged = this.#startOnDamagedDisk(place).finally(() => {
      this.#damaged = undefined;
      void this.start();
    });
  }

  async #startOnDamagedDisk({ permille, bit }: DamagedPlace): Promise<void> {
    const { server, observer, timeline } = this.#options;
    const { entries: before } = (await server.store?.range({ from: '/', to: '0' })) ?? { entries: [] };
    this.crash('killed');
    const { disk } = server;
    const file = (await disk?.list('/data'))?.filter((name) => name !== 'lock').at(-1);
    if (disk === undefined || file === undefined) return;
    const path = `/data/${file}`;
    const bytes = await disk.read(path, 0, await disk.size(path));
    // Neither the header nor the tail, of which recovery cannot tell whether it was written.
    const used = bytes.findLastIndex((byte) => byte !== 0);
    const offset = headerBytes + Math.floor((used * 0.7 - headerBytes) * (permille / 1000));
    const good = bytes.slice(offset, offset + 1);
    if (offset < headerBytes || good.length === 0) return;
    disk.damage(path, offset, Uint8Array.of((good[0] ?? 0) ^ (1 << bit)));
    timeline.add('fault', `bit ${bit} of byte ${offset} of ${path} is flipped`);
    try {
      await server.start();
    } catch (error) {
      timeline.add('fault', `the server reports the damage: ${messageOf(error)}`);
      disk.damage(path, offset, good);
      return;
    }
    const { store } = server;
    if (store === undefined) return;
    const now = new Map((await store.range({ from: '/', to: '0' })).entries.map((entry) => [entry.key, entry]));
    const wrong = before.find(({ key, modRevision, value }) => {
      const entry = now.get(key);
      return entry?.modRevision === modRevision && !Buffer.from(entry.value).equals(value);
    });
    if (wrong !== undefined) observer.damageIgnored(`${wrong.key} is not what was written, and the store says nothing`);
    await observer.follow(store);
  }

  /** Compacts to the current revision. A full disk may refuse it. */
  async compact(): Promise<void> {
    const { store } = this.#options.server;
    try {
      await store?.compact(store.revision());
    } catch (error) {
      this.#options.timeline.add('fault', `compaction failed: ${messageOf(error)}`);
    }
  }

  limitDisk(capacity: number): void {
    const { disk } = this.#options.server;
    if (disk === undefined || disk.capacity === capacity) return;
    disk.capacity = capacity;
    this.#options.timeline.add('fault', capacity === Number.POSITIVE_INFINITY ? "the store's disk has space again" : "the store's disk is full");
  }

  beforeDiskOperation(name: string): Promise<void> | undefined {
    const { world } = this.#options;
    return name === 'sync' && this.syncDelayMs > 0 ? world.sleep(world.random.float() * this.syncDelayMs) : undefined;
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
