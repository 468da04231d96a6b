/** Which nodes are removed or replaced: emptiness, drift, consolidation (Karpenter's disruption controller). */
import type { Command, DisruptionAction, DisruptionDecision } from './actions.ts';

export interface DisruptionSnapshot {
  /** Under way: tainted, with replacements that are awaited. */
  readonly executing: readonly { readonly command: Command; readonly replacements: 'ready' | 'awaited' | 'failed' }[];
  /** Found earlier, and to be examined again. */
  readonly considered: { readonly command: Command; readonly at: number } | undefined;
  /** The first method that finds something wins. Computed only if it is needed. */
  readonly find: () => Command | undefined;
  /** The command as it would be found now among the same nodes; undefined: it no longer holds. */
  readonly validate: (command: Command) => Command | undefined;
}

const everyMs = 10_000;
/** A pod may come to a node between the moment that it is found empty and its removal. */
const validationMs = 15_000;

export function decideDisruption({ executing, considered, find, validate }: DisruptionSnapshot, now: number): DisruptionDecision {
  const done = executing.flatMap(({ command, replacements }): readonly DisruptionAction[] => {
    if (replacements === 'awaited') return [];
    return [{ do: replacements === 'ready' ? 'complete' : 'undo', command }];
  });
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
