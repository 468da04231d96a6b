import type { Fix, Next, Verdict } from '../explanation/explanation.ts';
import type { ObjectGraph } from './object-graph.ts';
import { timeOf } from '../explanation/timestamps.ts';

/** A controller that runs has done what it does at once within this time, however busy it is. */
const patienceMs = 60_000;

/** Somebody's move, which takes a moment. If it has been due for long, nobody seems to be there to make it. */
export function overdue(
  next: Next,
  { since, graph }: { readonly since: string | undefined; readonly graph: ObjectGraph },
): { readonly next: Next; readonly fixes: readonly Fix[]; readonly verdict?: Verdict } {
  const time = timeOf(since);
  if (time === undefined || graph.now - time < patienceMs) return { next, fixes: [] };
  return {
    verdict: 'stuck',
    next: { who: next.who, does: `${next.does}: that has been due for a while, so it does not seem to be running` },
    fixes: [{ text: 'see whether the controllers run: they renew a lease every few seconds', commands: ['kubectl -n kube-system get lease'] }],
  };
}
