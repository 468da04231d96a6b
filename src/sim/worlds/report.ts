import { describeFault } from '../faults/faults.ts';
import { describe } from '../workloads/actions.ts';
import type { Failure } from './shrink.ts';

/** Lines of a timeline that a person reads before getting tired; the last ones matter most. */
const mostLines = 120;

/** What broke, how to see it again, and the story that led to it. */
export function report({ plan, outcome }: Failure): string {
  const { violation, timeline } = outcome;
  const seconds = (ms: number) => `${(ms / 1000).toFixed(1)}s`.padStart(7);
  const shown = timeline.slice(-mostLines);
  return [
    `seed ${plan.seed}: ${violation?.invariant ?? 'nothing broke'}`,
    `  ${violation?.what ?? ''}`,
    '',
    `Again: moor sim --seed ${plan.seed}`,
    `World: ${plan.settings.nodes} nodes, ${plan.settings.leaders} of each leader, ${plan.settings.store} store, ${plan.settings.bindsTogether ? 'bound in one transaction' : 'bound in four writes'}${plan.settings.volumeLimit === undefined ? '' : `, at most ${plan.settings.volumeLimit} volumes on a node`}`,
    '',
    'What it takes (times since the cluster was ready; the timeline begins a few seconds before):',
    ...plan.happenings.map(({ at, who, action }) => `  ${seconds(at)}  ${who}: ${describe(action)}`),
    ...plan.faults.map((fault) => `  ${seconds(fault.at)}  fault: ${describeFault(fault)}`),
    '',
    'What happened:',
    ...(shown.length < timeline.length ? [`  … ${timeline.length - shown.length} lines before`] : []),
    ...shown.map((line) => `  ${line}`),
    '',
  ].join('\n');
}
