import type { EndpointSlice } from '../../../api/generated/types.ts';
import { endpointSliceKind } from '../../../api/kinds/endpoint-slice.ts';
import { keyOf } from '../../../machinery/cache.ts';
import { type Client, refOf } from '../../../machinery/client.ts';
import type { Informers } from '../../../machinery/informers.ts';
import { Bell, type Controller, type Outcome, outcomeOf, source } from '../../../machinery/loop.ts';
import type { Tellings } from '../../../machinery/tellings.ts';
import type { Clock } from '../../../world/world.ts';
import { isSelecting } from '../members.ts';
import type { ServicePods } from '../service-pods.ts';
import { madeFor, serviceKeyOf } from '../slice-index.ts';
import { recentMessage } from '../told.ts';
import type { TriggerTimes } from '../trigger-times.ts';
import { type Action, failedToUpdate } from './actions.ts';
import { controllerName, decideSlices, type Snapshot } from './decide.ts';

export interface SliceControllerOptions {
  readonly client: Client;
  readonly informers: Informers;
  readonly tellings: Tellings;
  readonly clock: Clock;
  readonly pods: ServicePods;
}

/** Keeps the EndpointSlices of services that select pods. Keys are those of services: 'namespace/name'. */
export function sliceController({ client, informers, tellings, clock, pods }: SliceControllerOptions): Controller<string, Snapshot, Action> {
  const slices = informers.cache(endpointSliceKind).addIndex(madeFor);
  const times = new Map<string, TriggerTimes>();
  const changed = new Bell<string>();
  pods.watch({ service: (key) => changed.ring(key), node: (key) => changed.ring(key) });

  const write = async (action: Action & { readonly do: 'create' | 'update' | 'delete' }): Promise<Outcome> => {
    const { slice, service } = action;
    const { result, doing } = await attempt(client, action.do, slice);
    if (result.ok || result.reason === 'terminating' || (action.do === 'delete' && result.reason === 'notFound')) return 'done';
    if (result.reason === 'forbidden' || result.reason === 'invalid' || result.reason === 'failed') {
      const { namespace = '', name = '' } = service.metadata;
      tellings.tell({ about: service, ...failedToUpdate(service, `failed to ${doing} for Service ${namespace}/${name}: ${result.error.message}`) });
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
      const told = recentMessage(tellings, service.metadata.uid ?? '', clock);
      return { service, pods: pods.of(key), slices: made.toSorted(byName), zoneOf: (node) => pods.zoneOf(node), times: times.get(key), told };
    },
    decide: decideSlices,
    async perform(action, key) {
      switch (action.do) {
        case 'remember':
          times.set(key, action.times);
          return 'done';
        case 'tell':
          tellings.tell({ about: action.service, ...action.report }, action.rememberAs);
          return 'done';
        default:
          return await write(action);
      }
    },
    parallelism: 16,
  };
}

async function attempt(client: Client, what: 'create' | 'update' | 'delete', slice: EndpointSlice) {
  const { name = '', uid = '' } = slice.metadata;
  switch (what) {
    case 'create':
      return { result: await client.create(endpointSliceKind, slice), doing: 'create EndpointSlice' };
    case 'update':
      return { result: await client.update(endpointSliceKind, slice), doing: `update ${name} EndpointSlice` };
    case 'delete':
      return { result: await client.delete(endpointSliceKind, refOf(slice), { preconditions: { uid } }), doing: `delete ${name} EndpointSlice` };
  }
}

const byName = (a: EndpointSlice, b: EndpointSlice): number => (keyOf(a.metadata) < keyOf(b.metadata) ? -1 : 1);
