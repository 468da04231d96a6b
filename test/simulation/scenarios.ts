/** Runs scenarios as `moor simulate` does. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { ClusterCopy } from '../../src/sim/scenario/cluster-copy.ts';
import { readScenario } from '../../src/sim/scenario/language/read-scenario.ts';
import { renderReport } from '../../src/sim/scenario/render-report.ts';
import type { ScenarioReport } from '../../src/sim/scenario/report.ts';
import { runScenario } from '../../src/sim/scenario/run-scenario.ts';
import { root } from '../moor-process.ts';

export const examples = path.join(root, 'examples/simulate');

export interface Played extends ScenarioReport {
  readonly text: string;
  /** The expectations that failed, with what was found. */
  readonly surprises: readonly string[];
}

export async function play(text: string, options: { readonly seed?: number; readonly copy?: ClusterCopy } = {}): Promise<Played> {
  const open = (name: string) => readFileSync(path.join(examples, name), 'utf8');
  const scenario = readScenario({ file: 'scenario.yaml', text, open, fromCluster: options.copy !== undefined });
  const report = await runScenario(scenario, { seed: options.seed ?? scenario.seed, copy: options.copy });
  const surprises = report.verdicts.flatMap(({ text: expected, held, found }) => (held ? [] : [`${expected}: ${found}`]));
  return { ...report, text: renderReport(report, { colour: false, width: 140 }), surprises };
}

/** The timeline without its times, each entry on a line of its own: 'you pod/a created'. */
export const lines = ({ timeline }: ScenarioReport): readonly string[] =>
  timeline.map(({ type, who, about, what }) => [type === 'happening' ? '▶' : who, about, what].filter((part) => part !== '').join(' '));
