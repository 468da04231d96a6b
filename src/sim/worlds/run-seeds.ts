import { drawPlan } from './draw.ts';
import { report } from './report.ts';
import { runPlan } from './run.ts';
import { shrink } from './shrink.ts';

export interface SeedRun {
  readonly from: number;
  readonly to: number;
  /** After each seed. */
  readonly onProgress?: (progress: { readonly seed: number; readonly failed: number }) => void;
  /** Each failure, shrunk, as text. */
  readonly onFailure: (text: string) => void;
  /** False: failures are told as they were found. */
  readonly shrinks?: boolean;
}

/** Runs the worlds of a range of seeds. Resolves with those that broke something. */
export async function runSeeds({ from, to, onProgress, onFailure, shrinks = true }: SeedRun): Promise<readonly number[]> {
  const failed: number[] = [];
  for (let seed = from; seed <= to; seed++) {
    const plan = drawPlan(seed);
    const outcome = await runPlan(plan);
    if (outcome.violation !== undefined) {
      failed.push(seed);
      const found = { plan, outcome };
      onFailure(report(shrinks ? await shrink(found) : found));
    }
    onProgress?.({ seed, failed: failed.length });
  }
  return failed;
}
