import type { JobStatus } from '../../generated/types.ts';

/** Whether the condition holds; the first of its type counts in tables, any in the rules of the API. */
export const hasTrueCondition = ({ conditions = [] }: JobStatus, type: string): boolean =>
  conditions.some((condition) => condition.type === type && condition.status === 'True');

export const isFinished = (status: JobStatus): boolean => hasTrueCondition(status, 'Complete') || hasTrueCondition(status, 'Failed');
