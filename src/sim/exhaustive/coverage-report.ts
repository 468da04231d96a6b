import type { Coverage } from './explore.ts';

/** One line for each case, under this header. */
export const coverageHead = `${'case'.padEnd(28)}  states  histories  to the end  longest  left`;

export function coverageLine({ name, states, histories, endings, longest, left, failure }: Coverage): string {
  const numbers = [String(states).padStart(6), String(histories).padStart(9), String(endings).padStart(10), String(longest).padStart(7)];
  const rest = failure !== undefined ? `BROKEN: ${failure.invariant}` : left === 0 ? 'none: complete' : `${left} (budget)`;
  return `${name.padEnd(28)}  ${numbers.join('  ')}  ${rest}`;
}

/** The violation, and the timeline that leads to it. */
export function failureText({ name, failure }: Coverage): string {
  if (failure === undefined) return '';
  const { invariant, what, choices, timeline } = failure;
  return [`${name}: ${invariant}`, `  ${what}`, `  by the choices ${choices.join(' ')}`, '', ...timeline.map((line) => `  ${line}`), ''].join('\n');
}
