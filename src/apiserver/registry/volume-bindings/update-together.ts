import { statusErrors } from '../../../api/status.ts';
import type { Call, Registry } from '../registry.ts';
import { targetOf } from '../registry.ts';
import { type PreparedWrite, write } from '../../objects/transaction.ts';
import { type ObjectUpdate, type UpdateResult, prepareObjectUpdate } from '../verbs/update.ts';

export interface UpdateCall {
  readonly call: Call;
  readonly change: ObjectUpdate;
}

/**
 * Several updates in one transaction: all of them happen, at one revision, or none does. Each is admitted and validated
 * like any write. If another request writes one of the objects meanwhile, all are prepared again.
 */
export async function updateTogether(registry: Registry, several: readonly UpdateCall[]): Promise<readonly UpdateResult[]> {
  const [first] = several;
  if (first === undefined) return [];
  refuseRepeats(several);
  return write(targetOf(registry, first.call), async (draft) => {
    const prepared: PreparedWrite<UpdateResult>[] = [];
    for (const { call, change } of several) prepared.push(await prepareObjectUpdate(registry, call, { change, draft }));
    if (prepared.every((one) => one.type === 'answer')) return { type: 'answer', answer: prepared.map((one) => one.answer) };
    return { type: 'commit', answer: (committed) => prepared.map((one) => (one.type === 'answer' ? one.answer : one.answer(committed))) };
  });
}

/** A second update of one object would not see the first. */
function refuseRepeats(several: readonly UpdateCall[]): void {
  const seen = new Set<string>();
  for (const { call } of several) {
    const { resource, namespace, name } = call.route;
    const key = `${resource.base.prefix}${namespace}/${name}`;
    if (seen.has(key)) throw statusErrors.badRequest(`${resource.kind.kind} "${name}" is named twice`);
    seen.add(key);
  }
}
