import { statusErrors } from '../../api/status.ts';
import type { Call, Registry } from './registry.ts';
import { targetOf } from './registry.ts';
import { type Prepared, write } from './transaction.ts';
import { type Change, type Changed, prepareChange } from './update.ts';

export interface OneOfSeveral {
  readonly call: Call;
  readonly change: Change;
}

/**
 * Several changes in one transaction: all of them happen, at one revision, or none does. Each is admitted and validated
 * like any write. If somebody else writes one of the objects meanwhile, all are prepared again.
 */
export async function changeTogether(registry: Registry, several: readonly OneOfSeveral[]): Promise<readonly Changed[]> {
  const [first] = several;
  if (first === undefined) return [];
  refuseRepeats(several);
  return write(targetOf(registry, first.call), async (draft) => {
    const prepared: Prepared<Changed>[] = [];
    for (const { call, change } of several) prepared.push(await prepareChange(registry, call, { change, draft }));
    if (prepared.every((one) => one.type === 'answer')) return { type: 'answer', answer: prepared.map((one) => one.answer) };
    return { type: 'commit', answer: (committed) => prepared.map((one) => (one.type === 'answer' ? one.answer : one.answer(committed))) };
  });
}

/** The second change of an object would not see the first. */
function refuseRepeats(several: readonly OneOfSeveral[]): void {
  const seen = new Set<string>();
  for (const { call } of several) {
    const { resource, namespace, name } = call.route;
    const key = `${resource.base.prefix}${namespace}/${name}`;
    if (seen.has(key)) throw statusErrors.badRequest(`${resource.kind.kind} "${name}" is named twice`);
    seen.add(key);
  }
}
