import type { Endpoints, EndpointSlice } from '../../../../api/generated/types.ts';
import type { Stored } from '../../../../api/stored.ts';
import type { Decision as AnyDecision } from '../../../../client/controller/loop.ts';
import type { EventDraft } from '../../../../client/events/event-recorder.ts';

export type MirrorAction =
  | { readonly do: 'create' | 'update'; readonly slice: EndpointSlice }
  | { readonly do: 'delete'; readonly slice: Stored<EndpointSlice> }
  | { readonly do: 'tell'; readonly endpoints: Stored<Endpoints>; readonly report: EventDraft; readonly rememberAs: string };

export type MirrorDecision = AnyDecision<MirrorAction>;

/** The `source.component` of the events, as in Kubernetes. */
export const eventSource = 'endpoint-slice-mirroring-controller';
