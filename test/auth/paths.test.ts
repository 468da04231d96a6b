/** What is authorised is what is served: dispatch reads the same RequestInfo as the authorizer, and adds nothing to it. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { kubernetesKinds } from '../../src/api/kinds/index.ts';
import { methodOf, parseRequestInfo, type RequestInfo, requestPath } from '../../src/api/request-info.ts';
import { ApiError } from '../../src/api/status.ts';
import { apiVersionOf } from '../../src/api/kind.ts';
import { Resources } from '../../src/apiserver/objects/resources.ts';
import { type Route, routeOf } from '../../src/apiserver/registry/route.ts';

const resources = new Resources(kubernetesKinds);

/** The words of paths, and what people put between them who look for gaps. */
const words = [
  'api apis v1 apps storage.k8s.io namespaces watch proxy a default pods secrets nodes deployments csinodes bindings binding status finalize scale token',
  'serviceaccounts . .. %2e %2F se%63rets %6eamespaces %00 Secrets pods%2Fstatus',
].flatMap((text) => text.split(' '));
const segment = fc.constantFrom('', ' ', ...words);
const common = fc.constantFrom(
  '/api/v1',
  '/apis/apps/v1',
  '/apis/storage.k8s.io/v1',
  '/api/v1/namespaces',
  '/api/v1/namespaces/a',
  '/api/v1/watch',
  '/api/apps%2Fv1',
  '',
);
const paths = fc
  .tuple(common, fc.array(segment, { minLength: 1, maxLength: 6 }), fc.boolean())
  .map(([start, rest, slash]) => `${start}/${rest.join('/')}${slash ? '/' : ''}`);

const methods = fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE');
const noQuery = new URLSearchParams();

function parsed(method: string, path: string): RequestInfo | undefined {
  try {
    return parseRequestInfo(method, path, noQuery);
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

function routed(info: RequestInfo | undefined): Route | undefined {
  if (info?.type !== 'resource') return undefined;
  const resource = resources.find(apiVersionOf(info), info.resource);
  try {
    return resource === undefined ? undefined : routeOf(info, resource);
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

test('a request is dispatched to the object that it was authorised for', () => {
  fc.assert(
    fc.property(methods, paths, (method, path) => {
      const info = parsed(method, path);
      const route = routed(info);
      if (route === undefined) return;
      const { resource, namespace, name, subresource } = route;
      const { kind } = resource;
      expect(info).toMatchObject({
        group: kind.group,
        version: kind.version,
        resource: kind.plural,
        subresource,
        name,
        // A Namespace is in itself.
        namespace: kind.plural === 'namespaces' ? name : namespace,
      });
      expect(kind.namespaced || kind.plural === 'namespaces' || namespace === '').toBe(true);
      for (const part of [namespace, name]) expect(part).not.toMatch(/[/%]|^\.\.?$/);
    }),
    { numRuns: 3_000 },
  );
});

test('no segment of a request for a resource is empty, and its URL means the same again', () => {
  fc.assert(
    fc.property(methods, paths, (method, path) => {
      const info = parsed(method, path);
      if (info?.type !== 'resource' || info.verb === '') return;
      const { subpath = '', ...rest } = info;
      if (info.subresource === '') expect(path.replace(/\/$/, '').slice(1).split('/')).not.toContain('');
      // Roots are not encoded, names are.
      if ([info.group, info.version, info.resource, info.subresource].some((part) => encodeURIComponent(part) !== part)) return;
      if (methodOf(info) === method && !(method === 'POST' && info.name !== '' && info.subresource === '')) {
        expect(parsed(method, requestPath(info))).toEqual(subpath === '' ? rest : info);
      }
    }),
    { numRuns: 3_000 },
  );
});
