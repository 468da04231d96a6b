/**
 * Kubernetes' strategic merge patch: a merge patch that knows, from the schema, which lists are keyed and by what.
 *
 *     containers: [{ name: 'web', image: 'nginx:2' }]      changes the image of container web, leaves the others alone
 *     containers: [{ name: 'web', $patch: 'delete' }]      removes it
 *     $setElementOrder/containers: [{ name: 'b' }, …]      orders the result
 *     $deleteFromPrimitiveList/finalizers: ['x']           removes scalars from a merged list
 *     $retainKeys: ['type', 'rollingUpdate']               clears every other key of the object
 *     $patch: 'replace'                                    takes this object as it is
 */
import { isJsonObject, setOwn } from '../json.ts';
import { cloneObject } from '../schema/plain-object.ts';
import { type TypeExpression, typeSchema } from '../schema/type-schema.ts';
import { holdObjects, identityBy, inOrder, requireMergeKey } from './element-order.ts';
import { goText } from './go-text.ts';
import { badDeletionList, badDirective, badElementOrder, badRetainKeys, badType, failed, noMergeKey } from './strategic-error.ts';

type JsonObject = Record<string, unknown>;

const directiveKey = '$patch';
const retainKeysKey = '$retainKeys';
const deletionPrefix = '$deleteFromPrimitiveList';
const orderPrefix = '$setElementOrder';

/** The patched object; the given one and the patch stay as they are. @throws StrategicPatchError */
export function applyStrategicPatch(type: string, object: JsonObject, patch: JsonObject): JsonObject {
  const schema: TypeExpression = { type: 'struct', name: type, pointer: false, go: '' };
  return mergeObject(cloneObject(object), cloneObject(patch), schema);
}

/** Merges into `original`, and takes apart `patch`: both are copies. */
function mergeObject(original: JsonObject, patch: JsonObject, schema: TypeExpression): JsonObject {
  if (Object.hasOwn(patch, directiveKey)) return followDirective(patch);
  retainKeys(original, patch);
  mergeOrderedLists(original, patch, schema);
  for (const [key, value] of Object.entries(patch)) {
    if (key.startsWith(deletionPrefix)) deleteScalars(original, listNameIn(key, deletionPrefix), value, schema);
    else if (value === null) delete original[key];
    else mergeMember(original, key, value, schema);
  }
  return original;
}

function followDirective(patch: JsonObject): JsonObject {
  const directive = patch[directiveKey];
  if (directive === 'delete') return {};
  if (directive !== 'replace') throw badDirective(directive, patch);
  delete patch[directiveKey];
  return patch;
}

function mergeMember(original: JsonObject, key: string, value: unknown, schema: TypeExpression): void {
  const current = Object.hasOwn(original, key) ? original[key] : undefined;
  if (isJsonObject(current) && isJsonObject(value)) {
    const field = lookUp(schema, key);
    setOwn(original, key, field.strategy === 'replace' ? value : mergeObject(current, value, field.type));
  } else if (Array.isArray(current) && Array.isArray(value)) {
    const field = lookUpList(schema, key);
    setOwn(original, key, field.strategy === 'merge' ? mergeList(current, value, field).items : value);
  } else {
    // There is nothing to merge it with.
    discardNulls(value);
    const kept = withoutDirectives(value);
    if (kept === undefined) delete original[key];
    else setOwn(original, key, kept);
  }
}

interface Field {
  readonly type: TypeExpression;
  /** 'merge', 'replace' or ''. */
  readonly strategy: string;
  readonly mergeKey: string;
}

/** The patch strategy of a field. @throws StrategicPatchError if the field does not exist */
function lookUp(schema: TypeExpression, key: string): Field {
  if (schema.type !== 'struct') {
    if (schema.type === 'RawExtension' || schema.type === 'FieldsV1')
      throw failed(`unable to find api field in struct ${schema.type} for the json field ${JSON.stringify(key)}`);
    throw failed(`merging an object in json but data type is not struct, instead is: ${goKind(schema)}`);
  }
  const { goName, byName } = typeSchema(schema.name);
  const field = byName.get(key);
  if (field === undefined) throw failed(`unable to find api field in struct ${goName} for the json field ${JSON.stringify(key)}`);
  return { type: field.type, strategy: field.patchStrategies.find((strategy) => strategy !== 'retainKeys') ?? '', mergeKey: field.patchMergeKey ?? '' };
}

/** Of a list, with the type of its elements. */
function lookUpList(schema: TypeExpression, key: string): Field {
  const field = lookUp(schema, key);
  if (field.type.type === 'list') return { ...field, type: field.type.of };
  if (field.type.pointer) return field;
  throw failed(`expected slice or array type, but got: ${goKind(schema)}`);
}

function goKind({ type }: TypeExpression): string {
  if (type === 'list' || type === 'bytes') return 'slice';
  return ['string', 'bool', 'int32', 'int64', 'map', 'struct'].includes(type) ? type : 'struct';
}

/** Clears the keys that are not in $retainKeys; all keys of the patch must be in it. */
function retainKeys(original: JsonObject, patch: JsonObject): void {
  if (!Object.hasOwn(patch, retainKeysKey)) return;
  const keys = patch[retainKeysKey];
  delete patch[retainKeysKey];
  if (!Array.isArray(keys)) throw badRetainKeys();
  const retained = new Set<unknown>(keys);
  for (const [key, value] of Object.entries(patch)) {
    if (value === null || key.startsWith(deletionPrefix) || key.startsWith(orderPrefix)) continue;
    if (!retained.has(key)) throw badRetainKeys();
  }
  for (const key of Object.keys(original)) if (!retained.has(key)) delete original[key];
}

function listNameIn(key: string, prefix: typeof deletionPrefix | typeof orderPrefix): string {
  const slash = key.indexOf('/');
  if (slash !== prefix.length) throw prefix === deletionPrefix ? badDeletionList() : badElementOrder();
  return key.slice(slash + 1);
}

function deleteScalars(original: JsonObject, key: string, value: unknown, schema: TypeExpression): void {
  if (value === null) {
    delete original[key];
    return;
  }
  const current = Object.hasOwn(original, key) ? original[key] : undefined;
  if (!Array.isArray(current) || !Array.isArray(value)) return;
  const field = lookUpList(schema, key);
  if (current.length === 0 && value.length === 0) return;
  original[key] = holdObjects(current, value) ? mergeList(current, value, field).items : without(current, new Set(value));
}

const without = (items: readonly unknown[], removed: ReadonlySet<unknown>): unknown[] => items.filter((item) => !removed.has(item));

/** Merges the lists with a $setElementOrder, and removes them from the patch. */
function mergeOrderedLists(original: JsonObject, patch: JsonObject, schema: TypeExpression): void {
  for (const [orderKey, wanted] of Object.entries(patch)) {
    if (!orderKey.startsWith(orderPrefix)) continue;
    delete patch[orderKey];
    if (!Array.isArray(wanted)) throw badType('[]interface {}', wanted);
    const key = listNameIn(orderKey, orderPrefix);
    const before = listIn(original, key);
    const patched = listIn(patch, key);
    const field = lookUpList(schema, key);
    checkOrder(patched ?? [], wanted, field.mergeKey);
    const merged = mergeOrReplace(before, patched, field);
    if (merged === undefined) continue;
    if (field.mergeKey !== '') requireMergeKey(field.mergeKey, merged.items);
    if (holdObjects(before ?? [], patched ?? [])) requireMergeKey(field.mergeKey, merged.items, wanted, merged.before);
    setOwn(original, key, inOrder(merged.items, { wanted, before: merged.before, identity: identityBy(field.mergeKey) }));
    delete patch[key];
  }
}

function listIn(object: JsonObject, key: string): unknown[] | undefined {
  if (!Object.hasOwn(object, key)) return undefined;
  const value = object[key];
  if (!Array.isArray(value)) throw badType('[]interface {}', value);
  return value;
}

interface Merged {
  readonly items: unknown[];
  /** The list that counts as the order before the patch. */
  readonly before: readonly unknown[];
}

function mergeOrReplace(before: unknown[] | undefined, patched: unknown[] | undefined, field: Field): Merged | undefined {
  if (patched === undefined) return before === undefined ? undefined : { items: before, before };
  if (before === undefined) return { items: withoutDirectives(patched) as unknown[], before: [] };
  return field.strategy === 'merge' ? mergeList(before, patched, field) : { items: patched, before };
}

/** The patch's elements must be in the order of its $setElementOrder. */
function checkOrder(patched: readonly unknown[], wanted: readonly unknown[], mergeKey: string): void {
  if (patched.length === 0 || wanted.length === 0) return;
  for (const item of patched) if (mergeKey !== '' && !isJsonObject(item)) throw badType('map[string]interface {}', item);
  const remaining = patched.filter((item) => !isJsonObject(item) || item[directiveKey] !== 'delete');
  const identity = identityBy(mergeKey);
  let next = 0;
  for (const place of wanted) {
    while (next < remaining.length && hasDirective(remaining[next])) next++;
    if (next >= remaining.length) return;
    if (mergeKey !== '') requireMergeKey(mergeKey, [remaining[next], place]);
    if (identity(remaining[next]) === identity(place)) next++;
  }
  if (next < remaining.length) {
    throw failed(`The order in patch list:\n${goText(patched)}\n doesn't match ${orderPrefix} list:\n${goText(wanted)}\n`);
  }
}

const hasDirective = (item: unknown): boolean => isJsonObject(item) && Object.hasOwn(item, directiveKey);

function mergeList(original: unknown[], patch: unknown[], field: Field): Merged {
  if (original.length === 0 && patch.length === 0) return { items: original, before: original };
  if (!holdObjects(original, patch)) {
    const merged = [...new Set([...original, ...patch])];
    if (field.mergeKey !== '') requireMergeKey(field.mergeKey, merged);
    return { items: inOrder(merged, { wanted: patch, before: original, identity: identityBy('') }), before: original };
  }
  if (field.mergeKey === '') throw failed(`cannot merge lists without merge key for ${goKind(field.type)}`);
  const { before, plain } = followListDirectives(original as JsonObject[], patch as JsonObject[], field.mergeKey);
  const merged = [...before];
  mergeElements(merged, plain, field);
  requireMergeKey(field.mergeKey, merged, plain);
  const items = inOrder(merged, { wanted: plain, before, identity: identityBy(field.mergeKey) });
  // In Kubernetes new elements take the places of deleted ones.
  return { items, before: before === plain ? original : merged.slice(0, original.length) };
}

/** Applies the directives in a list; the other elements are merged. */
function followListDirectives(original: JsonObject[], patch: JsonObject[], mergeKey: string): { before: JsonObject[]; plain: JsonObject[] } {
  const deleted = new Set<unknown>();
  let replaces = false;
  const plain: JsonObject[] = [];
  for (const item of patch) {
    const directive = Object.hasOwn(item, directiveKey) ? item[directiveKey] : undefined;
    if (directive === undefined) plain.push(item);
    else if (directive === 'replace') replaces = true;
    else if (directive === 'merge') throw failed('merging lists cannot yet be specified in the patch');
    else if (directive !== 'delete') throw badDirective(directive, item);
    else if (!Object.hasOwn(item, mergeKey)) throw noMergeKey(item, mergeKey);
    else deleted.add(item[mergeKey]);
  }
  if (replaces) return { before: plain, plain: [] };
  return { before: deleted.size === 0 ? original : original.filter((candidate) => !deleted.has(candidate[mergeKey])), plain };
}

/** Each into the first element with its key, or at the end. */
function mergeElements(list: JsonObject[], patch: readonly JsonObject[], { mergeKey, type }: Field): void {
  const places = new Map<unknown, number>();
  for (const [i, { [mergeKey]: key }] of list.entries()) if (!places.has(key)) places.set(key, i);
  for (const item of patch) {
    if (!Object.hasOwn(item, mergeKey)) throw noMergeKey(item, mergeKey);
    const place = places.get(item[mergeKey]) ?? list.length;
    const found = list[place];
    list[place] = found === undefined ? item : mergeObject(found, item, type);
    places.set(item[mergeKey], place);
  }
}

/** Drops nulls: there is nothing to remove. */
function discardNulls(value: unknown): void {
  if (Array.isArray(value)) for (const item of value) discardNulls(item);
  else if (isJsonObject(value)) {
    for (const [key, member] of Object.entries(value)) {
      if (member === null) delete value[key];
      else discardNulls(member);
    }
  }
}

/** Undefined: the value is a directive itself. */
function withoutDirectives(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDirectives).filter((item) => item !== undefined);
  if (!isJsonObject(value)) return value;
  if (Object.hasOwn(value, directiveKey)) return undefined;
  for (const [key, member] of Object.entries(value)) {
    const kept = withoutDirectives(member);
    if (kept === undefined) delete value[key];
    else setOwn(value, key, kept);
  }
  return value;
}
