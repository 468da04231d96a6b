/** A worker process of `moor fuzz --jobs`. */
import { runSeed } from '../sim/fuzz/run-seeds.ts';
import type { SeedRequest, SeedResult } from './fuzz-jobs.ts';

process.on('message', (request: SeedRequest) => {
  void runSeed(request).then((failure) => process.send?.({ failure } satisfies SeedResult));
});
// The parent process has ended.
process.on('disconnect', () => process.exit());
