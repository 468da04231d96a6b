import type { EndpointSlice, Service } from '../../../../api/generated/types.ts';
import type { Stored } from '../../../../api/stored.ts';
import type { Decision, EventDraft, ObjectWrite, RecordEvent } from '../../../../client/decision.ts';
import type { TriggerTimes } from '../trigger-times.ts';

export type EndpointSliceAction =
  | ObjectWrite<EndpointSlice>
  /** Later passes compare with these times to find what changed. */
  | { readonly do: 'remember'; readonly times: TriggerTimes }
  | RecordEvent;

export type EndpointSliceDecision = Decision<EndpointSliceAction>;

export const failedToUpdate = ({ metadata: { namespace = '', name } }: Stored<Service>, why: string): EventDraft => ({
  type: 'Warning',
  reason: 'FailedToUpdateEndpointSlices',
  message: `Error updating Endpoint Slices for Service ${namespace}/${name}: ${why}`,
});
