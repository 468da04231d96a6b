import type { Endpoints, EndpointSlice, Service } from '../../../../api/generated/types.ts';
import { untypedKind } from '../../../../api/kind.ts';
import type { Stored } from '../../../../api/stored.ts';
import { endpointSliceKind } from '../../../../api/kinds/discovery/endpoint-slice.ts';
import { endpointsKind } from '../../../../api/kinds/core/endpoints.ts';
import { serviceKind } from '../../../../api/kinds/core/service.ts';
import { keyOf } from '../../../../client/informers/cache.ts';
import type { Client } from '../../../../client/client.ts';
import type { Informers } from '../../../../client/informers/informers.ts';
import { defineController } from '../../../../client/controller/define-controller.ts';
import { type Controller, outcomeOf, source } from '../../../../client/controller/loop.ts';
import { ObjectWriter } from '../../../../client/controller/object-writer.ts';
import type { RecordedEvents } from '../../../../client/events/event-dedup.ts';
import type { Clock } from '../../../../world/world.ts';
import { managerAndService, serviceKeyOf } from '../slice-index.ts';
import { recentMessage } from '../recent-message.ts';
import type { MirrorAction } from './actions.ts';
import { controllerName, decideMirror, type MirrorSnapshot } from './decide.ts';

export interface MirrorControllerOptions {
  readonly client: Client;
  readonly informers: Informers;
  readonly recordedEvents: RecordedEvents;
  readonly clock: Clock;
}

/** Mirrors Endpoints of Services without selector to EndpointSlices. Keys are those of Services: 'namespace/name'. */
export function mirrorController({ client, informers, recordedEvents, clock }: MirrorControllerOptions): Controller<string, MirrorSnapshot, MirrorAction> {
  const services = informers.cache(serviceKind);
  const endpoints = informers.cache(endpointsKind);
  const slices = informers.cache(endpointSliceKind).addIndex(managerAndService);
  return defineController({
    name: 'endpoint-mirror',
    sources: [
      source(endpointsKind, ({ before, after }) => [keyOf((after ?? before)?.metadata ?? {})]),
      source(serviceKind, ({ before, after }) => [keyOf((after ?? before)?.metadata ?? {})]),
      source(endpointSliceKind, ({ before, after }) => [before, after].flatMap((slice) => (slice === undefined ? [] : serviceKeyOf(slice, controllerName)))),
    ],
    snapshot(key) {
      const found = endpoints.getKey(key);
      const mirrored = found !== undefined && isMirrored(found, services.getKey(key)) ? found : undefined;
      const made = slices.get(`${controllerName} ${key}`);
      if (mirrored === undefined && made.length === 0) return undefined;
      return { endpoints: mirrored, slices: made.toSorted(byName), recorded: (reason) => recentMessage(recordedEvents, reason, clock) };
    },
    decide: decideMirror,
    writer: new ObjectWriter(client, [untypedKind(endpointSliceKind)]),
    events: recordedEvents,
    actions: {
      async create({ object }) {
        const result = await client.create(endpointSliceKind, object);
        return !result.ok && result.reason === 'terminating' ? 'done' : outcomeOf(result);
      },
    },
    parallelism: 16,
  });
}

/** The Service has no selector, and the Endpoints were not written by a controller or a leader election. */
const isMirrored = ({ metadata }: Endpoints, service: Service | undefined): boolean =>
  service !== undefined &&
  service.spec.selector === undefined &&
  metadata.labels?.['endpointslice.kubernetes.io/skip-mirror'] !== 'true' &&
  metadata.annotations?.['control-plane.alpha.kubernetes.io/leader'] === undefined;

const byName = (a: Stored<EndpointSlice>, b: Stored<EndpointSlice>): number => (a.metadata.name < b.metadata.name ? -1 : 1);
