import type { Client } from '../../machinery/client.ts';
import type { Informers } from '../../machinery/informers.ts';
import type { Recorder } from '../../machinery/recorder.ts';
import { Tellings } from '../../machinery/tellings.ts';
import type { Clock } from '../../world/world.ts';
import { endpointsController } from './legacy/controller.ts';
import { mirrorController } from './mirror/controller.ts';
import { ServicePods } from './service-pods.ts';
import { sliceController } from './slices/controller.ts';

/** Each acts under a name of its own. */
export interface Actor {
  readonly client: Client;
  readonly recorder: Pick<Recorder, 'record'>;
}

export interface EndpointControllersOptions {
  readonly informers: Informers;
  readonly clock: Clock;
  readonly slices: Actor;
  readonly endpoints: Actor;
  readonly mirror: Actor;
}

/** Who is behind each service, said three times: in slices, in endpoints for those who still read them, and in slices made of endpoints that people wrote. */
export function endpointControllers({ informers, clock, slices, endpoints, mirror }: EndpointControllersOptions) {
  const pods = new ServicePods(informers);
  const tellings = ({ recorder }: Actor) => new Tellings(recorder, clock);
  return {
    slices: sliceController({ client: slices.client, informers, clock, pods, tellings: tellings(slices) }),
    endpoints: endpointsController({ client: endpoints.client, informers, pods, recorder: endpoints.recorder }),
    mirror: mirrorController({ client: mirror.client, informers, clock, tellings: tellings(mirror) }),
  };
}
