import type { Endpoints } from '../../../../api/generated/types.ts';
import type { Decision } from '../../../../client/decision.ts';
import type { TriggerTimes } from '../trigger-times.ts';

export type EndpointsAction =
  | EndpointsWrite
  | { readonly do: 'delete'; readonly endpoints: Endpoints }
  /** What is new next time is what differs from this. */
  | { readonly do: 'remember'; readonly times: TriggerTimes };

export interface EndpointsWrite {
  readonly do: 'create' | 'update';
  readonly endpoints: Endpoints;
}

export type EndpointsDecision = Decision<EndpointsAction>;

/** The component that Kubernetes names in these events; and who made an Endpoints says so in its label. */
export const controllerName = 'endpoint-controller';
