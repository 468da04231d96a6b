import { runCloudSeed } from '../clouds/run-cloud-seed.ts';
import { runServerWorld } from '../histories/server-world.ts';
import { drawPlan } from './plan/draw-plan.ts';
import { failureReport } from './failure-report.ts';
import { runPlan } from './run-plan.ts';
import { shrink } from './shrink.ts';

/** `servers`: two API servers on an etcd that misbehaves, and clients whose histories are checked. `clouds`: a cloud, and the autoscaler. */
export const worldKinds = ['clusters', 'servers', 'clouds'] as const;
export type Worlds = (typeof worldKinds)[number];

export interface SeedRun {
  readonly from: number;
  readonly to: number;
  /** After each seed. */
  readonly onProgress?: (progress: { readonly done: number; readonly failed: number }) => void;
  /** Each failure, shrunk, as text. */
  readonly onFailure: (text: string, seed: number) => void;
  /** Absent: whole clusters. */
  readonly worlds?: Worlds | undefined;
  /** False: failures are reported as they were found. */
  readonly shrinks?: boolean;
}

/** Runs the worlds of a range of seeds, one after the other. Resolves with the seeds that broke an invariant. */
export async function runSeeds({ from, to, onProgress, onFailure, worlds, shrinks = true }: SeedRun): Promise<readonly number[]> {
  const failed: number[] = [];
  for (let seed = from; seed <= to; seed++) {
    const failure = await runSeed({ seed, shrinks, worlds });
    if (failure !== undefined) {
      failed.push(seed);
      onFailure(failure, seed);
    }
    onProgress?.({ done: seed - from + 1, failed: failed.length });
  }
  return failed;
}

/** The failure report of a seed; undefined: no invariant broke. */
export async function runSeed({
  seed,
  shrinks,
  worlds,
}: Pick<SeedRun, 'worlds'> & { readonly seed: number; readonly shrinks: boolean }): Promise<string | undefined> {
  if (worlds === 'servers') return runServers(seed);
  if (worlds === 'clouds') return runCloudSeed(seed, shrinks);
  const plan = drawPlan(seed);
  const outcome = await runPlan(plan);
  if (outcome.violation === undefined) return undefined;
  const found = { plan, outcome };
  return failureReport(shrinks ? await shrink(found) : found);
}

async function runServers(seed: number): Promise<string | undefined> {
  const { violation, operations } = await runServerWorld(seed);
  return (
    violation &&
    `seed ${seed}, two servers: ${violation.invariant}\n  ${violation.what} (of ${operations} operations)\nAgain: moor fuzz --worlds servers --seed ${seed}\n`
  );
}
