import type { World } from '../world/world.ts';

/** Certificates are renewed long before they expire, also in a process that runs for a year. */
export function daily(world: World, task: () => Promise<void>): () => Promise<void> {
  let cancel = () => {};
  const plan = () => {
    cancel = world.timers.after(24 * 60 * 60 * 1000, () => {
      task().catch((error: unknown) => world.log.warn('cannot renew the certificates', { error }));
      plan();
    });
  };
  plan();
  return async () => cancel();
}
