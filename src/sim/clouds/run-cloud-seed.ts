import { reduce } from '../world/delta-debugging.ts';
import { type CloudWorldOutcome, runCloudWorld } from './cloud-world.ts';
import { drawCloudPlan } from './draw-plan.ts';
import { type CloudWorldPlan, describeEvent } from './plan.ts';

interface CloudFailure {
  readonly plan: CloudWorldPlan;
  readonly outcome: CloudWorldOutcome;
}

/** The most runs in search of a smaller world. */
const mostRuns = 60;
/** The last lines of a timeline matter most. */
const mostLines = 150;

/** The failure report of a seed; undefined: no invariant broke. */
export async function runCloudSeed(seed: number, shrinks: boolean): Promise<string | undefined> {
  const plan = drawCloudPlan(seed);
  const outcome = await runCloudWorld(plan);
  if (outcome.violation === undefined) return undefined;
  return reportOf(shrinks ? await shrunk({ plan, outcome }) : { plan, outcome });
}

/** A world with fewer events that breaks the same invariant. */
async function shrunk(found: CloudFailure): Promise<CloudFailure> {
  let best = found;
  let runs = 0;
  await reduce(found.plan.events, async (events) => {
    if (runs++ >= mostRuns) return false;
    const plan = { ...best.plan, events };
    const outcome = await runCloudWorld(plan);
    if (outcome.violation?.invariant !== found.outcome.violation?.invariant) return false;
    best = { plan, outcome };
    return true;
  });
  return best;
}

function reportOf({ plan, outcome: { violation, timeline } }: CloudFailure): string {
  const shown = timeline.slice(-mostLines);
  return [
    `seed ${plan.seed}, a cloud: ${violation?.invariant ?? 'nothing broke'}`,
    `  ${violation?.what ?? ''}`,
    '',
    `Replay: moor fuzz --worlds clouds --seed ${plan.seed}`,
    `NodePool: ${JSON.stringify(plan.pool)}`,
    '',
    'What it takes:',
    ...plan.events.map((event) => `  ${(event.at / 1000).toFixed(1).padStart(7)}s  ${describeEvent(event)}`),
    '',
    'Timeline:',
    ...(shown.length < timeline.length ? [`  … ${timeline.length - shown.length} lines before`] : []),
    ...shown.map((line) => `  ${line}`),
    '',
  ].join('\n');
}
