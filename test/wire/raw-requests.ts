import fc from 'fast-check';

/** Requests as bytes: of all that a client could send, what is most likely to be read in two ways. Texts are Latin-1: a character is a byte. */

/** Mostly as it should be: a request that is wrong everywhere is refused by the first who looks. */
const mostly = (right: readonly string[], odd: readonly string[]): fc.Arbitrary<string> =>
  fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...right) }, { weight: 1, arbitrary: fc.constantFrom(...odd) });

const line = mostly(['\r\n'], ['\n', '\r', '\r\r\n', '\n\r\n']);

const method = mostly(
  ['GET', 'GET', 'GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
  ['OPTIONS', 'TRACE', 'CONNECT', 'PROPFIND', 'get', 'G\0T', 'PRI', '', 'X'.repeat(300)],
);

const maps = '/api/v1/namespaces/default/configmaps';
const path = mostly(
  [
    maps,
    `${maps}/x`,
    `${maps}/x/status`,
    '/api/v1/configmaps',
    '/apis/apps/v1/namespaces/default/deployments/x/scale',
    '/api/v1/watch/configmaps',
    '/api',
    '/apis',
    '/openapi/v2',
    '/openapi/v3',
    '/healthz',
    '/metrics',
    '/version',
  ],
  [
    '/',
    '//',
    '/api//v1///configmaps',
    '/api/v1/../../healthz',
    '/api/v1/%2e%2e/%2e%2e/healthz',
    '/api/v1/namespaces/%',
    '/api/v1/namespaces/%zz/configmaps',
    '/api/v1/namespaces/%c0%af/configmaps',
    '/api/v1/namespaces/%ed%a0%80/configmaps',
    '/api/v1/namespaces/%00/configmaps',
    '/api/v1/namespaces/a%2fb/configmaps/%252f',
    '/api/v1/namespaces/__proto__/configmaps/constructor',
    '/api/v1/namespaces/\xff\xfe/configmaps',
    '/a b',
    '/#fragment',
    '*',
    'example.com:443',
    'http://example.com/healthz',
    `https://example.com${maps}`,
    'http://[::1/',
    'javascript:alert(1)',
    `/${'x'.repeat(70_000)}`,
    `/api/v1/${'a/'.repeat(2_000)}`,
    '',
  ],
);

const parameters = [
  'watch',
  'allowWatchBookmarks',
  'sendInitialEvents',
  'resourceVersion',
  'resourceVersionMatch',
  'limit',
  'continue',
  'labelSelector',
  'fieldSelector',
  'timeoutSeconds',
  'timeout',
  'pretty',
  'dryRun',
  'fieldManager',
  'fieldValidation',
  'force',
  'gracePeriodSeconds',
  'propagationPolicy',
  'orphanDependents',
  'includeObject',
  'as',
  '',
  '__proto__',
];
const values = [
  'true',
  'false',
  '1',
  '0',
  '-1',
  '99999999999999999999',
  '1e9',
  'NaN',
  'All',
  'NotOlderThan',
  'Exact',
  'Strict',
  'a=b',
  'a in (b,c)',
  'a in (',
  '!',
  'metadata.name=x',
  'metadata.name=',
  '=',
  ',,,',
  'eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MX0',
  '%',
  '%00',
  '%ff',
  '1ns',
  '-5s',
  '1h',
  'Orphan',
  'x'.repeat(300),
  '',
];
const anyQuery = fc
  .array(fc.tuple(fc.constantFrom(...parameters), fc.constantFrom('=', '=', '=', '', '=='), fc.constantFrom(...values)), { maxLength: 4 })
  .map((pairs) => (pairs.length === 0 ? '' : `?${pairs.map((pair) => pair.join('')).join('&')}`));

const query = fc.oneof(fc.constant(''), anyQuery);

const headerLines = [
  'Host: a',
  'Host: a',
  'Host: b',
  'host:',
  'Host : a',
  'Content-Length: 0',
  'Content-Length: 2',
  'Content-Length: 02',
  'Content-Length: 2, 2',
  'Content-Length: +2',
  'Content-Length: -1',
  'Content-Length: 0x2',
  'Content-Length: 99999999999999999999',
  'Content-Length: 5000000',
  'Content-Length:',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: Chunked',
  'Transfer-Encoding:\tchunked',
  'Transfer-Encoding : chunked',
  'Transfer-Encoding: gzip, chunked',
  'Transfer-Encoding: chunked, identity',
  'Transfer-Encoding: xchunked',
  'Transfer-Encoding: chunked\x0b',
  'X: y\r\n Transfer-Encoding: chunked',
  'Connection: close',
  'Connection: keep-alive',
  'Connection: Upgrade, HTTP2-Settings',
  'Connection: transfer-encoding',
  'Connection: \x00',
  'Upgrade: h2c',
  'Upgrade: websocket',
  'Upgrade: SPDY/3.1',
  'HTTP2-Settings: AAMAAABkAAQAAP__',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  'Expect: 100-continue',
  'Expect: 200-ok',
  'TE: trailers',
  'Trailer: Content-Length',
  'Authorization: Bearer x',
  'Authorization: Basic !!!',
  'Authorization: Bearer \xff',
  'Impersonate-User: joe',
  'Impersonate-Group: dev',
  'Impersonate-Extra-%zz: x',
  'Impersonate-Extra-__proto__: x',
  'Accept: */*;q=',
  'Accept: application/json;as=Table;g=meta.k8s.io;v=v1',
  'Accept: application/json;as=Nonsense;g=;v=',
  'Accept: ,;=,',
  'Accept: application/vnd.kubernetes.protobuf',
  'Accept: text/html',
  'Accept-Encoding: gzip;q=0, *',
  'Content-Type: application/json',
  'Content-Type: application/json; charset=\x01',
  'Content-Type: application/vnd.kubernetes.protobuf',
  'Content-Type: application/yaml',
  'Content-Type: application/apply-patch+yaml',
  'Content-Type: application/json-patch+json',
  'Content-Type: ;;;',
  'Content-Encoding: gzip',
  'Audit-Id: a\x7fb',
  `Audit-Id: ${'a'.repeat(300)}`,
  'Mooring-Fence: x',
  'Mooring-Fence: a/b;epoch=1',
  'User-Agent: \xff\xfe',
  `User-Agent: ${'u'.repeat(9_000)}`,
  'X-Forwarded-For: 1.2.3.4, %',
  'no colon',
  ': no name',
  ' begins with a space: x',
  'with\x00nul: x',
  'x: a\x00b',
  'x: a\rb',
  'x: a\nb',
  `x: ${'v'.repeat(70_000)}`,
  'x\xe9: y',
  '__proto__: x',
  'constructor: x',
];
const headerLine = fc.constantFrom(...headerLines);
const harmlessLines = ['Content-Type: application/json', 'Accept: application/json', 'User-Agent: fuzz', 'Connection: keep-alive', 'X-A:\tb '];
const headers = fc.oneof(
  { weight: 12, arbitrary: fc.uniqueArray(fc.constantFrom(...harmlessLines), { maxLength: 3 }) },
  { weight: 12, arbitrary: fc.array(headerLine, { maxLength: 3 }) },
  { weight: 1, arbitrary: headerLine.map((text) => Array.from({ length: 300 }, () => text.slice(0, 100))) },
);

const json = '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"x"}}';
const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;
const bodies = [
  '',
  '{}',
  json,
  'ab',
  `${chunk(json)}0\r\n\r\n`,
  `${chunk('{')}${chunk('}')}0\r\nContent-Length: 5\r\nHost: b\r\n\r\n`,
  `0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: smuggled\r\n\r\n`,
  '2;ext="a\r\nb"\r\n{}\r\n0\r\n\r\n',
  '-2\r\n{}\r\n0\r\n\r\n',
  '0x2\r\n{}\r\n0\r\n\r\n',
  'ffffffffffffffff\r\n{}',
  '10000000000000002\r\n{}\r\n0\r\n\r\n',
  '2\n{}\n0\n\n',
  '2\r\n{}0\r\n\r\n',
  '\x00\x01\x02\xff',
  'k8s\x00\x0a\x05',
];

/** One request, well or ill formed. */
export const rawRequest: fc.Arbitrary<string> = fc
  .record({
    method,
    path,
    query,
    version: mostly(['HTTP/1.1'], ['HTTP/1.0', 'HTTP/2.0', 'HTTP/0.9', 'http/1.1', 'HTTP/1.10', '']),
    space: mostly([' '], ['  ', '\t', '']),
    headers,
    host: fc.integer({ min: 0, max: 9 }),
    announced: fc.boolean(),
    line,
    body: fc.oneof(
      { weight: 10, arbitrary: fc.constant('') },
      { weight: 10, arbitrary: fc.constantFrom(...bodies) },
      { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }).map(toLatin1) },
    ),
  })
  .map((parts) => {
    const lines = [[parts.method, parts.path + parts.query, parts.version].join(parts.space), ...(parts.host > 0 ? ['Host: a'] : []), ...parts.headers];
    if (parts.announced && parts.body !== '') lines.push(`Content-Length: ${parts.body.length}`);
    return lines.map((text) => text + parts.line).join('') + parts.line + parts.body;
  });

function toLatin1(text: string): string {
  return Buffer.from(text).toString('latin1');
}

/** What goes over one connection: requests ahead of their answers, in pieces cut anywhere. */
export const rawConversation: fc.Arbitrary<readonly Buffer[]> = fc
  .record({ requests: fc.array(rawRequest, { minLength: 1, maxLength: 3 }), cuts: fc.array(fc.nat({ max: 400 }), { maxLength: 3 }) })
  .map(({ requests, cuts }) => {
    const bytes = Buffer.from(requests.join(''), 'latin1');
    const places = [...new Set(cuts)].sort((a, b) => a - b).filter((at) => at > 0 && at < bytes.length);
    return [0, ...places].map((at, i) => bytes.subarray(at, places[i] ?? bytes.length));
  });
