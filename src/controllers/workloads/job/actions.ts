import type { Job, Pod } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import type { Draft } from '../../../client/client.ts';
import type { Decision, EventDraft, ObjectWrite, RecordEvent } from '../../../client/decision.ts';
import type { OwnershipAction } from '../../pods/ownership.ts';
import type { Backoff } from './backoff.ts';
import type { Ending } from './conditions.ts';

/** Everything that the controller may do. */
export type JobAction =
  | OwnershipAction
  /** The pods stay until they are counted, because of their finalizers. */
  | { readonly do: 'deletePods'; readonly job: Stored<Job>; readonly pods: readonly Stored<Pod>[] }
  /** The pods are deleted without being counted. */
  | { readonly do: 'dropPods'; readonly job: Stored<Job>; readonly pods: readonly Stored<Pod>[] }
  | { readonly do: 'createPods'; readonly job: Stored<Job>; readonly pods: readonly PodDraft[] }
  /** Removes the tracking finalizers. */
  | { readonly do: 'releasePods'; readonly pods: readonly Stored<Pod>[] }
  | ObjectWrite<Stored<Job>>
  | { readonly do: 'rememberFailures'; readonly job: Stored<Job>; readonly backoff: Backoff }
  | RecordEvent;

export type JobDecision = Decision<JobAction>;

export type PodDraft = Draft<Pod>;

const normal = (reason: string, message: string): EventDraft => ({ type: 'Normal', reason, message });
const warning = (reason: string, message: string): EventDraft => ({ type: 'Warning', reason, message });

export const suspended: EventDraft = normal('Suspended', 'Job suspended');
export const resumed: EventDraft = normal('Resumed', 'Job resumed');

/** The events of a Job that has ended. */
export function endReports({ spec, status }: Job, { type, reason, message }: Ending): readonly EventDraft[] {
  if (type === 'failure') return [warning(reason, message)];
  const isTooMany = spec.completions !== undefined && (status.succeeded ?? 0) > spec.completions;
  const surplus = isTooMany ? [warning('TooManySucceededPods', 'Too many succeeded pods running after completion count reached')] : [];
  return [...surplus, normal('Completed', 'Job completed')];
}
