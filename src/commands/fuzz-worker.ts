/** A process that lives through worlds for `moor sim --jobs`, which says which. */
import { runSeed } from '../sim/fuzz/run-seeds.ts';
import type { SeedRequest, SeedResult } from './fuzz-jobs.ts';

process.on('message', (asked: SeedRequest) => {
  void runSeed(asked).then((failure) => process.send?.({ failure } satisfies SeedResult));
});
// Nobody is left who would want to know.
process.on('disconnect', () => process.exit());
