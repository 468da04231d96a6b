/** From what a request says to whoever answers it. */
import { specParts, type Verb } from '../../api/kind.ts';
import { statusErrors } from '../../api/status.ts';
import type { ApiResponse } from '../api.ts';
import type { TokenIssuer } from '../authentication/token-issuer.ts';
import { watch } from '../watch/watch.ts';
import { create } from './verbs/create.ts';
import { deleteObject } from './verbs/delete.ts';
import { deleteCollection } from './verbs/delete-collection.ts';
import { get } from './verbs/get.ts';
import { list } from './verbs/list.ts';
import { parseListOptions } from '../objects/options.ts';
import { patch } from './verbs/patch.ts';
import type { Call, Registry } from './registry.ts';
import { bind } from './subresources/binding.ts';
import { evict } from './subresources/eviction.ts';
import { scale } from './subresources/scale.ts';
import { requestToken } from './subresources/token.ts';
import { type Part, put } from './verbs/update.ts';

export type Tokens = Pick<TokenIssuer, 'issue'> | undefined;

export async function dispatch(registry: Registry, call: Call, tokens: Tokens): Promise<ApiResponse> {
  const { route } = call;
  if (route.legacyWatch) return onLegacyWatch(registry, call);
  if (route.subresource !== '') return onSubresource(registry, call, tokens);
  return route.name === '' ? onCollection(registry, call) : onObject(registry, call);
}

function onLegacyWatch(registry: Registry, call: Call): ApiResponse {
  if (call.request.method !== 'GET') throw statusErrors.methodNotAllowedHere();
  return watch(registry, call, parseListOptions(call.request.query, true));
}

/** A kind that does not know a verb has no such method on its path. */
function require(call: Call, verb: Verb): void {
  if (!call.route.resource.kind.verbs.includes(verb)) throw statusErrors.methodNotAllowedHere();
}

async function onCollection(registry: Registry, call: Call): Promise<ApiResponse> {
  const { kind } = call.route.resource;
  // Objects of a namespaced kind can be listed across namespaces, but not written.
  const everywhere = kind.namespaced && call.route.namespace === '';
  switch (call.request.method) {
    case 'GET': {
      const options = parseListOptions(call.request.query, false);
      require(call, options.watch ? 'watch' : 'list');
      return options.watch ? watch(registry, call, options) : list(registry, call, options);
    }
    case 'POST':
      if (everywhere) throw statusErrors.methodNotAllowedHere();
      require(call, 'create');
      return create(registry, call);
    case 'DELETE':
      if (everywhere) throw statusErrors.methodNotAllowedHere();
      require(call, 'deletecollection');
      return deleteCollection(registry, call);
    default:
      throw statusErrors.methodNotAllowedHere();
  }
}

async function onObject(registry: Registry, call: Call): Promise<ApiResponse> {
  switch (call.request.method) {
    case 'GET':
      require(call, 'get');
      return get(registry, call);
    case 'PUT':
      require(call, 'update');
      return put(registry, call, 'object');
    case 'PATCH':
      require(call, 'patch');
      return patch(registry, call, 'object');
    case 'DELETE':
      require(call, 'delete');
      return deleteObject(registry, call);
    default:
      throw statusErrors.methodNotAllowedHere();
  }
}

/** Parts of a pod's API that need somebody who runs it. */
const ofRunningPods: ReadonlySet<string> = new Set(['attach', 'exec', 'log', 'portforward', 'proxy']);

async function onSubresource(registry: Registry, call: Call, tokens: Tokens): Promise<ApiResponse> {
  const { resource, subresource } = call.route;
  const { kind } = resource;
  if (subresource === 'status' && kind.status !== undefined) return onPart(registry, call, 'status');
  if (subresource === 'approval' && kind.approval !== undefined) return onPart(registry, call, 'approval');
  if (subresource === 'scale' && kind.scale !== undefined) return scale(registry, call, kind.scale);
  const specPart = specParts.find((part) => part === subresource);
  if (specPart !== undefined && kind.parts !== undefined) return onPart(registry, call, specPart);
  const core = kind.group === '' ? `${kind.plural}/${subresource}` : '';
  switch (core) {
    case 'pods/binding':
    case 'pods/bindings':
      return bind(registry, call);
    case 'pods/eviction':
      return evict(registry, call);
    case 'namespaces/finalize':
      if (call.request.method !== 'PUT') throw statusErrors.methodNotAllowedHere();
      return put(registry, call, 'finalize');
    case 'serviceaccounts/token':
      if (tokens === undefined) throw statusErrors.notImplemented('this server issues no tokens');
      return requestToken(registry, call, tokens);
    default:
      if (core.startsWith('pods/') && ofRunningPods.has(subresource.split('/')[0] ?? '')) {
        throw statusErrors.notImplemented(`pods/${subresource} is not available yet: no node runs pods`);
      }
      throw statusErrors.noSuchPath();
  }
}

async function onPart(registry: Registry, call: Call, part: Part): Promise<ApiResponse> {
  switch (call.request.method) {
    case 'GET':
      return get(registry, call);
    case 'PUT':
      return put(registry, call, part);
    case 'PATCH':
      return patch(registry, call, part);
    default:
      throw statusErrors.methodNotAllowedHere();
  }
}
