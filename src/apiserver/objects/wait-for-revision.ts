import { statusErrors } from '../../api/status.ts';
import type { Store } from '../../store/contract.ts';
import type { World } from '../../world/world.ts';

/** How long a reader waits for a revision that it has heard of elsewhere and this server has not seen. */
const PATIENCE_MS = 3_000;

/**
 * Returns once the store shows the revision or a later one (0: any).
 * @throws ApiError 504 if it does not within a few seconds
 */
export async function waitForRevision({ store, world }: { readonly store: Store; readonly world: World }, revision: number): Promise<void> {
  if (revision <= store.revision()) return;
  await new Promise<void>((resolve) => {
    const finish = (): void => {
      cancel();
      watch.stop();
      resolve();
    };
    const cancel = world.timers.after(PATIENCE_MS, finish);
    const watch = store.watch(
      { prefix: '/', after: store.revision() },
      {
        changes: (seen) => {
          if (seen >= revision) world.timers.soon(finish);
        },
        end: () => world.timers.soon(finish),
      },
    );
  });
  if (revision > store.revision()) throw statusErrors.resourceVersionTooLarge(revision, store.revision());
}
