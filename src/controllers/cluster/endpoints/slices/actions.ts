import type { EndpointSlice, Service } from '../../../../api/generated/types.ts';
import type { Decision, EventDraft } from '../../../../client/decision.ts';
import type { TriggerTimes } from '../trigger-times.ts';

export type EndpointSliceAction =
  | { readonly do: 'create' | 'update' | 'delete'; readonly slice: EndpointSlice; readonly service: Service }
  /** What is new next time is what differs from this. */
  | { readonly do: 'remember'; readonly times: TriggerTimes }
  | { readonly do: 'tell'; readonly service: Service; readonly report: EventDraft; readonly rememberAs: string };

export type EndpointSliceDecision = Decision<EndpointSliceAction>;

/** The component that Kubernetes names in these events. */
export const eventSource = 'endpoint-slice-controller';

export const failedToUpdate = ({ metadata: { namespace = '', name = '' } }: Service, why: string): EventDraft => ({
  type: 'Warning',
  reason: 'FailedToUpdateEndpointSlices',
  message: `Error updating Endpoint Slices for Service ${namespace}/${name}: ${why}`,
});
