import { describe, expect, test } from 'vitest';
import { methodOf, parseRequestInfo, requestPath, resourceRequestInfo } from './request-info.ts';

/** 'verb group/version namespace resource/subresource name', or 'verb path'. */
function read(method: string, target: string): string {
  const [path = '', query = ''] = target.split('?');
  const info = parseRequestInfo(method, path, new URLSearchParams(query));
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
    ['POST', '/api/v1/watch/pods', '/v1 [] pods'],
    ['GET', '/api/v1/nodes/a/proxy//metrics/', 'get /v1 [] nodes/proxy a'],
    ['OPTIONS', '*', 'options *'],
  ])('%s %s → %s', (method, target, expected) => {
    expect(read(method, target)).toBe(expected);
  });
});

describe('a hostile path', () => {
  test.each([
    '//api/v1/secrets',
    '/api//v1/secrets',
    '/api/v1//secrets',
    '/api/v1/namespaces//secrets',
    '/api/v1/namespaces//secrets/',
    '/api/v1/namespaces/a//secrets',
    '/api/v1/secrets//',
    '/apis//v1/secrets',
    '/api/v1/namespaces/a/secrets//b',
    '/api/v1/namespaces/a/pods/b//exec',
    '/api/v1/watch//secrets',
    '/api/v1/namespaces/a/namespaces/b',
    '/api/rbac.authorization.k8s.io%2Fv1/clusterroles',
    '/api/apps%2fv1/namespaces/a/deployments',
    '/api/v1/watch/pods%2Fexec',
    '/apis/apps%2Fv1/deployments/a',
    '/api/v1/namespaces/a/pods%2Fexec/b',
    '/api/v1/namespaces/a/pods/b/status%2Fexec',
  ])('%s is no resource', (path) => expect(read('GET', path)).toBe(`get ${path}`));

  test.each([
    ['an encoded slash stays in its segment', '/api/v1/namespaces/a%2Fsecrets/pods', 'list /v1 [a/secrets] pods'],
    ['a double encoding is decoded once', '/api/v1/namespaces/a/pods/%252e%252e', 'get /v1 [a] pods %2e%2e'],
    ['dots are a name', '/api/v1/namespaces/a/../secrets', 'get /v1 [a] .. secrets'],
    ['so are encoded dots', '/api/v1/namespaces/%2e%2e/secrets', 'list /v1 [..] secrets'],
    ['letters may be encoded', '/api/v1/se%63rets', 'list /v1 [] secrets'],
    ['the root too', '/%61pi/v1/secrets', 'list /v1 [] secrets'],
    ['a backslash is a character', '/api/v1/namespaces/a\\..\\b/pods', 'list /v1 [a\\..\\b] pods'],
  ])('%s: %s', (_, path, expected) => expect(read('GET', path)).toBe(expected));

  test('with a broken encoding is refused', () => {
    expect(() => read('GET', '/api/v1/secrets/%zz')).toThrow(expect.objectContaining({ code: 400 }) as Error);
  });
});

describe('a request made from kind and key', () => {
  const pods = { group: '', version: 'v1', plural: 'pods', namespaced: true };
  const deployments = { group: 'apps', version: 'v1', plural: 'deployments', namespaced: true };
  const namespaces = { group: '', version: 'v1', plural: 'namespaces', namespaced: false };
  test.each([
    [resourceRequestInfo('get', pods, { namespace: 'a', name: 'b' }), 'GET /api/v1/namespaces/a/pods/b'],
    [resourceRequestInfo('list', pods, {}), 'GET /api/v1/pods'],
    [resourceRequestInfo('create', pods, { namespace: 'a', name: 'b', subresource: 'binding' }), 'POST /api/v1/namespaces/a/pods/b/binding'],
    [resourceRequestInfo('deletecollection', deployments, { namespace: 'a' }), 'DELETE /apis/apps/v1/namespaces/a/deployments'],
    [resourceRequestInfo('patch', namespaces, { name: 'a' }), 'PATCH /api/v1/namespaces/a'],
    [resourceRequestInfo('update', deployments, { namespace: 'a', name: 'b?c d%' }), 'PUT /apis/apps/v1/namespaces/a/deployments/b%3Fc%20d%25'],
  ])('is the one that its URL says: %j', (info, text) => {
    expect(`${methodOf(info)} ${requestPath(info)}`).toBe(text);
    expect(parseRequestInfo(methodOf(info), requestPath(info), new URLSearchParams())).toEqual(info);
  });

  test('has the name that its field selector says', () => {
    const info = resourceRequestInfo('watch', pods, { fieldSelector: 'metadata.name=a' });
    expect(info).toMatchObject({ name: 'a', fieldSelector: 'metadata.name=a' });
    expect(parseRequestInfo('GET', requestPath(info), new URLSearchParams({ watch: '1', fieldSelector: 'metadata.name=a' }))).toEqual(info);
  });
});
