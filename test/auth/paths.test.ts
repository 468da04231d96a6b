/** What is authorised is what is served: the reading of a request's path by which it is judged, and the one by which it is answered, never differ. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { kubernetesKinds } from '../../src/api/kinds/index.ts';
import { ApiError } from '../../src/api/status.ts';
import { requestInfo } from '../../src/apiserver/request-info.ts';
import { parseTarget } from '../../src/apiserver/request-target.ts';
import { parseListOptions } from '../../src/apiserver/objects/options.ts';
import { Resources } from '../../src/apiserver/objects/resources.ts';
import { type Route, Router } from '../../src/apiserver/registry/route.ts';

const resources = new Resources(kubernetesKinds);

/** The words of paths, and what people put between them who look for gaps. */
const words = [
  'api apis v1 apps storage.k8s.io namespaces watch proxy a default pods secrets nodes deployments csinodes bindings binding status finalize scale token',
  'serviceaccounts . .. %2e %2F se%63rets %6eamespaces %00 Secrets',
].flatMap((text) => text.split(' '));
const segment = fc.constantFrom('', ' ', ...words);
const common = fc.constantFrom('/api/v1', '/apis/apps/v1', '/apis/storage.k8s.io/v1', '/api/v1/namespaces', '/api/v1/namespaces/a', '/api/v1/watch', '');
const paths = fc
  .tuple(common, fc.array(segment, { minLength: 1, maxLength: 6 }), fc.boolean())
  .map(([start, rest, slash]) => `${start}/${rest.join('/')}${slash ? '/' : ''}`);

function routed(router: Router, path: string): Route | undefined {
  try {
    return router.route(path);
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

test('whatever is served under a path is what was asked for there', () => {
  const router = new Router(resources);
  fc.assert(
    fc.property(paths, (path) => {
      const route = routed(router, path);
      if (route === undefined) return;
      const { resource, namespace, name, subresource } = route;
      const { kind } = resource;
      const info = requestInfo('GET', parseTarget(path));
      const [part = ''] = subresource.split('/');
      const posted = part === 'bindings' && name === '';
      expect(info).toMatchObject({
        type: 'resource',
        group: kind.group,
        version: kind.version,
        resource: posted ? 'bindings' : kind.plural,
        subresource: posted ? '' : part,
        name,
        // A namespace is in itself.
        namespace: kind.plural === 'namespaces' ? name : namespace,
      });
    }),
    { numRuns: 3_000 },
  );
});

test.each([
  '/api/v1/namespaces//secrets',
  '/api/v1//secrets',
  '//api/v1/secrets',
  '/api/v1/namespaces//secrets/',
  '/api/v1/namespaces/a//secrets',
  '/api/v1/secrets//',
])('an empty segment is no path: %s', (path) => expect(routed(new Router(resources), path)).toBeUndefined());

test.each(['', '0', '1', 'true', 'True', 'TRUE', 'false', 'False', 'FALSE', 't', 'f', 'no', 'yes', '2'])(
  'who asks with watch=%s is judged by what they get',
  (value) => {
    const query = new URLSearchParams({ watch: value });
    const info = requestInfo('GET', { path: '/api/v1/secrets', query });
    let watches: boolean;
    try {
      watches = parseListOptions(query, false).watch;
    } catch (error) {
      if (error instanceof ApiError) return;
      throw error;
    }
    expect(info).toMatchObject({ verb: watches ? 'watch' : 'list' });
  },
);
