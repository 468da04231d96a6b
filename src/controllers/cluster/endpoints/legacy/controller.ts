import type { Endpoints } from '../../../../api/generated/types.ts';
import { untypedKind } from '../../../../api/kind.ts';
import { endpointsKind } from '../../../../api/kinds/core/endpoints.ts';
import { keyOf } from '../../../../client/informers/cache.ts';
import type { Client, Result } from '../../../../client/client.ts';
import type { Informers } from '../../../../client/informers/informers.ts';
import { defineController } from '../../../../client/controller/define-controller.ts';
import { type Controller, type Outcome, outcomeOf, source, Trigger } from '../../../../client/controller/loop.ts';
import { ObjectWriter } from '../../../../client/controller/object-writer.ts';
import type { EventRecorder } from '../../../../client/events/event-recorder.ts';
import type { ServicePods } from '../service-pods.ts';
import type { TriggerTimes } from '../trigger-times.ts';
import type { EndpointsAction } from './actions.ts';
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

  return defineController({
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
    writer: new ObjectWriter(client, [untypedKind(endpointsKind)]),
    actions: {
      async remember(action, key) {
        times.set(key, action.times);
        return 'done';
      },
      create: async ({ object }) => recordFailure('create', object, await client.create(endpointsKind, object)),
      update: async ({ object }) => recordFailure('update', object, await client.update(endpointsKind, object)),
    },
    parallelism: 16,
  });

  function recordFailure(verb: 'create' | 'update', written: Endpoints, result: Result<unknown>): Outcome {
    if (result.ok || (verb === 'create' && result.reason === 'terminating')) return 'done';
    if (result.reason === 'forbidden' || result.reason === 'invalid' || result.reason === 'failed') {
      const subject = verb === 'create' ? 'create endpoint for service' : 'update endpoint';
      const message = `Failed to ${subject} ${keyOf(written.metadata)}: ${result.error.message}`;
      recorder.record(written, { type: 'Warning', reason: verb === 'create' ? 'FailedToCreateEndpoint' : 'FailedToUpdateEndpoint', message });
    }
    return outcomeOf(result);
  }
}
