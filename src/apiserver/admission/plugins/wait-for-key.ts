import type { Entry, Store } from '../../../store/contract.ts';
import type { World } from '../../../world/world.ts';

/** The entry of a key that somebody is about to write; undefined if nobody does in time. */
export async function waitForKey({ store, world }: { readonly store: Store; readonly world: World }, key: string, ms: number): Promise<Entry | undefined> {
  const after = store.revision();
  const found = await store.get(key);
  if (found !== undefined) return found;
  return new Promise((resolve) => {
    const finish = (entry: Entry | undefined): void => {
      cancel();
      watch.stop();
      resolve(entry);
    };
    const cancel = world.timers.after(ms, () => finish(undefined));
    const watch = store.watch(
      { prefix: key, after },
      {
        // Deferred: the store may report before `watch` has returned.
        changes: (_, changes) => {
          const entry = changes.at(-1)?.entry;
          if (entry !== undefined) world.timers.soon(() => finish(entry));
        },
        end: () => world.timers.soon(() => finish(undefined)),
      },
    );
  });
}
