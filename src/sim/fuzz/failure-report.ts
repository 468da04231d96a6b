import { describeFault } from './plan/faults.ts';
import { describeAction } from './plan/user-actions.ts';
import type { FuzzFailure } from './shrink.ts';

/** The last lines of a timeline matter most. */
const mostLines = 120;

/** The violation, the command that replays it, and the timeline that leads to it. */
export function failureReport({ plan, outcome }: FuzzFailure): string {
  const { violation, timeline } = outcome;
  const seconds = (ms: number) => `${(ms / 1000).toFixed(1)}s`.padStart(7);
  const shown = timeline.slice(-mostLines);
  return [
    `seed ${plan.seed}: ${violation?.invariant ?? 'nothing broke'}`,
    `  ${violation?.what ?? ''}`,
    '',
    `Replay: moor fuzz --seed ${plan.seed}`,
    `World: ${plan.settings.nodes} nodes, ${plan.settings.leaders} of each leader, ${plan.settings.store} store, ${plan.settings.bindsTogether ? 'bound in one transaction' : 'bound in four writes'}${plan.settings.volumeLimit === undefined ? '' : `, at most ${plan.settings.volumeLimit} volumes on a node`}`,
    '',
    'Actions and faults that it takes (times since the cluster was ready; the timeline begins a few seconds before):',
    ...plan.actions.map(({ at, who, action }) => `  ${seconds(at)}  ${who}: ${describeAction(action)}`),
    ...plan.faults.map((fault) => `  ${seconds(fault.at)}  fault: ${describeFault(fault)}`),
    '',
    'Timeline:',
    ...(shown.length < timeline.length ? [`  … ${timeline.length - shown.length} lines before`] : []),
    ...shown.map((line) => `  ${line}`),
    '',
  ].join('\n');
}
