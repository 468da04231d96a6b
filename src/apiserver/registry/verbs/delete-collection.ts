import { ApiError } from '../../../api/status.ts';
import type { ApiResponse, ObjectRevision } from '../../api.ts';
import { deleteOne, warnOfOrphans } from './delete.ts';
import { decodeDeleteOptions } from './delete-options.ts';
import { selectObjects } from './list.ts';
import { type DeleteOptions, parseListOptions } from '../../objects/options.ts';
import type { Call, Registry } from '../registry.ts';

/** Objects that are deleted concurrently: the store commits their writes together. */
const AT_ONCE = 64;

/** Deletes the objects of a list, and answers with it. Not atomic: after an error some of them are deleted. */
export async function deleteCollection(registry: Registry, call: Call): Promise<ApiResponse> {
  const { query } = call.request;
  const listOptions = parseListOptions(query, false);
  const options = decodeDeleteOptions(call);
  warnOfOrphans(call, options);
  const { items, metadata } = await selectObjects(registry, call, { ...listOptions, watch: false });
  for (let at = 0; at < items.length; at += AT_ONCE) {
    await Promise.all(items.slice(at, at + AT_ONCE).map((item) => deleteListed(registry, call, { item, options })));
  }
  return { type: 'list', kind: call.route.resource.kind, items, metadata, warnings: [...call.warnings] };
}

/** An object that another request has deleted meanwhile is no error. */
async function deleteListed(
  registry: Registry,
  call: Call,
  { item, options }: { readonly item: ObjectRevision; readonly options: DeleteOptions },
): Promise<void> {
  const { name, namespace = '' } = item.object.metadata;
  try {
    await deleteOne(registry, { ...call, route: { ...call.route, name, namespace } }, options);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 404) throw error;
  }
}
