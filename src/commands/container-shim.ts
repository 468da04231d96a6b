/**
 * The shim: the process that outlives the node agent and holds the containers of a node with the runtime `sandbox`. Its one argument are the settings
 * of `localSandboxRuntime`, as JSON. Its worker threads make the containers' root file systems. Threads of other processes of `moor` unpack layers with it.
 */
import { fileURLToPath } from 'node:url';
import { isMainThread, workerData } from 'node:worker_threads';
import { raiseCompilerBudget } from '../host/compiler-budget.ts';
import type { ShimSettings } from '../node/runtimes/sandbox/shim/shim.ts';

if (isMainThread) {
  raiseCompilerBudget();
  const [{ runShim }, { createRealWorld }, { realDisk }, { ContainerRootThreads }, { keepInheritedDescriptors, realInitLauncher }] = await Promise.all([
    import('../node/runtimes/sandbox/shim/shim.ts'),
    import('../host/world.ts'),
    import('../host/disk.ts'),
    import('../host/container-roots/container-root-threads.ts'),
    import('../host/init/init-launcher.ts'),
  ]);
  const settings = JSON.parse(process.argv[2] ?? '{}') as ShimSettings;
  // The end of a terminal or shell must not end containers.
  process.on('SIGHUP', () => undefined);
  keepInheritedDescriptors();
  const world = createRealWorld();
  const roots = new ContainerRootThreads(fileURLToPath(import.meta.url), world.timers);
  await runShim({ ...settings, world, disk: realDisk, roots, inits: realInitLauncher() });
  // Also if a thread is blocked.
  process.exit();
} else if (workerData === 'layers') {
  const { runLayerThread } = await import('../host/layers/layer-thread.ts');
  runLayerThread();
} else {
  const { runContainerRootThread } = await import('../host/container-roots/container-root-thread.ts');
  runContainerRootThread();
}
