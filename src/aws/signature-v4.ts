/** AWS Signature Version 4, of requests without a query: what EC2's clients send and its endpoint checks. */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

export interface SignedRequest {
  readonly method: string;
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Scope {
  /** '20261117' */
  readonly date: string;
  readonly region: string;
  readonly service: string;
}

export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

const algorithm = 'AWS4-HMAC-SHA256';
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/** In hexadecimal. `signed`: the names of the signed headers, sorted. */
function signatureOf(request: SignedRequest, { scope, signed, secretAccessKey }: { scope: Scope; signed: readonly string[]; secretAccessKey: string }): string {
  const { method, path, headers, body } = request;
  const lines = signed.map((name) => `${name}:${(headers[name] ?? '').trim().replace(/ +/g, ' ')}\n`);
  const canonical = [method, path, '', lines.join(''), signed.join(';'), sha256(body)].join('\n');
  const scopeText = `${scope.date}/${scope.region}/${scope.service}/aws4_request`;
  const text = [algorithm, headers['x-amz-date'] ?? '', scopeText, sha256(canonical)].join('\n');
  const key = [scope.region, scope.service, 'aws4_request'].reduce((last: Buffer, part) => hmac(last, part), hmac(`AWS4${secretAccessKey}`, scope.date));
  return hmac(key, text).toString('hex');
}

/** The headers with `x-amz-date` and `authorization`. `now`: milliseconds since 1970. */
export function signRequest(
  request: SignedRequest,
  { credentials, region, service, now }: { readonly credentials: Credentials; readonly region: string; readonly service: string; readonly now: number },
): Readonly<Record<string, string>> {
  const time = new Date(now).toISOString().replace(/[-:]|\.\d{3}/g, '');
  const { accessKeyId, secretAccessKey, sessionToken } = credentials;
  const headers = { ...request.headers, 'x-amz-date': time, ...(sessionToken === undefined ? {} : { 'x-amz-security-token': sessionToken }) };
  const signed = Object.keys(headers).sort();
  const scope = { date: time.slice(0, 8), region, service };
  const signature = signatureOf({ ...request, headers }, { scope, signed, secretAccessKey });
  const credential = `${accessKeyId}/${scope.date}/${region}/${service}/aws4_request`;
  return { ...headers, authorization: `${algorithm} Credential=${credential}, SignedHeaders=${signed.join(';')}, Signature=${signature}` };
}

export interface Authorization {
  readonly accessKeyId: string;
  readonly scope: Scope;
  readonly signed: readonly string[];
  readonly signature: string;
}

/** Undefined: the header is missing or no signature of this version. */
export function parseAuthorization(header: string | undefined): Authorization | undefined {
  const found =
    /^AWS4-HMAC-SHA256 Credential=([^/,\s]+)\/(\d{8})\/([a-z0-9-]+)\/([a-z0-9-]+)\/aws4_request,\s*SignedHeaders=([a-z0-9;-]+),\s*Signature=([0-9a-f]{64})$/.exec(
      header ?? '',
    );
  if (found === null) return undefined;
  const [, accessKeyId = '', date = '', region = '', service = '', signed = '', signature = ''] = found;
  return { accessKeyId, scope: { date, region, service }, signed: signed.split(';'), signature };
}

/** Whether the request was signed with the secret. Everything that the signature covers has to be there: at least the host and the time. */
export function isSignedWith(secretAccessKey: string, request: SignedRequest, { scope, signed, signature }: Authorization): boolean {
  if (!signed.includes('host') || !signed.includes('x-amz-date')) return false;
  return timingSafeEqual(Buffer.from(signatureOf(request, { scope, signed, secretAccessKey })), Buffer.from(signature));
}
