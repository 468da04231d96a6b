import type { Job, Pod } from '../../../api/generated/types.ts';
import type { Draft } from '../../../client/client.ts';
import type { Decision, EventDraft } from '../../../client/decision.ts';
import type { OwnershipAction } from '../../pods/ownership.ts';
import type { Backoff } from './backoff.ts';
import type { Ending } from './conditions.ts';

/** Everything that the controller may do to the world. */
export type JobAction =
  | OwnershipAction
  /** They stay, because of their finalizers, until they are counted. */
  | { readonly do: 'deletePods'; readonly job: Job; readonly pods: readonly Pod[] }
  /** They go without having counted as anything. */
  | { readonly do: 'dropPods'; readonly job: Job; readonly pods: readonly Pod[] }
  | { readonly do: 'createPods'; readonly job: Job; readonly pods: readonly PodDraft[] }
  /** Takes their tracking finalizers away. */
  | { readonly do: 'releasePods'; readonly pods: readonly Pod[] }
  /** `from`: what was seen, or what an earlier action of the same list writes. */
  | { readonly do: 'updateStatus'; readonly object: Job; readonly from: Job }
  | { readonly do: 'rememberFailures'; readonly job: Job; readonly backoff: Backoff }
  | { readonly do: 'tell'; readonly job: Job; readonly report: EventDraft };

export type JobDecision = Decision<JobAction>;

export type PodDraft = Draft<Pod>;

const normal = (reason: string, message: string): EventDraft => ({ type: 'Normal', reason, message });
const warning = (reason: string, message: string): EventDraft => ({ type: 'Warning', reason, message });

export const suspended: EventDraft = normal('Suspended', 'Job suspended');
export const resumed: EventDraft = normal('Resumed', 'Job resumed');

/** What is told of a job that has ended. */
export function endReports({ spec, status }: Job, { type, reason, message }: Ending): readonly EventDraft[] {
  if (type === 'failure') return [warning(reason, message)];
  const isTooMany = spec.completions !== undefined && (status.succeeded ?? 0) > spec.completions;
  const surplus = isTooMany ? [warning('TooManySucceededPods', 'Too many succeeded pods running after completion count reached')] : [];
  return [...surplus, normal('Completed', 'Job completed')];
}
