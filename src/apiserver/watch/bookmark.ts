import type { KubeObject } from '../../api/object.ts';
import type { Stored } from '../../api/stored.ts';
import { decode, deepFreeze } from '../../api/schema/index.ts';
import type { ObjectRevision, WatchEvent } from '../api.ts';
import type { Resource } from '../objects/resources.ts';

/** The fields that every object of the kind has. */
const emptyOf = ({ kind, apiVersion }: Resource): KubeObject =>
  kind.custom === undefined ? decode<KubeObject>(kind.type, {}).object : { kind: kind.kind, apiVersion, metadata: {} };

/** An empty object of the kind whose resourceVersion is the revision up to which the watcher has all events. */
export function bookmark(resource: Resource, revision: number, initialEventsEnd: boolean): WatchEvent {
  const { kind: _kind, apiVersion: _version, metadata: _metadata, ...empty } = emptyOf(resource);
  const object = deepFreeze<KubeObject>({
    kind: resource.kind.kind,
    apiVersion: resource.apiVersion,
    metadata: { resourceVersion: String(revision), ...(initialEventsEnd ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {}) },
    ...empty,
  });
  const stored: ObjectRevision = { object: object as Stored, revision, json: () => Buffer.from(JSON.stringify(object)) };
  return { type: 'BOOKMARK', stored, memo: undefined };
}
