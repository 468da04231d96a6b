/** A client that reads as others do, page by page and then by a watch, and compares what it was told with what is there. */
import type { Kind } from '../../api/kind.ts';
import type { KubeObject } from '../../api/object.ts';
import type { Client, List, Result } from '../../client/client.ts';
import { keyOf } from '../../client/informers/cache.ts';
import type { StreamEvent } from '../../client/transport.ts';
import type { Violation } from '../invariants/observer.ts';
import type { SimulatedWorld } from '../world/world.ts';

export interface FollowerOptions {
  readonly world: SimulatedWorld;
  readonly client: Client;
  readonly kind: Kind;
  readonly onViolation: (violation: Violation) => void;
}

const [pageSize, betweenPagesMs, readEveryMs, retryMs] = [4, 400, 10_000, 2_000];

export class Follower {
  readonly #options: FollowerOptions;
  /** The resourceVersion of each object that exists, by key. */
  readonly #known = new Map<string, string>();
  #latest = 0;
  #isListed = false;

  constructor(options: FollowerOptions) {
    this.#options = options;
    void this.#follow();
  }

  /** Once the cluster is quiet: what the watch told is what a list gives. */
  async difference(): Promise<string | undefined> {
    const { client, kind } = this.#options;
    const listed = await client.list(kind);
    if (!listed.ok || !this.#isListed) return undefined;
    const there = new Map(listed.value.items.map(({ metadata }) => [keyOf(metadata), metadata.resourceVersion]));
    for (const [key, version] of this.#known)
      if (there.get(key) !== version) return `${kind.plural} ${key}: the watch told of ${version}, a list of ${there.get(key)}`;
    const missing = Array.from(there.keys()).find((key) => !this.#known.has(key));
    return missing === undefined ? undefined : `${kind.plural} ${missing}: the watch did not tell of it`;
  }

  async #follow(): Promise<void> {
    const { world } = this.#options;
    for (;;) {
      if (!(await this.#list())) {
        await world.sleep(retryMs);
        continue;
      }
      // A watch that was cut goes on where it was; one whose revision is compacted begins with a list.
      while (await this.#watch());
    }
  }

  /** False: it has to begin again. */
  async #list(): Promise<boolean> {
    const pages = await readAll(this.#options);
    if (pages === undefined) return false;
    this.#known.clear();
    for (const { metadata } of pages.items) this.#known.set(keyOf(metadata), metadata.resourceVersion ?? '');
    this.#latest = Number(pages.version);
    this.#isListed = true;
    return true;
  }

  /** Resolves when the watch has ended: true if it can go on where it was. */
  #watch(): Promise<boolean> {
    const { client, kind, world } = this.#options;
    return new Promise((resolve) => {
      client.watch(
        kind,
        { resourceVersion: String(this.#latest) },
        {
          events: (batch) => batch.forEach((event) => this.#told(event)),
          end: (error) => void world.timers.after(retryMs, () => resolve(error === undefined)),
        },
      );
    });
  }

  #told({ type, object }: StreamEvent): void {
    const [key, version] = [keyOf(object.metadata), object.metadata.resourceVersion ?? ''];
    // Objects of one transaction have the same revision.
    if (Number(version) < this.#latest) this.#broken(`a watch of ${this.#options.kind.plural} told of revision ${version} after ${this.#latest}`);
    this.#latest = Number(version);
    if (type === 'DELETED') this.#known.delete(key);
    else if (type !== 'BOOKMARK') this.#known.set(key, version);
  }

  #broken(what: string): void {
    this.#options.onViolation({ invariant: 'lists and watches tell the same', what });
  }
}

/** Reads all objects again and again, page by page. */
export async function readPages(options: FollowerOptions, forMs: number): Promise<void> {
  const { world } = options;
  const end = world.clock.monotonic() + forMs;
  while (world.clock.monotonic() < end) {
    await world.sleep(world.random.float() * 2 * readEveryMs);
    await readAll(options);
  }
}

interface Page {
  readonly items: readonly KubeObject[];
  /** How many are on the pages behind. */
  readonly remaining: number;
  readonly version: string;
}

/** Undefined: the server is down, or has forgotten the revision. */
async function readAll(options: FollowerOptions): Promise<Omit<Page, 'remaining'> | undefined> {
  const { client, kind, world, onViolation } = options;
  const broken = (what: string) => onViolation({ invariant: 'pages of a list are of one revision', what });
  const pages: Page[] = [];
  for (let next = ''; ; ) {
    const answer: Result<List<KubeObject>> = await client.list(kind, { limit: pageSize, ...(next === '' ? {} : { continue: next }) });
    if (!answer.ok) return undefined;
    const { items, metadata } = answer.value;
    pages.push({ items, remaining: metadata.remainingItemCount ?? 0, version: metadata.resourceVersion ?? '' });
    next = metadata.continue ?? '';
    if (next === '') break;
    await world.sleep(world.random.float() * betweenPagesMs);
  }
  for (const [number, { remaining, version }] of pages.entries()) {
    const behind = pages.slice(number + 1).reduce((sum, { items }) => sum + items.length, 0);
    if (version !== pages[0]?.version) broken(`page ${number + 1} of ${kind.plural} is of ${version}, and the first of ${pages[0]?.version}`);
    if (remaining !== behind) broken(`page ${number + 1} of ${kind.plural} says that ${remaining} remain, and ${behind} came`);
  }
  return { items: pages.flatMap(({ items }) => items), version: pages[0]?.version ?? '' };
}
