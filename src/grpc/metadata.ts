import type { Metadata } from './channel.ts';
import { RpcError } from './status.ts';

/** Names that the transport itself sets. */
const reserved = /^(:|grpc-)|^(content-type|te|user-agent|host|connection|keep-alive|proxy-connection|transfer-encoding|upgrade|http2-settings)$/;

/** Throws Internal for what no header can carry. */
export function checkMetadata(metadata: Metadata): void {
  for (const [name, value] of Object.entries(metadata)) {
    if (!/^[0-9a-z_.-]+$/.test(name) || reserved.test(name)) throw new RpcError('Internal', `header key ${JSON.stringify(name)} is reserved or no header name`);
    if (!/^[\x20-\x7e]*$/.test(value)) throw new RpcError('Internal', `header key ${JSON.stringify(name)} contains value with non-printable ASCII characters`);
  }
}

/** The headers of a call, without those of HTTP. Of a repeated header: all values, with commas. */
export function metadataOf(headers: Readonly<Record<string, string | readonly string[] | undefined>>): Metadata {
  const metadata: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined || name.startsWith(':')) continue;
    metadata[name] = typeof value === 'string' ? value : value.join(',');
  }
  return metadata;
}
