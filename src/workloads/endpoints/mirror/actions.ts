import type { Endpoints, EndpointSlice } from '../../../api/generated/types.ts';
import type { Decision as AnyDecision } from '../../../machinery/loop.ts';
import type { Report } from '../../../machinery/recorder.ts';

export type Action =
  | { readonly do: 'create' | 'update' | 'delete'; readonly slice: EndpointSlice }
  | { readonly do: 'tell'; readonly endpoints: Endpoints; readonly report: Report; readonly rememberAs: string };

export type Decision = AnyDecision<Action>;

/** The component that Kubernetes names in these events. */
export const eventSource = 'endpoint-slice-mirroring-controller';
