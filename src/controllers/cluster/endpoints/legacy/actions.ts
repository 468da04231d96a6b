import type { Endpoints } from '../../../../api/generated/types.ts';
import type { Decision, ObjectWrite } from '../../../../client/decision.ts';
import type { TriggerTimes } from '../trigger-times.ts';

export type EndpointsAction =
  | ObjectWrite<Endpoints>
  /** Later passes compare with these times to find what changed. */
  | { readonly do: 'remember'; readonly times: TriggerTimes };

export type EndpointsDecision = Decision<EndpointsAction>;

/** The value of the managed-by label, as in Kubernetes. */
export const controllerName = 'endpoint-controller';
