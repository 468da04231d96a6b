import type { EndpointSlice, Service } from '../../../../api/generated/types.ts';
import type { Stored } from '../../../../api/stored.ts';
import { endpointSliceKind } from '../../../../api/kinds/discovery/endpoint-slice.ts';
import { keyOf } from '../../../../client/informers/cache.ts';
import { type Client, refOf, type Result } from '../../../../client/client.ts';
import type { Informers } from '../../../../client/informers/informers.ts';
import { defineController } from '../../../../client/controller/define-controller.ts';
import { type Controller, type Outcome, outcomeOf, source, Trigger } from '../../../../client/controller/loop.ts';
import type { RecordedEvents } from '../../../../client/events/event-dedup.ts';
import type { Clock } from '../../../../world/world.ts';
import { isSelecting } from '../members.ts';
import type { ServicePods } from '../service-pods.ts';
import { managerAndService, serviceKeyOf } from '../slice-index.ts';
import { recentMessage } from '../recent-message.ts';
import type { TriggerTimes } from '../trigger-times.ts';
import { type EndpointSliceAction, failedToUpdate } from './actions.ts';
import { controllerName, decideSlices, type EndpointSliceSnapshot } from './decide.ts';

export interface SliceControllerOptions {
  readonly client: Client;
  readonly informers: Informers;
  readonly recordedEvents: RecordedEvents;
  readonly clock: Clock;
  readonly pods: ServicePods;
}

/** Writes the EndpointSlices of Services with selector. Keys are those of Services: 'namespace/name'. */
export function sliceController({
  client,
  informers,
  recordedEvents,
  clock,
  pods,
}: SliceControllerOptions): Controller<string, EndpointSliceSnapshot, EndpointSliceAction> {
  const slices = informers.cache(endpointSliceKind).addIndex(managerAndService);
  const times = new Map<string, TriggerTimes>();
  const changed = new Trigger<string>();
  pods.addListener({ service: (key) => changed.fire(key), node: (key) => changed.fire(key) });

  return defineController({
    name: 'endpoint-slices',
    sources: [
      changed,
      source(endpointSliceKind, ({ before, after }) => [before, after].flatMap((slice) => (slice === undefined ? [] : serviceKeyOf(slice, controllerName)))),
    ],
    snapshot(key) {
      const service = pods.services.getKey(key);
      if (service === undefined) times.delete(key);
      if (service === undefined || !isSelecting(service)) return undefined;
      const made = slices.get(`${controllerName} ${key}`).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
      const recorded = recentMessage(recordedEvents, service.metadata.uid, clock);
      return { service, pods: pods.of(key), slices: made.toSorted(byName), zoneOf: (node) => pods.zoneOf(node), times: times.get(key), recorded };
    },
    decide: decideSlices,
    events: recordedEvents,
    actions: {
      async remember(action, key) {
        times.set(key, action.times);
        return 'done';
      },
      create: async ({ object }, _, { service }) => recordFailure(service, 'create EndpointSlice', await client.create(endpointSliceKind, object)),
      update: async ({ object }, _, { service }) =>
        recordFailure(service, `update ${object.metadata.name ?? ''} EndpointSlice`, await client.update(endpointSliceKind, object)),
      async delete({ object }, _, { service }) {
        const { name = '', uid = '' } = object.metadata;
        const result = await client.delete(endpointSliceKind, refOf(object), { preconditions: { uid } });
        return !result.ok && result.reason === 'notFound' ? 'done' : recordFailure(service, `delete ${name} EndpointSlice`, result);
      },
    },
    parallelism: 16,
  });

  function recordFailure(service: Stored<Service>, attempt: string, result: Result<unknown>): Outcome {
    if (result.ok || result.reason === 'terminating') return 'done';
    if (result.reason === 'forbidden' || result.reason === 'invalid' || result.reason === 'failed') {
      const { namespace = '', name } = service.metadata;
      recordedEvents.record({ about: service, ...failedToUpdate(service, `failed to ${attempt} for Service ${namespace}/${name}: ${result.error.message}`) });
    }
    return outcomeOf(result);
  }
}

const byName = (a: EndpointSlice, b: EndpointSlice): number => (keyOf(a.metadata) < keyOf(b.metadata) ? -1 : 1);
