import { computed, signal } from '@preact/signals';
import type { KubeObject } from '../../../api/object.ts';
import type { Kind } from '../../../api/kind.ts';
import type { Stored } from '../../../api/stored.ts';
import { Informer } from '../../../client/informers/informer.ts';
import { type StorageKinds, type StorageLists, StorageView } from '../../model/storage-view.ts';
import { browserClient } from '../api/browser-client.ts';
import { browserWorld } from '../api/browser-world.ts';
import { storageKinds } from '../api/kinds.ts';
import { messageOf } from '../api/requests.ts';

/** '': all namespaces. */
export const namespace = signal('');

/** Grows with every change that the page has seen. */
export const revision = signal(0);

/** What the user may not list, with the server's words. */
export const refusals = signal<ReadonlyMap<string, string>>(new Map());

/** Whether the first lists are here. */
export const synced = signal(false);

let informers: ReadonlyMap<keyof StorageKinds, Informer<KubeObject>> = new Map();
let shown: StorageLists = emptyLists();

/** The objects, as the informers have them. */
export const view = computed(() => {
  void revision.value;
  return new StorageView(shown);
});

/** Ends the informers that run, and starts new ones for the namespace that is chosen. */
export async function follow(): Promise<void> {
  for (const informer of informers.values()) informer.stop();
  const lists = Object.keys(storageKinds) as (keyof StorageKinds)[];
  synced.value = false;
  refusals.value = new Map();
  shown = emptyLists();
  revision.value++;
  const chosen = namespace.value;
  const started = new Map<keyof StorageKinds, Informer<KubeObject>>();
  informers = started;
  await Promise.all(lists.map((list) => start(list, chosen, started)));
  if (informers === started) synced.value = true;
}

/** The server is back, and its user looks at the page. */
const longestWaitMs = 2_000;

async function start(list: keyof StorageKinds, chosen: string, started: Map<keyof StorageKinds, Informer<KubeObject>>): Promise<void> {
  const kind = storageKinds[list] as unknown as Kind;
  const selection = kind.namespaced && chosen !== '' ? { namespace: chosen } : {};
  // Asked once before: an informer would go on asking for what the user may not have.
  const allowed = await browserClient.list(kind, { ...selection, limit: 1 });
  if (!allowed.ok && allowed.reason !== 'unreachable') {
    // Not every cluster has snapshots.
    if (allowed.reason !== 'notFound') refusals.value = new Map([...refusals.value, [kind.plural, messageOf(allowed.error)]]);
    return;
  }
  if (informers !== started) return;
  const informer = new Informer<KubeObject>({ client: browserClient, kind, world: browserWorld, selection, longestWaitMs });
  started.set(list, informer);
  informer.cache.subscribe(() => changed(list));
  informer.start();
  await informer.synced();
}

const stale = new Set<keyof StorageKinds>();
let planned = false;

/** Changes that come together are shown together. */
function changed(list: keyof StorageKinds): void {
  stale.add(list);
  if (planned) return;
  planned = true;
  browserWorld.timers.after(pause(), publish);
}

/** What it takes to show a change limits how often it is done: a large cluster must not keep the page busy. */
let lastTook = 0;
const pause = (): number => Math.min(Math.max(8, lastTook * 3), 500);

function publish(): void {
  planned = false;
  const began = browserWorld.clock.monotonic();
  const changes = Object.fromEntries([...stale].map((list) => [list, [...(informers.get(list)?.cache.list() ?? [])]])) as Partial<StorageLists>;
  stale.clear();
  shown = { ...shown, ...changes };
  revision.value++;
  lastTook = browserWorld.clock.monotonic() - began;
}

function emptyLists(): StorageLists {
  return Object.fromEntries(Object.keys(storageKinds).map((list) => [list, [] as Stored[]])) as unknown as StorageLists;
}
