/** The process that keeps the containers of a node whose runtime is `sandbox`. Its one argument is what `sandboxOn` says of the node, as JSON. */
import { runKeeper, type KeeperOptions } from '../node/sandbox/keeper/keeper.ts';
import { createRealWorld } from './real-world.ts';

const options = JSON.parse(process.argv[2] ?? '{}') as Omit<KeeperOptions, 'world'>;
// What ends a terminal or its shell does not end containers.
process.on('SIGHUP', () => undefined);
await runKeeper({ ...options, world: createRealWorld() });
