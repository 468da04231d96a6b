import type { Endpoints, EndpointSlice } from '../../../../api/generated/types.ts';
import type { Decision, EventDraft } from '../../../../client/decision.ts';

export type MirrorAction =
  | { readonly do: 'create' | 'update' | 'delete'; readonly slice: EndpointSlice }
  | { readonly do: 'tell'; readonly endpoints: Endpoints; readonly report: EventDraft; readonly rememberAs: string };

export type MirrorDecision = Decision<MirrorAction>;

/** The component that Kubernetes names in these events. */
export const eventSource = 'endpoint-slice-mirroring-controller';
