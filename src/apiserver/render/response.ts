import { mediaTypes, type Rendition, type Target } from './accept.ts';
import { type Body, jsonBody, storedBody, textBody, yamlBody } from './body.ts';
import { listBody } from './list.ts';
import { isList, isNoList, partialMetadata, partialMetadataList } from './metadata-only.ts';
import { protobufOf } from './protobuf.ts';
import type { WholeResponse } from './whole-response.ts';
import { type IncludeObject, type TableOptions, tableOfList, tableOfObject, tableOfPlain } from './table.ts';

/** Renders a response in the form that the client asked for. */
export interface Rendered {
  readonly code: number;
  readonly contentType: string;
  readonly body: Body;
}

export interface RenderOptions {
  readonly rendition: Rendition;
  readonly includeObject: IncludeObject;
  readonly now: number;
}

/** @throws ApiError 406 for what only a list, or only an object, can be shown as. */
export function renderResponse(response: WholeResponse, options: RenderOptions): Rendered | Promise<Rendered> {
  const rendition = possible(response, options.rendition);
  const code = codeOf(response);
  if (rendition.format === 'protobuf') return { code, contentType: mediaTypes.protobuf, body: { type: 'whole', bytes: protobufOf(response, rendition.as) } };
  const body = rendition.as === undefined || response.type === 'status' ? jsonOf(response) : textBody(`${transformed(response, rendition.as, options)}\n`);
  if (rendition.format === 'json' && !rendition.pretty) return { code, contentType: mediaTypes.json, body };
  return rewritten(body, rendition).then((rewrittenBody) => ({ code, contentType: mediaTypes[rendition.format], body: rewrittenBody }));
}

/** What was defined at run time has no form in protobuf: clients that prefer that take JSON as well. */
function possible(response: WholeResponse, rendition: Rendition): Rendition {
  if (rendition.format !== 'protobuf' || rendition.as !== undefined) return rendition;
  const isCustom = (response.type === 'object' || response.type === 'list') && response.kind.custom !== undefined;
  return isCustom ? { ...rendition, format: 'json' } : rendition;
}

function codeOf(response: WholeResponse): number {
  switch (response.type) {
    case 'object':
    case 'plain':
      return response.code;
    case 'list':
      return 200;
    case 'status':
      return response.status.code;
  }
}

/** Mostly bytes that exist already. */
function jsonOf(response: WholeResponse): Body {
  switch (response.type) {
    case 'object':
      return storedBody(response.stored);
    case 'list':
      return listBody(response.kind, response.items, response.metadata);
    case 'status':
      return jsonBody(response.status, false);
    case 'plain':
      return jsonBody(response.object, false);
  }
}

type Transformable = Exclude<WholeResponse, { type: 'status' }>;

function transformed(response: Transformable, as: Target, options: RenderOptions): string {
  if (as.kind === 'Table') return tableOf(response, { as, includeObject: options.includeObject, now: options.now, headers: true });
  if (response.type === 'list') {
    if (as.kind === 'PartialObjectMetadata') throw isList(response.kind.kind);
    const objects = response.items.map((item) => item.object);
    return JSON.stringify(partialMetadataList(objects, response.metadata, as));
  }
  const object = response.type === 'object' ? response.stored.object : response.object;
  if (as.kind === 'PartialObjectMetadataList') throw isNoList(object.kind);
  return JSON.stringify(partialMetadata(object, as));
}

function tableOf(response: Transformable, options: TableOptions): string {
  switch (response.type) {
    case 'object':
      return tableOfObject(response.kind, response.stored, options);
    case 'list':
      return tableOfList(response.kind, response.items, { metadata: response.metadata, options });
    case 'plain':
      return tableOfPlain(response.object, options);
  }
}

/** Indented JSON, or YAML: for people, so speed does not matter. */
async function rewritten(body: Body, rendition: Rendition): Promise<Body> {
  const value: unknown = JSON.parse(Buffer.concat(body.type === 'whole' ? [body.bytes] : [...body.pieces]).toString());
  return rendition.format === 'yaml' ? yamlBody(value) : jsonBody(value, true);
}
