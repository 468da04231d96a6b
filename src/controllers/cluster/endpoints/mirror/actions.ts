import type { Endpoints, EndpointSlice } from '../../../../api/generated/types.ts';
import type { Stored } from '../../../../api/stored.ts';
import type { Decision, EventDraft } from '../../../../client/decision.ts';

export type MirrorAction =
  | { readonly do: 'create' | 'update'; readonly slice: EndpointSlice }
  | { readonly do: 'delete'; readonly slice: Stored<EndpointSlice> }
  | { readonly do: 'tell'; readonly endpoints: Stored<Endpoints>; readonly report: EventDraft; readonly rememberAs: string };

export type MirrorDecision = Decision<MirrorAction>;

/** The `source.component` of the events, as in Kubernetes. */
export const eventSource = 'endpoint-slice-mirroring-controller';
