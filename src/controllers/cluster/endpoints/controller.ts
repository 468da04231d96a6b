import type { Client } from '../../../client/client.ts';
import type { Informers } from '../../../client/informers/informers.ts';
import type { EventRecorder } from '../../../client/events/event-recorder.ts';
import { RecordedEvents } from '../../../client/events/event-dedup.ts';
import type { Clock } from '../../../world/world.ts';
import { endpointsController } from './legacy/controller.ts';
import { mirrorController } from './mirror/controller.ts';
import { ServicePods } from './service-pods.ts';
import { sliceController } from './slices/controller.ts';

/** Each of the three controllers has its own identity. */
export interface EndpointControllerContext {
  readonly client: Client;
  readonly recorder: Pick<EventRecorder, 'record'>;
}

export interface EndpointControllersOptions {
  readonly informers: Informers;
  readonly clock: Clock;
  readonly slices: EndpointControllerContext;
  readonly endpoints: EndpointControllerContext;
  readonly mirror: EndpointControllerContext;
}

/** The EndpointSlice controller, the legacy Endpoints controller, and the one that mirrors hand-written Endpoints to EndpointSlices. */
export function endpointControllers({ informers, clock, slices, endpoints, mirror }: EndpointControllersOptions) {
  const pods = new ServicePods(informers);
  const recordedEvents = ({ recorder }: EndpointControllerContext) => new RecordedEvents(recorder, clock);
  return {
    slices: sliceController({ client: slices.client, informers, clock, pods, recordedEvents: recordedEvents(slices) }),
    endpoints: endpointsController({ client: endpoints.client, informers, pods, recorder: endpoints.recorder }),
    mirror: mirrorController({ client: mirror.client, informers, clock, recordedEvents: recordedEvents(mirror) }),
  };
}
