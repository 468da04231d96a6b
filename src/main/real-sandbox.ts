import { fileURLToPath } from 'node:url';
import type { Runtime } from '../node/runtime.ts';
import type { KeeperSettings } from '../node/sandbox/keeper/keeper.ts';
import { sandboxRuntime } from '../node/sandbox/sandbox.ts';
import type { World } from '../world/world.ts';
import { version } from './version.ts';

/** Containers as processes of this machine, and the keeper that goes on without us. See `canSandbox` for whether that is possible here. */
export function sandboxOn(world: World, settings: KeeperSettings): Runtime {
  const program = fileURLToPath(new URL('../main/sandbox-keeper.js', import.meta.url));
  return sandboxRuntime({ world, root: settings.root, version, keeper: [process.execPath, program, JSON.stringify(settings)] });
}
