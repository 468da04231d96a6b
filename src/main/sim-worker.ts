/** A process that lives through worlds for `moor sim --jobs`, which says which. */
import { runSeed } from '../sim/worlds/run-seeds.ts';
import type { Asked, Told } from './sim-jobs.ts';

process.on('message', (asked: Asked) => {
  void runSeed(asked).then((failure) => process.send?.({ failure } satisfies Told));
});
// Nobody is left who would want to know.
process.on('disconnect', () => process.exit());
