import { statusErrors } from '../../api/status.ts';
import { pathSegmentProblems } from '../../api/validation/names.ts';
import type { Resource, Resources } from '../objects/resources.ts';

/** What a path names: `/api/v1/namespaces/default/pods/web/status` is the status of one object of a resource. */
export interface Route {
  readonly resource: Resource;
  /** '': none, or all of them. */
  readonly namespace: string;
  /** '': the collection. */
  readonly name: string;
  /** '': the object itself. */
  readonly subresource: string;
  /** The old form of a watch: `/api/v1/watch/…`. */
  readonly legacyWatch: boolean;
}

/** Paths of collections that were parsed already. Bounded: clients make up namespaces. */
const MAX_KNOWN = 4_096;

export class Router {
  readonly #resources: Resources;
  readonly #collections = new Map<string, Route>();
  #generation = 0;

  constructor(resources: Resources) {
    this.#resources = resources;
  }

  /** @throws ApiError 404 if there is no such path. */
  route(path: string): Route {
    if (this.#generation !== this.#resources.generation) this.#forget();
    const collection = this.#collections.get(path);
    if (collection !== undefined) return collection;
    const slash = path.lastIndexOf('/');
    const parent = this.#collections.get(path.slice(0, slash));
    const name = path.slice(slash + 1);
    if (parent !== undefined && hasObjects(parent) && isPlain(name)) return { ...parent, name };
    const route = parseRoute(path, this.#resources);
    if (route.subresource === '' && isPlain(name)) this.#remember(route.name === '' ? path : path.slice(0, slash), { ...route, name: '' });
    return route;
  }

  /** Other kinds are served now. */
  #forget(): void {
    this.#collections.clear();
    this.#generation = this.#resources.generation;
  }

  #remember(path: string, collection: Route): void {
    if (this.#collections.size >= MAX_KNOWN) this.#collections.clear();
    this.#collections.set(path, collection);
  }
}

/** The list across all namespaces has items, but they have other paths. */
const hasObjects = ({ resource, namespace }: Route): boolean => !resource.kind.namespaced || namespace !== '';

/** A name that means nothing but itself in a path. */
const isPlain = (name: string): boolean => /^[a-z0-9][-a-z0-9.]*$/i.test(name);

/** @throws ApiError 404 if there is no such path. */
export function parseRoute(path: string, resources: Resources): Route {
  const parts = segments(path);
  const core = parts[0] === 'api';
  if (!core && parts[0] !== 'apis') throw statusErrors.noSuchPath();
  const apiVersion = core ? parts[1] : `${parts[1] ?? ''}/${parts[2] ?? ''}`;
  if (apiVersion === undefined) throw statusErrors.noSuchPath();
  let at = core ? 2 : 3;
  const legacyWatch = parts[at] === 'watch';
  if (legacyWatch) at++;
  const route = locate(parts.slice(at), (plural) => resources.find(apiVersion, plural));
  if (route === undefined) throw statusErrors.noSuchPath();
  if (legacyWatch && (route.subresource !== '' || !route.resource.kind.verbs.includes('watch'))) throw statusErrors.noSuchPath();
  return { ...route, legacyWatch };
}

const namespaceParts: ReadonlySet<string> = new Set(['status', 'finalize']);

type Found = Omit<Route, 'legacyWatch'>;

function locate(parts: readonly string[], find: (plural: string) => Resource | undefined): Found | undefined {
  const [first = '', , third = ''] = parts;
  if (first === 'namespaces' && parts.length >= 3) {
    const namespace = segment(parts, 1);
    // A binding is no object that is kept: it is posted to the collection, or to its pod.
    const pods = third === 'bindings' && parts.length === 3 ? find('pods') : undefined;
    if (pods !== undefined) return { resource: pods, namespace, name: '', subresource: 'bindings' };
    const inNamespace = find(third);
    if (inNamespace?.kind.namespaced === true) {
      return { resource: inNamespace, namespace, name: segment(parts, 3), subresource: rest(parts, 4) };
    }
    // Anything else behind a namespace's name would be authorised as a resource in it.
    if (!namespaceParts.has(third)) return undefined;
  }
  const resource = find(first);
  if (resource === undefined) return undefined;
  // Objects of a namespaced kind are reached through their namespace alone; without one there is only the list of all.
  if (resource.kind.namespaced && parts.length > 1) return undefined;
  return { resource, namespace: '', name: segment(parts, 1), subresource: rest(parts, 2) };
}

function rest(parts: readonly string[], from: number): string {
  const left = parts.slice(from);
  if (left.some((part) => part.includes('/'))) throw statusErrors.noSuchPath();
  return left.join('/');
}

function segment(parts: readonly string[], at: number): string {
  const name = parts[at] ?? '';
  if (name === '') return name;
  const problems = pathSegmentProblems(name, false);
  if (problems.length > 0) throw statusErrors.badRequest(`Name parameter invalid: ${JSON.stringify(name)}: ${problems.join(';')}`);
  return name;
}

function segments(path: string): string[] {
  const end = path.endsWith('/') ? path.length - 1 : path.length;
  const parts = path.slice(1, end).split('/');
  // Whoever authorises a request does not see an empty segment: what it left out must not shift the meaning of the others.
  if (parts.includes('')) throw statusErrors.noSuchPath();
  return path.includes('%') ? parts.map(decodeSegment) : parts;
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw statusErrors.badRequest(`invalid URL escape in ${JSON.stringify(segment)}`);
  }
}
