import { encodeProtobuf } from '../../api/protobuf/index.ts';
import type { Status } from '../../api/status.ts';
import { mediaTypes } from './accept.ts';
import { jsonBody, textBody, yamlBody } from './body.ts';
import type { Rendered } from './response.ts';
import { negotiatePlain } from './targets.ts';

/**
 * A failure, in a form that the client accepts. One whose Accept header cannot be met is told in JSON all the same: what
 * went wrong matters more than how it is written.
 */
export function renderStatus(status: Status, accept: string | undefined, pretty: boolean): Rendered | Promise<Rendered> {
  const { code } = status;
  const rendition = negotiatePlain(accept);
  if (rendition === undefined) return { code, contentType: mediaTypes.json, body: textBody(JSON.stringify(status, undefined, 2)) };
  if (rendition.format === 'protobuf') return { code, contentType: mediaTypes.protobuf, body: { type: 'whole', bytes: encodeProtobuf(status) } };
  if (rendition.format === 'yaml') return yamlBody(status).then((body) => ({ code, contentType: mediaTypes.yaml, body }));
  return { code, contentType: mediaTypes.json, body: jsonBody(status, pretty || rendition.pretty) };
}
