import { endpointsKind } from '../../../../api/kinds/core/endpoints.ts';
import { keyOf } from '../../../../client/informers/cache.ts';
import { type Client, refOf } from '../../../../client/client.ts';
import type { Informers } from '../../../../client/informers/informers.ts';
import { Trigger, type Controller, type Outcome, outcomeOf, source } from '../../../../client/controller/loop.ts';
import type { EventRecorder } from '../../../../client/events/event-recorder.ts';
import type { ServicePods } from '../service-pods.ts';
import type { TriggerTimes } from '../trigger-times.ts';
import type { EndpointsAction, EndpointsWrite } from './actions.ts';
import { decideEndpoints, type EndpointsSnapshot } from './decide.ts';

export interface EndpointsControllerOptions {
  readonly client: Client;
  readonly informers: Informers;
  readonly recorder: Pick<EventRecorder, 'record'>;
  readonly pods: ServicePods;
}

/** Writes the Endpoints of Services with selector. Keys are those of Services: 'namespace/name'. */
export function endpointsController({ client, informers, recorder, pods }: EndpointsControllerOptions): Controller<string, EndpointsSnapshot, EndpointsAction> {
  const endpoints = informers.cache(endpointsKind);
  const times = new Map<string, TriggerTimes>();
  /** Keys of Services that were deleted. Endpoints that were created before their Service are left alone. */
  const orphans = new Set<string>();
  const changed = new Trigger<string>();
  pods.addListener({ service: (key) => changed.fire(key) });
  pods.services.subscribe(({ before, after }) => {
    if (after === undefined) orphans.add(keyOf(before?.metadata ?? {}));
  });

  return {
    name: 'endpoints',
    sources: [
      changed,
      source(endpointsKind, ({ before, after }) => {
        const key = keyOf((after ?? before)?.metadata ?? {});
        // Endpoints without Service at start lost it while no controller ran. Those of leader elections never have one.
        if (!endpoints.synced && after !== undefined && after.metadata.annotations?.['control-plane.alpha.kubernetes.io/leader'] === undefined)
          orphans.add(key);
        return [key];
      }),
    ],
    snapshot(key) {
      const service = pods.services.getKey(key);
      const found = endpoints.getKey(key);
      if (service === undefined) {
        times.delete(key);
        if (found === undefined) orphans.delete(key);
        return found !== undefined && orphans.has(key) ? { state: 'orphaned', endpoints: found } : undefined;
      }
      orphans.delete(key);
      return { state: 'served', service, pods: pods.of(key), endpoints: found, times: times.get(key) };
    },
    decide: decideEndpoints,
    async perform(action, key) {
      switch (action.do) {
        case 'remember':
          times.set(key, action.times);
          return 'done';
        case 'delete': {
          const { uid } = action.endpoints.metadata;
          const result = await client.delete(endpointsKind, refOf(action.endpoints), { preconditions: { uid } });
          return !result.ok && result.reason === 'notFound' ? 'done' : outcomeOf(result);
        }
        default:
          return await write(action, client, recorder);
      }
    },
    parallelism: 16,
  };
}

async function write(action: EndpointsWrite, client: Client, recorder: Pick<EventRecorder, 'record'>): Promise<Outcome> {
  const creates = action.do === 'create';
  const result = creates ? await client.create(endpointsKind, action.endpoints) : await client.update(endpointsKind, action.endpoints);
  if (result.ok || (creates && result.reason === 'terminating')) return 'done';
  if (result.reason === 'forbidden' || result.reason === 'invalid' || result.reason === 'failed') {
    const key = keyOf(action.endpoints.metadata);
    const report = creates
      ? ({ type: 'Warning', reason: 'FailedToCreateEndpoint', message: `Failed to create endpoint for service ${key}: ${result.error.message}` } as const)
      : ({ type: 'Warning', reason: 'FailedToUpdateEndpoint', message: `Failed to update endpoint ${key}: ${result.error.message}` } as const);
    recorder.record(action.endpoints, report);
  }
  return outcomeOf(result);
}
