/**
 * The process that keeps the containers of a node whose runtime is `sandbox`. Its one argument is what `sandboxOn` says of the node, as JSON. Threads of it make the
 * roots of containers.
 */
import { fileURLToPath } from 'node:url';
import { isMainThread } from 'node:worker_threads';
import type { ShimSettings } from '../node/runtimes/sandbox/shim/shim.ts';

if (isMainThread) {
  const [{ runShim: runKeeper }, { createRealWorld }, { ContainerRootThreads: RootThreads }] = await Promise.all([
    import('../node/runtimes/sandbox/shim/shim.ts'),
    import('../host/world.ts'),
    import('../host/container-root-threads.ts'),
  ]);
  const settings = JSON.parse(process.argv[2] ?? '{}') as ShimSettings;
  // What ends a terminal or its shell does not end containers.
  process.on('SIGHUP', () => undefined);
  const world = createRealWorld();
  await runKeeper({ ...settings, world, roots: new RootThreads(fileURLToPath(import.meta.url), world.timers) });
  // Also if a thread is held up.
  process.exit();
} else {
  const { runContainerRootThread: makeRoots } = await import('../host/container-root-thread.ts');
  makeRoots();
}
