import type { Job } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import type { TtlAfterFinishedDecision } from './actions.ts';

/** A finished Job is deleted with its pods once its TTL has passed. */
export function decideExpiry(job: Stored<Job>, now: number): TtlAfterFinishedDecision {
  const { ttlSecondsAfterFinished: seconds } = job.spec;
  const end = endOf(job);
  if (job.metadata.deletionTimestamp !== undefined) return decided('Deleted', 'it is being deleted');
  if (seconds === undefined) return decided('Kept', 'it has no ttlSecondsAfterFinished');
  if (end === undefined) return decided('NotFinished', 'it has not ended');
  const expiresAt = end + seconds * 1000;
  if (expiresAt > now) return { ...decided('NotExpired', `it is kept for ${seconds} seconds`), again: expiresAt };
  return { actions: [{ do: 'delete', job }], reasons: [{ code: 'Expired', text: `it was kept for ${seconds} seconds` }] };
}

/** When the Job ended; milliseconds since 1970. Undefined: it has not, or the condition has no time. */
function endOf({ status }: Job): number | undefined {
  const ending = status.conditions?.find(({ type, status: is }) => (type === 'Complete' || type === 'Failed') && is === 'True');
  const at = ending?.lastTransitionTime ?? null;
  return at === null ? undefined : Date.parse(at);
}

const decided = (code: string, text: string): TtlAfterFinishedDecision => ({ actions: [], reasons: [{ code, text }] });
