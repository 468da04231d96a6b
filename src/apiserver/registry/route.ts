import type { ResourceRequestInfo } from '../../api/request-info.ts';
import { statusErrors } from '../../api/status.ts';
import { pathSegmentProblems } from '../../api/validation/names.ts';
import type { Resource } from '../objects/resources.ts';

/** The objects of a served kind that a request is about. */
export interface Route {
  readonly resource: Resource;
  /** '': none, or all of them. */
  readonly namespace: string;
  /** '': the collection. */
  readonly name: string;
  /** '': the object itself. */
  readonly subresource: string;
}

/** Verbs whose name, if there is one, is that of a field selector. */
const collectionVerbs: ReadonlySet<string> = new Set(['list', 'watch', 'deletecollection']);

/** @throws ApiError 404 for what the kind does not have, 400 for a name that no object can have */
export function routeOf(info: ResourceRequestInfo, resource: Resource): Route {
  const { kind } = resource;
  const { verb, subresource, watchPath = false } = info;
  const name = watchPath || !collectionVerbs.has(verb) ? info.name : '';
  // Objects of a namespaced kind are reached through their namespace alone; without one there is only the list of all.
  if (kind.namespaced ? info.namespace === '' && name !== '' : info.namespace !== '' && info.resource !== 'namespaces') throw statusErrors.noSuchPath();
  if (watchPath && (subresource !== '' || !kind.verbs.includes('watch'))) throw statusErrors.noSuchPath();
  const namespace = kind.namespaced ? info.namespace : '';
  checkSegment(namespace);
  checkSegment(name);
  return { resource, namespace, name, subresource };
}

function checkSegment(name: string): void {
  const problems = pathSegmentProblems(name, false);
  if (problems.length > 0) throw statusErrors.badRequest(`Name parameter invalid: ${JSON.stringify(name)}: ${problems.join(';')}`);
}
