import { fileURLToPath } from 'node:url';
import type { Runtime } from '../node/runtime.ts';
import type { ShimSettings } from '../node/runtimes/sandbox/shim/shim.ts';
import { sandboxRuntime } from '../node/runtimes/sandbox/sandbox.ts';
import type { World } from '../world/world.ts';
import { version } from './version.ts';

/** Containers as processes of this machine, under a shim that outlives this process. `canSandbox` says whether this machine can run them. */
export function localSandboxRuntime(world: World, settings: ShimSettings): Runtime {
  return sandboxRuntime({ world, root: settings.root, version, shim: shimCommand(settings) });
}

export const shimCommand = (settings: ShimSettings): readonly string[] => [
  process.execPath,
  fileURLToPath(new URL('../main/container-shim.js', import.meta.url)),
  JSON.stringify(settings),
];
