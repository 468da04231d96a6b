/**
 * managedFields of the registry's objects (upstream: fieldmanager). Tracked are writes that name their manager, and all writes of
 * objects that are tracked already (docs/decisions/0009). Other writes cost nothing here.
 */
import {
  type ApplyContext,
  type JsonMap,
  emptySet,
  resetFields,
  scaleVersion,
  shapeOfKind,
  trackWrite,
  type Typing,
  withoutManagedFields,
} from '../../api/apply/index.ts';
import type { ManagedFieldsEntry } from '../../api/generated/types.ts';
import { isJsonObject } from '../../api/json.ts';
import type { KubeObject } from '../../api/object.ts';
import { decode, deepEqual } from '../../api/schema/index.ts';
import { hasType } from '../../api/schema/type-schema.ts';
import type { RequestBody } from '../api.ts';
import { timestamp } from '../objects/metadata.ts';
import type { WriteOptions } from '../objects/options.ts';
import type { Call, Registry } from './registry.ts';
import type { Resource, Resources } from '../objects/resources.ts';

export const asJson = (object: KubeObject): JsonMap => object as unknown as JsonMap;

/** `subresource`: the one that the request writes. */
export function applyContextOf(registry: Registry, resource: Resource, subresource: string): ApplyContext {
  const { kind } = resource;
  return {
    kind,
    typing: typingOf(registry.resources, resource, subresource),
    version: resource.apiVersion,
    subresource,
    now: timestamp(registry.world.clock.now()),
    blank: () => blankOf(kind.type),
  };
}

/** For the /scale subresource of any kind. */
export function scaleApplyContextOf(registry: Registry): ApplyContext {
  return {
    kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
    typing: { shape: (version) => (version === scaleVersion ? shapeOfKind({ type: 'Scale' }) : undefined), convert: (object) => object, ignored: emptySet },
    version: scaleVersion,
    subresource: 'scale',
    now: timestamp(registry.world.clock.now()),
    blank: () => blankOf('Scale'),
  };
}

const blanks = new Map<string, JsonMap>();

/** An empty object with the fields that Kubernetes always prints. */
function blankOf(type: string): JsonMap {
  let blank = blanks.get(type);
  if (blank === undefined) {
    blank = hasType(type) ? decode<JsonMap>(type, {}).object : {};
    blanks.set(type, blank);
  }
  return blank;
}

function typingOf(resources: Resources, resource: Resource, subresource: string): Typing {
  const at = (version: string): Resource | undefined => {
    if (version === resource.apiVersion) return resource;
    const other = resources.findKind(version, resource.kind.kind);
    return other?.base === resource.base ? other : undefined;
  };
  return {
    shape: (version) => {
      const found = at(version);
      return found === undefined ? undefined : shapeOfKind(found.kind);
    },
    convert: (object, from, to) => {
      const stored = at(from)?.kind.storage.convert?.toStored(object as unknown as KubeObject) ?? object;
      const converted = at(to)?.kind.storage.convert?.fromStored(stored as unknown as KubeObject) ?? stored;
      return { ...(converted as unknown as JsonMap), apiVersion: to };
    },
    ignored: resetFields(resource.kind, subresource),
  };
}

export interface ManagedWrite {
  /** The object to store; its managedFields are set. */
  readonly object: KubeObject;
  /** undefined: it is new. */
  readonly old: KubeObject | undefined;
  readonly subresource: string;
  readonly options: WriteOptions;
}

/** Sets the managedFields of a write that is no apply. */
export function trackManagedFields(registry: Registry, call: Call, { object, old, subresource, options }: ManagedWrite): void {
  const { metadata } = object;
  const liveEntries = old?.metadata.managedFields;
  const givenEntries = metadata.managedFields ?? (liveEntries !== undefined && asksForReset(call.request.body) ? [] : undefined);
  const explicit = options.fieldManager !== '';
  if (liveEntries === undefined && givenEntries === undefined && !explicit) return;
  delete metadata.managedFields;
  const entries = managedFieldsAfter(applyContextOf(registry, call.route.resource, subresource), call, { object, old, options, liveEntries, givenEntries });
  if (entries !== undefined) metadata.managedFields = entries;
}

interface ContextWrite extends Omit<ManagedWrite, 'subresource'> {
  readonly liveEntries: ManagedFieldsEntry[] | undefined;
  readonly givenEntries?: ManagedFieldsEntry[] | undefined;
}

/** `object` without managedFields. @returns its new managedFields */
export function managedFieldsAfter(
  context: ApplyContext,
  call: Call,
  { object, old, options, liveEntries, givenEntries }: ContextWrite,
): ManagedFieldsEntry[] | undefined {
  const explicit = options.fieldManager !== '';
  return trackWrite(context, {
    live: old === undefined ? context.blank() : withoutManagedFields(asJson(old)),
    next: asJson(object),
    liveEntries,
    givenEntries,
    exists: old !== undefined,
    explicit,
    manager: explicit ? options.fieldManager : managerOf(call.request.userAgent),
  });
}

const nameInBody = Buffer.from('managedFields');

/** A client resets managedFields by an empty list. Decoding drops empty lists, so the body is read again. */
function asksForReset(body: RequestBody): boolean {
  if (body.type === 'none') return false;
  if (body.type === 'object') return isReset(body.object);
  const bytes = Buffer.from(body.bytes.buffer, body.bytes.byteOffset, body.bytes.byteLength);
  if (!bytes.includes(nameInBody)) return false;
  try {
    return isReset(JSON.parse(bytes.toString('utf8')));
  } catch {
    return false;
  }
}

/** `body`: an object, a merge patch, or the operations of a JSON patch. */
function isReset(body: unknown): boolean {
  const empty = (value: unknown): boolean => Array.isArray(value) && value.length === 0;
  if (Array.isArray(body))
    return body.some((operation) => isJsonObject(operation) && operation['path'] === '/metadata/managedFields' && empty(operation['value']));
  const metadata = isJsonObject(body) ? body['metadata'] : undefined;
  return isJsonObject(metadata) && empty(metadata['managedFields']);
}

const maxManagerLength = 128;

/** The manager of a client that names none is the first word of its user agent: 'kubectl/v1.36 (linux)' is kubectl. */
function managerOf(userAgent: string): string {
  let manager = '';
  let length = 0;
  for (const character of userAgent.split('/', 1)[0] ?? '') {
    if (!/^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u.test(character)) continue;
    length += Buffer.byteLength(character);
    if (length > maxManagerLength) break;
    manager += character;
  }
  return manager;
}

/** A write that changes nothing but times in managedFields changes nothing. */
export function keepTimes(object: KubeObject, old: KubeObject): void {
  const entries = object.metadata.managedFields;
  const before = old.metadata.managedFields;
  if (entries === undefined || before === undefined || entries === before || entries.length !== before.length) return;
  if (entries.every(({ time }, i) => time === before[i]?.time)) return;
  if (!entries.every((entry, i) => deepEqual(timeless(entry), timeless(before[i])))) return;
  if (deepEqual(withoutManagedFields(asJson(object)), withoutManagedFields(asJson(old)))) object.metadata.managedFields = before;
}

function timeless(entry: ManagedFieldsEntry | undefined): unknown {
  const { time: _, ...rest } = entry ?? {};
  return rest;
}
