/** The last-applied annotation of client-side apply, and its use when kubectl changes to server-side apply. */
import { isJsonObject, setOwn } from '../json.ts';
import { compare } from './compare.ts';
import { typeMismatches } from './check.ts';
import { difference, type FieldSet } from './field-set.ts';
import { fieldsOf } from './fields-of.ts';
import { asMap, type JsonMap, type Shape } from './shape.ts';

export const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration';

/** The manager of kubectl, which uses both ways. */
export const clientOfBoth = 'kubectl';

export function lastAppliedOf(object: JsonMap): string | undefined {
  const annotations = asMap(asMap(object['metadata'])?.['annotations']);
  const text = annotations !== undefined && Object.hasOwn(annotations, lastAppliedAnnotation) ? annotations[lastAppliedAnnotation] : undefined;
  return typeof text === 'string' && text !== '' ? text : undefined;
}

/** The fields that client-side apply set and that are unchanged since: to take them is no conflict. undefined: not known. */
export function allowedByLastApplied(shape: Shape, live: JsonMap, version: string): FieldSet | undefined {
  const last = parsed(lastAppliedOf(live));
  if (last === undefined || last['apiVersion'] !== version) return undefined;
  if (typeMismatches(shape, live).length > 0 || typeMismatches(shape, last).length > 0) return undefined;
  const { removed, modified, added } = compare(shape, last, live);
  return difference(difference(difference(fieldsOf(shape, last), modified), added), removed);
}

function parsed(text: string | undefined): JsonMap | undefined {
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The annotation's value after a server-side apply. */
export function lastAppliedText(applied: JsonMap): string {
  const metadata = asMap(applied['metadata']);
  const annotations = asMap(metadata?.['annotations']);
  if (annotations === undefined) return `${goJson(applied)}\n`;
  const { [lastAppliedAnnotation]: _, ...others } = annotations;
  return `${goJson({ ...applied, metadata: { ...metadata, annotations: others } })}\n`;
}

const escapes: Readonly<Record<string, string>> = { '<': '\\u003c', '>': '\\u003e', '&': '\\u0026', '\u2028': '\\u2028', '\u2029': '\\u2029' };

/** JSON as Go prints a map: keys sorted, HTML characters escaped. */
function goJson(value: unknown): string {
  return JSON.stringify(sorted(value)).replace(/[<>&\u2028\u2029]/g, (char) => escapes[char] ?? char);
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  const map = asMap(value);
  if (map === undefined) return value;
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(map).sort()) setOwn(copy, key, sorted(map[key]));
  return copy;
}
