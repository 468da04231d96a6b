import type { Entry, Store } from '../../../store/contract.ts';
import type { World } from '../../../world/world.ts';

/** Waits until a key exists; undefined after the timeout. */
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
        // Deferred: the store may deliver before `watch` returns.
        changes: (_, changes) => {
          const entry = changes.at(-1)?.entry;
          if (entry !== undefined) world.timers.soon(() => finish(entry));
        },
        end: () => world.timers.soon(() => finish(undefined)),
      },
    );
  });
}
