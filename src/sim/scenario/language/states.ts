import { nearestName } from '../../../api/nearest-name.ts';
import { PhraseError } from './phrase.ts';

/** Phases, conditions and what kubectl shows as status; controllers may use others. */
const states = (
  'Running Pending Succeeded Failed Unknown Completed Error ContainerCreating CrashLoopBackOff Terminating Ready NotReady SchedulingDisabled ' +
  'Bound Lost Available Released Active Initialized PodScheduled ContainersReady Complete Progressing Resizing FileSystemResizePending DisruptionTarget'
).split(' ');

/** @throws PhraseError for a near miss of a known state */
export function checkedState(word: string): string {
  if (word === '' || states.includes(word)) return word;
  const near = nearestName(word, states);
  if (near !== undefined) throw new PhraseError(`there is no state "${word}"; did you mean "${near}"?`);
  return word;
}
