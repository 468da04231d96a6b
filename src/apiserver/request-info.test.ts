import { describe, expect, test } from 'vitest';
import { requestInfo } from './request-info.ts';
import { parseTarget, requestedTimeout } from './request-target.ts';

/** 'verb group/version namespace resource/subresource name', or 'verb path'. */
function read(method: string, target: string): string {
  const info = requestInfo(method, parseTarget(target));
  if (info.type === 'path') return `${info.verb} ${info.path}`;
  const { verb, group, version, namespace, resource, subresource, name } = info;
  return [verb, `${group}/${version}`, `[${namespace}]`, subresource === '' ? resource : `${resource}/${subresource}`, name].join(' ').trim();
}

describe('what a request asks for', () => {
  test.each([
    ['GET', '/', 'get /'],
    ['GET', '/api', 'get /api'],
    ['GET', '/api/v1', 'get /api/v1'],
    ['GET', '/apis/apps', 'get /apis/apps'],
    ['GET', '/apis/apps/v1', 'get /apis/apps/v1'],
    ['POST', '/healthz', 'post /healthz'],
    ['GET', '/api/v1/namespaces', 'list /v1 [] namespaces'],
    ['GET', '/api/v1/namespaces/a', 'get /v1 [a] namespaces a'],
    ['PUT', '/api/v1/namespaces/a/finalize', 'update /v1 [a] namespaces/finalize a'],
    ['PATCH', '/api/v1/namespaces/a/status', 'patch /v1 [a] namespaces/status a'],
    ['GET', '/api/v1/namespaces/a/pods', 'list /v1 [a] pods'],
    ['GET', '/api/v1/namespaces/a/pods/', 'list /v1 [a] pods'],
    ['GET', '/api/v1/namespaces/a/pods/b', 'get /v1 [a] pods b'],
    ['HEAD', '/api/v1/namespaces/a/pods/b', 'get /v1 [a] pods b'],
    ['GET', '/api/v1/namespaces/a/pods/b/log', 'get /v1 [a] pods/log b'],
    ['POST', '/api/v1/namespaces/a/pods', 'create /v1 [a] pods'],
    ['DELETE', '/api/v1/namespaces/a/pods', 'deletecollection /v1 [a] pods'],
    ['DELETE', '/api/v1/namespaces/a/pods/b', 'delete /v1 [a] pods b'],
    ['GET', '/api/v1/pods', 'list /v1 [] pods'],
    ['GET', '/api/v1/pods?watch=true', 'watch /v1 [] pods'],
    ['GET', '/api/v1/pods?watch=1', 'watch /v1 [] pods'],
    ['GET', '/api/v1/pods?watch=0', 'list /v1 [] pods'],
    ['GET', '/api/v1/pods?watch=False', 'list /v1 [] pods'],
    ['GET', '/api/v1/pods?watch=', 'watch /v1 [] pods'],
    ['GET', '/api/v1/watch/namespaces/a/pods', 'watch /v1 [a] pods'],
    ['GET', '/api/v1/watch/namespaces/a/pods/b', 'watch /v1 [a] pods b'],
    ['GET', '/api/v1/watch/nodes', 'watch /v1 [] nodes'],
    ['GET', '/apis/apps/v1/namespaces/a/deployments/b/scale', 'get apps/v1 [a] deployments/scale b'],
    ['GET', '/api/v1/nodes/a%2Fb', 'get /v1 [] nodes a/b'],
    ['GET', '/api/v1/nodes?fieldSelector=metadata.name%3Dn1', 'list /v1 [] nodes n1'],
    ['GET', '/api/v1/nodes?watch=1&fieldSelector=metadata.name==n1,spec.x=y', 'watch /v1 [] nodes n1'],
    ['GET', '/api/v1/nodes?fieldSelector=metadata.name!=n1', 'list /v1 [] nodes'],
    ['OPTIONS', '/api/v1/nodes', '/v1 [] nodes'],
    ['GET', '//api//v1//pods', 'list /v1 [] pods'],
    ['GET', 'http://host/api/v1/pods?watch=1', 'watch /v1 [] pods'],
    ['OPTIONS', '*', 'options *'],
  ])('%s %s → %s', (method, target, expected) => {
    expect(read(method, target)).toBe(expected);
  });

  test.each(['', 'nonsense', 'api/v1/pods'])('%j is no target', (target) => {
    expect(() => parseTarget(target)).toThrow(expect.objectContaining({ code: 400 }) as Error);
  });
});

describe('how long a client waits', () => {
  test.each([
    ['', 0],
    ['timeout=', 0],
    ['timeout=0', 0],
    ['timeout=32s', 32_000],
    ['timeout=1m30s', 90_000],
    ['timeout=1.5h', 5_400_000],
    ['timeout=250ms', 250],
    ['timeout=-5s', 0],
  ])('%j → %d ms', (query, ms) => {
    expect(requestedTimeout(new URLSearchParams(query))).toBe(ms);
  });

  test.each([
    ['soon', 'time: invalid duration "soon"'],
    ['5', 'time: missing unit in duration "5"'],
    ['5x', 'time: unknown unit "x" in duration "5x"'],
    ['5s!', 'time: unknown unit "s!" in duration "5s!"'],
  ])('%j is none', (value, problem) => {
    expect(() => requestedTimeout(new URLSearchParams({ timeout: value }))).toThrow(`invalid timeout specified in the request URL - ${problem}`);
  });
});
