import type { EndpointSlice, Service } from '../../../api/generated/types.ts';
import type { Decision as AnyDecision } from '../../../machinery/loop.ts';
import type { Report } from '../../../machinery/recorder.ts';
import type { TriggerTimes } from '../trigger-times.ts';

export type Action =
  | { readonly do: 'create' | 'update' | 'delete'; readonly slice: EndpointSlice; readonly service: Service }
  /** What is new next time is what differs from this. */
  | { readonly do: 'remember'; readonly times: TriggerTimes }
  | { readonly do: 'tell'; readonly service: Service; readonly report: Report; readonly rememberAs: string };

export type Decision = AnyDecision<Action>;

/** The component that Kubernetes names in these events. */
export const eventSource = 'endpoint-slice-controller';

export const failedToUpdate = ({ metadata: { namespace = '', name = '' } }: Service, why: string): Report => ({
  type: 'Warning',
  reason: 'FailedToUpdateEndpointSlices',
  message: `Error updating Endpoint Slices for Service ${namespace}/${name}: ${why}`,
});
