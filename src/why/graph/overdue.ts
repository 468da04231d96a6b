import type { Fix, Next, Verdict } from '../explanation/explanation.ts';
import type { ObjectGraph } from './object-graph.ts';
import { timeOf } from '../explanation/timestamps.ts';

/** A controller that runs takes its next step within this time, also if it is busy. */
const patienceMs = 60_000;

/** A step that a component takes within a moment. If it has been due for longer, the component does not seem to run. */
export function overdue(
  next: Next,
  { since, graph }: { readonly since: string | undefined; readonly graph: ObjectGraph },
): { readonly next: Next; readonly fixes: readonly Fix[]; readonly verdict?: Verdict } {
  const time = timeOf(since);
  if (time === undefined || graph.now - time < patienceMs) return { next, fixes: [] };
  return {
    verdict: 'stuck',
    next: { who: next.who, does: `${next.does}: that is overdue, so the component does not seem to be running` },
    fixes: [{ text: 'check that the controllers run: they renew a lease every few seconds', commands: ['kubectl -n kube-system get lease'] }],
  };
}
