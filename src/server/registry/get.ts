import { statusErrors } from '../../api/status.ts';
import type { ApiResponse, Stored } from '../api.ts';
import { awaitRevision } from './freshness.ts';
import { parseRevision } from './options.ts';
import type { Call, Registry } from './registry.ts';
import { keyOf } from './resources.ts';
import { storedOf } from './stored.ts';

export async function get(registry: Registry, call: Call): Promise<ApiResponse> {
  const { resource } = call.route;
  const { query } = call.request;
  if (query.size > 0) await awaitRevision(registry, parseRevision(query.get('resourceVersion') ?? ''));
  return { type: 'object', code: 200, kind: resource.kind, stored: await currentOf(registry, call), warnings: [...call.warnings] };
}

/** The object that the request names. @throws ApiError 404 */
export async function currentOf(registry: Registry, { route }: Call): Promise<Stored> {
  const { resource, namespace, name } = route;
  const entry = await registry.store.get(keyOf(resource, namespace, name));
  if (entry === undefined) throw statusErrors.notFound(resource.kind, name);
  return storedOf(resource, entry);
}
