import type { Kind } from '../api/kind.ts';
import { statusErrors } from '../api/status.ts';
import type { Store } from '../store/contract.ts';
import type { World } from '../world/world.ts';
import { AdmissionChain } from './admission/chain.ts';
import { namespaceLifecycle } from './admission/namespace-lifecycle.ts';
import type { Api, ApiRequest, ApiResponse } from './api.ts';
import { create } from './registry/create.ts';
import { remove } from './registry/delete.ts';
import { get } from './registry/get.ts';
import { list } from './registry/list.ts';
import { parseListOptions } from './registry/options.ts';
import type { Call, Registry } from './registry/registry.ts';
import { Resources } from './registry/resources.ts';
import { parseRoute } from './registry/route.ts';
import { put } from './registry/update.ts';
import { watch } from './watch/watch.ts';

export interface ApiOptions {
  readonly store: Store;
  readonly kinds: readonly Kind[];
  readonly world: World;
}

/** The API below HTTP, on a store. */
export function createApi({ store, kinds, world }: ApiOptions): Api {
  const resources = new Resources(kinds);
  const admission = new AdmissionChain([namespaceLifecycle(resources)]);
  const registry: Registry = { store, resources, world, admission };
  return { handle: async (request) => dispatch(registry, { request, route: parseRoute(request.path, resources), warnings: new Set() }) };
}

async function dispatch(registry: Registry, call: Call): Promise<ApiResponse> {
  const { route, request } = call;
  return route.name === '' ? onCollection(registry, call) : onObject(registry, call, request);
}

async function onCollection(registry: Registry, call: Call): Promise<ApiResponse> {
  switch (call.request.method) {
    case 'GET': {
      const options = parseListOptions(call.request.query, call.route.legacyWatch);
      return options.watch ? watch(registry, call, options) : list(registry, call, options);
    }
    case 'POST':
      return create(registry, call);
    default:
      throw statusErrors.methodNotAllowedHere();
  }
}

async function onObject(registry: Registry, call: Call, request: ApiRequest): Promise<ApiResponse> {
  switch (request.method) {
    case 'GET':
      return get(registry, call);
    case 'PUT':
      return put(registry, call, 'object');
    case 'DELETE':
      return remove(registry, call);
    default:
      throw statusErrors.methodNotAllowedHere();
  }
}
