import { statusErrors } from '../../api/status.ts';
import { requiredValue } from '../../api/selectors/field-selector.ts';
import type { ApiResponse } from '../api.ts';
import { type ListOptions, parseRevision } from '../objects/options.ts';
import { keyOf, prefixOf, type Resource, type Resources } from '../objects/resources.ts';
import { checkFields, selectionOf } from '../objects/selection.ts';
import { ResourceWatch, type WatchContext, type WatchPlan } from './resource-watch.ts';

/** Watches without timeoutSeconds end after 30 to 60 minutes, at random (kube-apiserver: --min-request-timeout). */
const MIN_TIMEOUT_SECONDS = 1_800;

/** The part of a call to the registry that a watch needs. `name`: '' for the collection. */
export interface WatchCall {
  readonly route: { readonly resource: Resource; readonly namespace: string; readonly name: string };
  readonly warnings: ReadonlySet<string>;
}

export function watch(context: WatchContext & { readonly resources: Resources }, call: WatchCall, given: ListOptions): ApiResponse {
  const options = call.route.name === '' ? given : withName(given, call.route.name);
  const { resource } = call.route;
  checkFields(resource.kind, options.fieldSelector);
  const plan: WatchPlan = {
    resource,
    prefix: watchedPrefix(call, options),
    selection: selectionOf(resource.kind, options),
    start: startOf(context, options),
    bookmarks: options.allowWatchBookmarks,
    timeoutMs: timeoutOf(context, options) * 1000,
    ...(resource.kind.custom === undefined ? {} : { whenRedefined: (call) => context.resources.whenRedefined(resource, call) }),
  };
  return { type: 'watch', kind: resource.kind, start: (sink) => new ResourceWatch(context, plan, sink).open(), warnings: [...call.warnings] };
}

/** `/api/v1/watch/…/NAME` is a watch with a field selector for the name. */
function withName(options: ListOptions, name: string): ListOptions {
  if (options.fieldSelector.length === 0) return { ...options, fieldSelector: [{ field: 'metadata.name', equal: true, value: name }] };
  if (requiredValue(options.fieldSelector, 'metadata.name') === name) return options;
  throw statusErrors.badRequest("fieldSelector metadata.name doesn't match requested name");
}

/** A field selector for a name or a namespace narrows the prefix. */
function watchedPrefix(call: WatchCall, { fieldSelector }: ListOptions): string {
  const { resource } = call.route;
  const { kind } = resource;
  const plain = (text: string | undefined): text is string => text !== undefined && text !== '' && !text.includes('/');
  const selected = requiredValue(fieldSelector, 'metadata.namespace');
  const namespace = call.route.namespace !== '' || !kind.namespaced || !plain(selected) ? call.route.namespace : selected;
  const name = requiredValue(fieldSelector, 'metadata.name');
  if (plain(name) && (!kind.namespaced || namespace !== '')) return keyOf(resource, namespace, name);
  return prefixOf(resource, namespace);
}

function startOf({ store }: WatchContext, options: ListOptions): WatchPlan['start'] {
  const revision = parseRevision(options.resourceVersion);
  // Without a resourceVersion a watch begins with the current state.
  const state = options.sendInitialEvents ?? revision === 0;
  const notBefore = options.resourceVersion === '' ? 'now' : revision;
  if (state) return { type: 'state', notBefore, announceEnd: options.allowWatchBookmarks };
  return { type: 'after', revision: revision === 0 ? store.revision() : revision };
}

function timeoutOf({ world }: WatchContext, { timeoutSeconds }: ListOptions): number {
  if (timeoutSeconds !== undefined && timeoutSeconds !== 0) return Math.max(0, timeoutSeconds);
  return MIN_TIMEOUT_SECONDS * (1 + world.random.float());
}
