/** Which nodes are removed or replaced: emptiness, drift, consolidation (Karpenter's disruption controller). */
import type { Command, DisruptionAction, DisruptionDecision } from './actions.ts';
import { type MarkedNode, release } from './disrupted-mark.ts';

export interface DisruptionSnapshot {
  /** Under way: tainted, with replacements that are awaited. */
  readonly executing: readonly { readonly command: Command; readonly replacements: 'ready' | 'awaited' | 'failed' }[];
  /** Marked for a command that is not under way: commands are in memory, and this process may have crashed between the mark and the end of the node. */
  readonly abandoned: readonly MarkedNode[];
  /** Found earlier, and to be examined again. */
  readonly considered: { readonly command: Command; readonly at: number } | undefined;
  /** The first method that finds something wins. Computed only if it is needed. */
  readonly find: () => Command | undefined;
  /** The command as it would be found now among the same nodes; undefined: it no longer holds. */
  readonly validate: (command: Command) => Command | undefined;
}

const everyMs = 10_000;
const releasedMs = 1_000;
/** A pod may come to a node between the moment that it is found empty and its removal. */
const validationMs = 15_000;

export function decideDisruption({ executing, abandoned, considered, find, validate }: DisruptionSnapshot, now: number): DisruptionDecision {
  // A node that is released is a candidate in the next pass.
  if (abandoned.length > 0)
    return {
      actions: abandoned.flatMap(release),
      reasons: abandoned.map(({ claim }) => ({ code: 'Released', text: claim.metadata.name ?? '' })),
      again: now + releasedMs,
    };
  const done = executing.flatMap(({ command, replacements }): readonly DisruptionAction[] => {
    if (replacements === 'awaited') return [];
    return [{ do: replacements === 'ready' ? 'complete' : 'undo', command }];
  });
  if (done.some((action) => action.do === 'undo')) return { actions: done, reasons: [], again: now + releasedMs };
  const again = now + everyMs;
  if (considered === undefined) {
    const command = find();
    if (command === undefined) return { actions: done, reasons: [], again };
    const reasons = [{ code: command.reason, text: command.candidates.join(', ') }];
    // Drift does not go away by itself.
    if (command.reason === 'Drifted') return { actions: [...done, { do: 'execute', command }], reasons, again };
    return { actions: [...done, { do: 'consider', command }], reasons, again: now + validationMs };
  }
  const due = considered.at + validationMs;
  if (now < due) return { actions: done, reasons: [{ code: 'Validating', text: considered.command.candidates.join(', ') }], again: due };
  const command = validate(considered.command);
  if (command === undefined)
    return { actions: [...done, { do: 'drop' }], reasons: [{ code: 'Abandoned', text: considered.command.candidates.join(', ') }], again };
  return { actions: [...done, { do: 'execute', command }], reasons: [{ code: command.reason, text: command.candidates.join(', ') }], again };
}
