import { isJsonObject, readJson } from '../../api/json.ts';
import { decodeProtobuf } from '../../api/protobuf/index.ts';
import { readYaml } from '../../api/yaml.ts';
import type { RequestBody } from '../api.ts';
import type { Body } from '../render/body.ts';
import { renderResponse } from '../render/response.ts';
import type { WholeResponse } from '../render/whole-response.ts';
import type { RenderOptions } from '../render/response.ts';

/** The decoded body of a request; undefined: it cannot be decoded. */
export function bodyValue(body: RequestBody): unknown {
  if (body.type === 'none') return undefined;
  if (body.type === 'object') return body.object;
  try {
    if (body.contentType === 'application/vnd.kubernetes.protobuf') return decodeProtobuf(body.bytes);
    // JSON is YAML, but is parsed much faster as JSON.
    return body.contentType.includes('yaml') && body.bytes[0] !== openBrace ? readYaml(body.bytes).value : readJson(body.bytes).value;
  } catch {
    // The registry refuses it with a better message.
    return undefined;
  }
}

const openBrace = 0x7b;

/** A response as one line of JSON, in the form (a Table, metadata alone) that its client asked for. @throws ApiError 406 */
export async function responseText(response: WholeResponse, { rendition, includeObject, now }: RenderOptions): Promise<string> {
  const { body } = await renderResponse(response, { rendition: { ...rendition, format: 'json', pretty: false }, includeObject, now });
  return textOf(body).trimEnd();
}

const textOf = (body: Body): string => (body.type === 'whole' ? Buffer.from(body.bytes) : Buffer.concat([...body.pieces])).toString();

/** The same without managedFields, of an object, of the items of a list or of the rows of a table. */
export function withoutManagedFields(value: unknown): unknown {
  if (!isJsonObject(value)) return value;
  const { items, rows, metadata } = value;
  return {
    ...value,
    ...(isJsonObject(metadata) && 'managedFields' in metadata ? { metadata: { ...metadata, managedFields: undefined } } : {}),
    ...(Array.isArray(items) ? { items: items.map(withoutManagedFields) } : {}),
    ...(Array.isArray(rows) ? { rows: rows.map((row) => (isJsonObject(row) ? { ...row, object: withoutManagedFields(row['object']) } : row)) } : {}),
  };
}
