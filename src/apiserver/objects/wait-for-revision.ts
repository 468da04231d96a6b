import { statusErrors } from '../../api/status.ts';
import type { Store } from '../../store/contract.ts';
import type { World } from '../../world/world.ts';

/** How long a read waits for a revision that the client got from another server (upstream: cacher, blockTimeout). */
const BLOCK_TIMEOUT_MS = 3_000;

/**
 * Returns once the store is at the revision or a later one (0: any).
 * @throws ApiError 504 after 3 seconds
 */
export async function waitForRevision({ store, world }: { readonly store: Store; readonly world: World }, revision: number): Promise<void> {
  if (revision <= store.revision()) return;
  // In a store that servers share, a read brings what the others have written before, also where no change leads to its revision.
  await store.currentRevision();
  if (revision <= store.revision()) return;
  await new Promise<void>((resolve) => {
    const finish = (): void => {
      cancel();
      watch.stop();
      resolve();
    };
    const cancel = world.timers.after(BLOCK_TIMEOUT_MS, finish);
    const watch = store.watch(
      { prefix: '/', after: store.revision() },
      {
        changes: (current) => {
          if (current >= revision) world.timers.soon(finish);
        },
        end: () => world.timers.soon(finish),
      },
    );
  });
  if (revision > store.revision()) throw statusErrors.resourceVersionTooLarge(revision, store.revision());
}
