import type { EndpointSlice } from '../../../../api/generated/types.ts';
import { endpointSliceKind } from '../../../../api/kinds/discovery/endpoint-slice.ts';
import { keyOf } from '../../../../client/informers/cache.ts';
import { type Client, refOf } from '../../../../client/client.ts';
import type { Informers } from '../../../../client/informers/informers.ts';
import { Trigger, type Controller, type Outcome, outcomeOf, source } from '../../../../client/controller/loop.ts';
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

  const write = async (action: EndpointSliceAction & { readonly do: 'create' | 'update' | 'delete' }): Promise<Outcome> => {
    const { service } = action;
    const { result, doing } = await attempt(client, action);
    if (result.ok || result.reason === 'terminating' || (action.do === 'delete' && result.reason === 'notFound')) return 'done';
    if (result.reason === 'forbidden' || result.reason === 'invalid' || result.reason === 'failed') {
      const { namespace = '', name } = service.metadata;
      recordedEvents.record({ about: service, ...failedToUpdate(service, `failed to ${doing} for Service ${namespace}/${name}: ${result.error.message}`) });
    }
    return outcomeOf(result);
  };

  return {
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
    async perform(action, key) {
      switch (action.do) {
        case 'remember':
          times.set(key, action.times);
          return 'done';
        case 'tell':
          recordedEvents.record({ about: action.service, ...action.report }, action.rememberAs);
          return 'done';
        default:
          return await write(action);
      }
    },
    parallelism: 16,
  };
}

async function attempt(client: Client, action: EndpointSliceAction & { readonly do: 'create' | 'update' | 'delete' }) {
  if (action.do === 'create') return { result: await client.create(endpointSliceKind, action.slice), doing: 'create EndpointSlice' };
  const { slice } = action;
  const { name, uid } = slice.metadata;
  switch (action.do) {
    case 'update':
      return { result: await client.update(endpointSliceKind, slice), doing: `update ${name} EndpointSlice` };
    case 'delete':
      return { result: await client.delete(endpointSliceKind, refOf(slice), { preconditions: { uid } }), doing: `delete ${name} EndpointSlice` };
  }
}

const byName = (a: EndpointSlice, b: EndpointSlice): number => (keyOf(a.metadata) < keyOf(b.metadata) ? -1 : 1);
