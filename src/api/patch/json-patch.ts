import { isJsonObject, setOwn } from '../json.ts';
import { cloneObject } from '../schema/plain-object.ts';

/**
 * RFC 6902, with the deviations of evanphx/json-patch, which Kubernetes uses: an index may count from the end ("-1"), replacing a key
 * that an object lacks adds it, and testing a key that is absent against null succeeds.
 */
export interface JsonPatchOperation {
  readonly op?: unknown;
  readonly path?: unknown;
  readonly from?: unknown;
  readonly value?: unknown;
}

/** Why a patch does not apply. Kubernetes does not tell the client. */
export class JsonPatchError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'JsonPatchError';
  }
}

/** The bytes that all "copy" operations may add: a small patch must not grow an object without bound. */
const maxCopiedBytes = 3 * 1024 * 1024;

/** The elements that all insertions into lists and removals from them may shift: some tenths of a second. */
const maxShiftedElements = 100_000_000;

/** The patched document; the given one stays as it is. @throws JsonPatchError */
export function applyJsonPatch(document: unknown, operations: readonly JsonPatchOperation[]): unknown {
  const patch = new Patch(cloneObject(document));
  for (const operation of operations) patch.apply(operation);
  return patch.root;
}

/** The object or list that holds a value, and the key of the value in it. */
type Place =
  | { readonly in: 'object'; readonly object: Record<string, unknown>; readonly key: string }
  | { readonly in: 'list'; readonly list: unknown[]; readonly key: string };

class Patch {
  root: unknown;
  #copiedBytes = 0;
  #shiftedElements = 0;

  constructor(root: unknown) {
    this.root = root;
  }

  apply(operation: JsonPatchOperation): void {
    switch (operation.op) {
      case 'add':
        return this.#add(this.#place(operation.path), cloneObject(operation.value ?? null));
      case 'remove':
        return this.#remove(this.#place(operation.path));
      case 'replace':
        return this.#replace(operation);
      case 'move':
        return this.#move(operation);
      case 'copy':
        return this.#copy(operation);
      case 'test':
        return this.#test(operation);
      default:
        throw new JsonPatchError(`Unexpected kind: ${typeof operation.op === 'string' ? operation.op : 'unknown'}`);
    }
  }

  #replace({ path, value }: JsonPatchOperation): void {
    if (path === '') {
      if (typeof value !== 'object' || value === null) throw new JsonPatchError('replace operation value must be object or array');
      this.root = cloneObject(value);
      return;
    }
    const place = this.#place(path);
    get(place);
    if (place.in === 'object') setOwn(place.object, place.key, cloneObject(value ?? null));
    else place.list[indexIn(place.list, place.key)] = cloneObject(value ?? null);
  }

  #move({ from, path }: JsonPatchOperation): void {
    const source = this.#place(from);
    const value = get(source);
    this.#remove(source);
    this.#add(this.#place(path), value ?? null);
  }

  #copy({ from, path }: JsonPatchOperation): void {
    const value = get(this.#place(from)) ?? null;
    const target = this.#place(path);
    this.#copiedBytes += JSON.stringify(value).length;
    if (this.#copiedBytes > maxCopiedBytes)
      throw new JsonPatchError(
        `Unable to complete the copy, the accumulated size increase of copy is ${this.#copiedBytes}, exceeding the limit ${maxCopiedBytes}`,
      );
    this.#add(target, cloneObject(value));
  }

  #add(place: Place, value: unknown): void {
    this.#countShifted(place);
    add(place, value);
  }

  #remove(place: Place): void {
    this.#countShifted(place);
    remove(place);
  }

  /** Ten thousand operations at the start of a list of a million elements would take minutes. */
  #countShifted(place: Place): void {
    if (place.in === 'object' || place.key === '-') return;
    this.#shiftedElements += place.list.length;
    if (this.#shiftedElements > maxShiftedElements) throw new JsonPatchError(`the operations shift more than ${maxShiftedElements} elements of lists`);
  }

  #test({ path, value }: JsonPatchOperation): void {
    const found = path === '' ? this.root : get(this.#place(path));
    if (!sameJson(found ?? null, value ?? null)) throw new JsonPatchError(`testing value ${String(path)} failed: test failed`);
  }

  /** The target of a pointer: everything up to its last segment must exist. */
  #place(pointer: unknown): Place {
    if (typeof pointer !== 'string') throw new JsonPatchError('operation missing path field: missing value');
    const segments = pointer.split('/').map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
    const key = segments.pop();
    // The text before the first slash is ignored.
    if (key === undefined || segments.length === 0) throw missing(pointer);
    let here: unknown = this.root;
    for (const segment of segments.slice(1)) here = get(placeIn(here, segment, pointer));
    return placeIn(here, key, pointer);
  }
}

function placeIn(container: unknown, key: string, pointer: string): Place {
  if (Array.isArray(container)) return { in: 'list', list: container, key };
  if (isJsonObject(container)) return { in: 'object', object: container, key };
  throw missing(pointer);
}

const missing = (pointer: string): JsonPatchError => new JsonPatchError(`doc is missing path: ${JSON.stringify(pointer)}: missing value`);

/** Undefined: an object without this key. */
function get(place: Place): unknown {
  if (place.in === 'object') return Object.hasOwn(place.object, place.key) ? place.object[place.key] : undefined;
  return place.list[indexIn(place.list, place.key)];
}

function add(place: Place, value: unknown): void {
  if (place.in === 'object') setOwn(place.object, place.key, value);
  else if (place.key === '-') place.list.push(value);
  else place.list.splice(indexIn(place.list, place.key, place.list.length + 1), 0, value);
}

function remove(place: Place): void {
  if (place.in === 'list') place.list.splice(indexIn(place.list, place.key), 1);
  else if (!Object.hasOwn(place.object, place.key)) throw new JsonPatchError(`Unable to remove nonexistent key: ${place.key}: missing value`);
  else delete place.object[place.key];
}

/** An index below `length`; a negative one counts from there. */
function indexIn(list: readonly unknown[], key: string, length = list.length): number {
  if (!/^[-+]?[0-9]+$/.test(key)) throw new JsonPatchError(`value was not a proper array index: '${key}'`);
  const index = Number(key);
  if (index >= length || index < -length) throw new JsonPatchError(`Unable to access invalid index: ${index}: invalid index referenced`);
  return index < 0 ? index + length : index;
}

function sameJson(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, index) => sameJson(item, b[index]));
  if (!isJsonObject(a) || !isJsonObject(b)) return a === b;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && sameJson(a[key], b[key]));
}
