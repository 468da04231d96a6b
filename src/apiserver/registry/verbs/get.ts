import { statusErrors } from '../../../api/status.ts';
import type { ApiResponse, ObjectRevision } from '../../api.ts';
import { waitForRevision } from '../../objects/wait-for-revision.ts';
import { parseRevision } from '../../objects/options.ts';
import type { Call, Registry } from '../registry.ts';
import { keyOf } from '../../objects/resources.ts';
import { revisionOf } from '../../objects/object-revision.ts';

export async function get(registry: Registry, call: Call): Promise<ApiResponse> {
  const { resource } = call.route;
  const { query } = call.request;
  if (query.size > 0) await waitForRevision(registry, parseRevision(query.get('resourceVersion') ?? ''));
  return { type: 'object', code: 200, kind: resource.kind, stored: await currentOf(registry, call), warnings: [...call.warnings] };
}

/** The object that the request names. @throws ApiError 404 */
export async function currentOf(registry: Registry, { route }: Call): Promise<ObjectRevision> {
  const { resource, namespace, name } = route;
  const entry = await registry.store.get(keyOf(resource, namespace, name));
  if (entry === undefined) throw statusErrors.notFound(resource.kind, name);
  return revisionOf(resource, entry);
}
