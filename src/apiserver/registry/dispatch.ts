import { apiVersionOf, type Kind, specParts } from '../../api/kind.ts';
import type { ResourceRequestInfo } from '../../api/request-info.ts';
import { ApiError, statusErrors } from '../../api/status.ts';
import type { ApiRequest, ApiResponse } from '../api.ts';
import type { TokenIssuer } from '../authentication/token-issuer.ts';
import { watch } from '../watch/watch.ts';
import { create as createObject } from './verbs/create.ts';
import { deleteObject } from './verbs/delete.ts';
import { deleteCollection } from './verbs/delete-collection.ts';
import { get } from './verbs/get.ts';
import { list } from './verbs/list.ts';
import { parseListOptions } from '../objects/options.ts';
import { patch } from './verbs/patch.ts';
import type { Call, Registry } from './registry.ts';
import { routeOf } from './route.ts';
import { bind } from './subresources/binding.ts';
import { evict } from './subresources/eviction.ts';
import { scale } from './subresources/scale.ts';
import { requestToken } from './subresources/token.ts';
import { type Part, put } from './verbs/update.ts';

export type Tokens = Pick<TokenIssuer, 'issue'> | undefined;

/** A resource whose objects are created, answered and not kept: a review, a binding. */
export interface CreateOnlyResource {
  readonly kind: Pick<Kind, 'group' | 'version' | 'plural' | 'namespaced'>;
  create(request: ApiRequest, context: CreateContext): Promise<ApiResponse>;
}

/** A resource whose objects are computed for each request, and not kept. */
export interface ReadOnlyResource {
  readonly kind: Pick<Kind, 'group' | 'version' | 'plural'>;
  get(request: ApiRequest, ref: { readonly namespace: string; readonly name: string }): Promise<ApiResponse>;
  /** `namespace`: '' for all. */
  list(request: ApiRequest, options: { readonly namespace: string }): Promise<ApiResponse>;
}

export interface CreateContext {
  readonly namespace: string;
  readonly warnings: Set<string>;
}

export interface DispatcherOptions {
  readonly registry: Registry;
  readonly tokens: Tokens;
  readonly createOnly: readonly CreateOnlyResource[];
  readonly readOnly: readonly ReadOnlyResource[];
}

/** Calls the code that answers a request. */
export class Dispatcher {
  readonly #registry: Registry;
  readonly #tokens: Tokens;
  readonly #createOnly = new Map<string, CreateOnlyResource>();
  readonly #readOnly = new Map<string, ReadOnlyResource>();

  constructor({ registry, tokens, createOnly, readOnly }: DispatcherOptions) {
    this.#registry = registry;
    this.#tokens = tokens;
    for (const resource of [...bindings(registry), ...createOnly]) this.#createOnly.set(`${apiVersionOf(resource.kind)}/${resource.kind.plural}`, resource);
    for (const resource of readOnly) this.#readOnly.set(`${apiVersionOf(resource.kind)}/${resource.kind.plural}`, resource);
  }

  /** @throws ApiError */
  async dispatch(request: ApiRequest): Promise<ApiResponse> {
    const { info } = request;
    if (info.type === 'path') throw statusErrors.noSuchPath();
    const apiVersion = apiVersionOf(info);
    const resource = this.#registry.resources.find(apiVersion, info.resource);
    const deprecation = resource?.kind.deprecation;
    const warnings = new Set(deprecation === undefined ? [] : [deprecation]);
    try {
      const readOnly = this.#readOnly.get(`${apiVersion}/${info.resource}`);
      if (readOnly !== undefined) return await read(readOnly, request, info);
      if (resource === undefined) return await create(this.#createOnly.get(`${apiVersion}/${info.resource}`), { request, info, warnings });
      const call: Call = { request, route: routeOf(info, resource), warnings };
      return await (info.subresource === ''
        ? onResource(this.#registry, call, info.verb)
        : onSubresource(this.#registry, call, { info, tokens: this.#tokens }));
    } catch (error) {
      // A refusal carries the warnings as well.
      if (error instanceof ApiError) error.warnings = [...warnings];
      throw error;
    }
  }
}

interface CreateCall {
  readonly request: ApiRequest;
  readonly info: ResourceRequestInfo;
  readonly warnings: Set<string>;
}

async function create(resource: CreateOnlyResource | undefined, { request, info, warnings }: CreateCall): Promise<ApiResponse> {
  const { verb, namespace, name, subresource, watchPath = false } = info;
  const onCollection = !watchPath && subresource === '' && (name === '' || verb === 'list' || verb === 'watch');
  if (resource === undefined || !onCollection || resource.kind.namespaced !== (namespace !== '')) throw statusErrors.noSuchPath();
  if (verb !== 'create') throw statusErrors.methodNotAllowedHere();
  return resource.create(request, { namespace, warnings });
}

function read(resource: ReadOnlyResource, request: ApiRequest, { verb, namespace, name, subresource }: ResourceRequestInfo): Promise<ApiResponse> {
  if (subresource !== '') throw statusErrors.noSuchPath();
  if (verb === 'list') return resource.list(request, { namespace });
  if (verb === 'get' && namespace !== '') return resource.get(request, { namespace, name });
  throw statusErrors.methodNotAllowedHere();
}

/** The old way to bind a pod: posted to the namespace. */
function bindings(registry: Registry): readonly CreateOnlyResource[] {
  const pods = registry.resources.find('v1', 'pods');
  if (pods === undefined) return [];
  const kind = { group: '', version: 'v1', plural: 'bindings', namespaced: true };
  return [
    {
      kind,
      create: (request, { namespace, warnings }) =>
        bind(registry, { request, route: { resource: pods, namespace, name: '', subresource: 'bindings' }, warnings }),
    },
  ];
}

async function onResource(registry: Registry, call: Call, verb: string): Promise<ApiResponse> {
  const { resource, namespace, name } = call.route;
  const { kind } = resource;
  const onCollection = name === '';
  // A kind that does not know a verb has no such method on its path.
  if (!(kind.verbs as readonly string[]).includes(verb)) throw statusErrors.methodNotAllowedHere();
  switch (verb) {
    case 'list':
      return list(registry, call, parseListOptions(call.request.query, false));
    case 'watch':
      return watch(registry, call, parseListOptions(call.request.query, true));
    case 'get':
      return get(registry, call);
    case 'delete':
      return deleteObject(registry, call);
    case 'create':
      // Objects of a namespaced kind can be listed across namespaces, but not written.
      if (!onCollection || (kind.namespaced && namespace === '')) throw statusErrors.methodNotAllowedHere();
      return createObject(registry, call);
    case 'deletecollection':
      if (kind.namespaced && namespace === '') throw statusErrors.methodNotAllowedHere();
      return deleteCollection(registry, call);
    case 'update':
      if (onCollection) throw statusErrors.methodNotAllowedHere();
      return put(registry, call, 'object');
    case 'patch':
      if (onCollection) throw statusErrors.methodNotAllowedHere();
      return patch(registry, call, 'object');
    default:
      throw statusErrors.methodNotAllowedHere();
  }
}

/** Subresources of a pod that its kubelet serves. */
const streamed: ReadonlySet<string> = new Set(['attach', 'exec', 'log', 'portforward', 'proxy']);

async function onSubresource(
  registry: Registry,
  call: Call,
  { info, tokens }: { readonly info: ResourceRequestInfo; readonly tokens: Tokens },
): Promise<ApiResponse> {
  const { resource, subresource } = call.route;
  const { kind } = resource;
  const core = kind.group === '' ? `${kind.plural}/${subresource}` : '';
  if (core.startsWith('pods/') && streamed.has(subresource)) {
    throw statusErrors.notImplemented(`${core}${info.subpath ?? ''} is not available yet: no node runs pods`);
  }
  if ((info.subpath ?? '/') !== '/') throw statusErrors.noSuchPath();
  if (subresource === 'status' && kind.status !== undefined) return onPart(registry, call, 'status');
  if (subresource === 'approval' && kind.approval !== undefined) return onPart(registry, call, 'approval');
  if (subresource === 'scale' && kind.scale !== undefined) return scale(registry, call, kind.scale);
  const specPart = specParts.find((part) => part === subresource);
  if (specPart !== undefined && kind.parts !== undefined) return onPart(registry, call, specPart);
  switch (core) {
    case 'pods/binding':
      return bind(registry, call);
    case 'pods/eviction':
      return evict(registry, call);
    case 'namespaces/finalize':
      if (info.verb !== 'update') throw statusErrors.methodNotAllowedHere();
      return put(registry, call, 'finalize');
    case 'serviceaccounts/token':
      if (tokens === undefined) throw statusErrors.notImplemented('this server issues no tokens');
      return requestToken(registry, call, tokens);
    default:
      throw statusErrors.noSuchPath();
  }
}

async function onPart(registry: Registry, call: Call, part: Part): Promise<ApiResponse> {
  switch (call.request.info.verb) {
    case 'get':
      return get(registry, call);
    case 'update':
      return put(registry, call, part);
    case 'patch':
      return patch(registry, call, part);
    default:
      throw statusErrors.methodNotAllowedHere();
  }
}
