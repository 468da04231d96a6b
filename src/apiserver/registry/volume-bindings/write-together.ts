import { statusErrors } from '../../../api/status.ts';
import type { DeleteOptions } from '../../objects/options.ts';
import type { Call, Registry } from '../registry.ts';
import { targetOf } from '../registry.ts';
import { type PreparedWrite, write } from '../../objects/transaction.ts';
import { prepareDeletion } from '../verbs/delete.ts';
import { type ObjectUpdate, type UpdateResult, prepareObjectUpdate } from '../verbs/update.ts';

export interface UpdateCall {
  readonly call: Call;
  readonly change: ObjectUpdate;
}

export interface DeleteCall {
  readonly call: Call;
  readonly options: DeleteOptions;
}

interface Together {
  readonly updates: readonly UpdateCall[];
  readonly deletion?: DeleteCall | undefined;
}

/**
 * Several updates, and a deletion, in one transaction: all of them happen, at one revision, or none does. Each is admitted and validated
 * like any write. If another request writes one of the objects meanwhile, all are prepared again.
 */
export async function writeTogether(registry: Registry, { updates, deletion }: Together): Promise<readonly UpdateResult[]> {
  const [first] = updates;
  if (first === undefined) return [];
  refuseRepeats(updates);
  return write(targetOf(registry, first.call), async (draft) => {
    const removed = deletion === undefined ? undefined : await prepareDeletion(registry, deletion.call, { options: deletion.options, draft });
    const prepared: PreparedWrite<UpdateResult>[] = [];
    for (const { call, change } of updates) prepared.push(await prepareObjectUpdate(registry, call, { change, draft }));
    if (prepared.every((one) => one.type === 'answer')) return { type: 'answer', answer: prepared.map((one) => one.answer) };
    return {
      type: 'commit',
      answer: (committed) => {
        if (removed?.type === 'commit') removed.answer(committed);
        return prepared.map((one) => (one.type === 'answer' ? one.answer : one.answer(committed)));
      },
    };
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
