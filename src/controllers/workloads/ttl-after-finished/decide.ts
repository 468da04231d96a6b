import type { Job } from '../../../api/generated/types.ts';
import type { TtlAfterFinishedDecision } from './actions.ts';

/** A job that says how long it is wanted after its end is deleted then, with its pods. */
export function decideExpiry(job: Job, now: number): TtlAfterFinishedDecision {
  const { ttlSecondsAfterFinished: seconds } = job.spec;
  const end = endOf(job);
  if (job.metadata.deletionTimestamp !== undefined) return decided('Deleted', 'it is being deleted');
  if (seconds === undefined) return decided('Kept', 'nobody said how long to keep it');
  if (end === undefined) return decided('NotFinished', 'it has not ended');
  const expiresAt = end + seconds * 1000;
  if (expiresAt > now) return { ...decided('NotExpired', `it is kept for ${seconds} seconds`), again: expiresAt };
  return { actions: [{ do: 'delete', job }], reasons: [{ code: 'Expired', text: `it was kept for ${seconds} seconds` }] };
}

/** When it ended; milliseconds since 1970. Undefined: it has not, or nobody wrote down when. */
function endOf({ status }: Job): number | undefined {
  const ending = status.conditions?.find(({ type, status: is }) => (type === 'Complete' || type === 'Failed') && is === 'True');
  const at = ending?.lastTransitionTime ?? null;
  return at === null ? undefined : Date.parse(at);
}

const decided = (code: string, text: string): TtlAfterFinishedDecision => ({ actions: [], reasons: [{ code, text }] });
