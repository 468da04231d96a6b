import type { JobCondition, JobStatus } from '../../../api/generated/types.ts';
import { timestamp } from '../../../api/kinds/timestamps.ts';

/** How a Job ends, or is about to end. */
export interface Ending {
  readonly type: 'success' | 'failure';
  readonly reason: string;
  readonly message: string;
}

/** The condition that is set first: the Job will end like this once its pods have ended and are counted. */
const announcement = { success: 'SuccessCriteriaMet', failure: 'FailureTarget' } as const;
/** The condition that is set in the end. */
const conclusion = { success: 'Complete', failure: 'Failed' } as const;

const isTrue =
  (type: string) =>
  (condition: JobCondition): boolean =>
    condition.type === type && condition.status === 'True';

/** The ending that the status announces. It never changes. */
export function announcedEnding({ conditions = [] }: JobStatus): Ending | undefined {
  for (const type of ['success', 'failure'] as const) {
    const found = conditions.find(isTrue(announcement[type]));
    if (found !== undefined) return { type, reason: found.reason ?? '', message: found.message ?? '' };
  }
  return undefined;
}

export function withAnnouncement(status: JobStatus, ending: Ending | undefined, now: number): JobStatus {
  if (ending === undefined || announcedEnding(status) !== undefined) return status;
  return withCondition(status, { type: announcement[ending.type], status: 'True', reason: ending.reason, message: ending.message }, now);
}

export function withConclusion(status: JobStatus, { type, reason, message }: Ending, now: number): JobStatus {
  const concluded = withCondition(status, { type: conclusion[type], status: 'True', reason, message }, now);
  return type === 'success' ? { ...concluded, completionTime: timestamp(now) } : concluded;
}

/** The status with the condition; the same object if nothing changes. */
export function withCondition(status: JobStatus, condition: Pick<JobCondition, 'type' | 'status' | 'reason' | 'message'>, now: number): JobStatus {
  const { conditions = [] } = status;
  const at = conditions.findIndex(({ type }) => type === condition.type);
  const known = conditions[at];
  if (known !== undefined && known.status === condition.status && known.reason === condition.reason && known.message === condition.message) return status;
  const next: JobCondition = { ...condition, lastProbeTime: timestamp(now), lastTransitionTime: timestamp(now) };
  return { ...status, conditions: known === undefined ? [...conditions, next] : conditions.with(at, next) };
}
