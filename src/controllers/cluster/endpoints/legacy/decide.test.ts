import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Endpoints, Pod, Service } from '../../../../api/generated/types.ts';
import type { Stored } from '../../../../api/stored.ts';
import { pod, service } from '../samples.ts';
import type { EndpointsAction } from './actions.ts';
import { decideEndpoints, type EndpointsSnapshot } from './decide.ts';

type Served = Extract<EndpointsSnapshot, { state: 'served' }>;
const seen = (of: Stored<Service>, pods: readonly Stored<Pod>[], endpoints?: Stored<Endpoints>): Served => ({
  state: 'served',
  service: of,
  pods,
  endpoints,
  times: undefined,
});

const stored = (of: Endpoints): Stored<Endpoints> => ({ ...of, metadata: { name: 'web', uid: 'e1', resourceVersion: '1', ...of.metadata } });

function after(snapshot: Served, actions: readonly EndpointsAction[] = decideEndpoints(snapshot).actions): Served {
  return actions.reduce(
    (state, action): Served =>
      action.do === 'remember' ? { ...state, times: action.times } : { ...state, endpoints: action.do === 'delete' ? undefined : stored(action.object) },
    snapshot,
  );
}
const writes = (snapshot: EndpointsSnapshot) => decideEndpoints(snapshot).actions.filter((action) => action.do !== 'remember');
/** '10.0.0.1,10.0.0.2 (10.0.0.3) http:8080' for each subset: addresses in brackets are not ready. */
const brief = (snapshot: Served) =>
  (after(snapshot).endpoints?.subsets ?? []).map(({ addresses = [], notReadyAddresses = [], ports = [] }) => {
    const unready = notReadyAddresses.length === 0 ? '' : ` (${notReadyAddresses.map(({ ip }) => ip).join(',')})`;
    return `${addresses.map(({ ip }) => ip).join(',')}${unready} ${ports.map(({ name = '', port }) => `${name}:${port}`).join(',')}`.trim();
  });

describe('the endpoints of a service', () => {
  test('name its pods, and have its labels and the managed-by label', () => {
    const named = pod('a', { spec: { hostname: 'a', subdomain: 'web' } });
    expect(after(seen(service({ clusterIP: 'None' }, { labels: { team: 'x' } }), [named])).endpoints).toEqual({
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata: {
        namespace: 'team',
        name: 'web',
        uid: 'e1',
        resourceVersion: '1',
        labels: { team: 'x', 'service.kubernetes.io/headless': '', 'endpoints.kubernetes.io/managed-by': 'endpoint-controller' },
        annotations: { 'endpoints.kubernetes.io/last-change-trigger-time': '2026-01-01T00:00:00Z' },
      },
      subsets: [
        {
          addresses: [{ ip: '10.0.0.1', hostname: 'a', nodeName: 'n1', targetRef: { kind: 'Pod', namespace: 'team', name: 'a', uid: 'uid-a' } }],
          ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
        },
      ],
    });
  });

  const two = [
    { name: 'http', protocol: 'TCP', port: 80, targetPort: 8080 },
    { name: 'web', protocol: 'TCP', port: 81, targetPort: 'web' },
  ];
  const offering = {
    spec: { containers: [{ name: 'c', image: 'i', resources: {}, ports: [{ name: 'web', containerPort: 9090, protocol: 'TCP' }] }] as never },
  };
  test.each<[string, Partial<Service['spec']>, readonly Stored<Pod>[], readonly string[]]>([
    ['tell who is ready', {}, [pod('b'), pod('a'), pod('c', { ready: false })], ['10.0.0.1,10.0.0.2 (10.0.0.3) http:8080']],
    ['take all for ready if asked to', { publishNotReadyAddresses: true }, [pod('a', { ready: false, terminating: true })], ['10.0.0.1 http:8080']],
    ['leave out who goes', {}, [pod('a', { terminating: true }), pod('b', { phase: 'Failed' })], []],
    ['are empty without pods', {}, [], []],
    ['may be without ports if there is no address either', { ports: [], clusterIP: 'None' }, [pod('a')], ['10.0.0.1']],
    ['are none without ports', { ports: [] }, [pod('a')], []],
    ['have subsets for those that offer other ports', { ports: two }, [pod('a'), pod('b', offering)], ['10.0.0.2 web:9090', '10.0.0.1,10.0.0.2 http:8080']],
    ['have one subset for those that offer the same', { ports: two }, [pod('a', offering), pod('b', offering)], ['10.0.0.1,10.0.0.2 web:9090,http:8080']],
    ['are of the first family', { ipFamilies: ['IPv6', 'IPv4'] }, [pod('a', { ips: ['10.0.0.1', '2001:DB8:0::1'] })], ['2001:db8::1 http:8080']],
  ])('%s', (_, spec, pods, expected) => expect(brief(seen(service(spec), pods)).sort()).toEqual([...expected].sort()));

  test('are a thousand at most, those that are ready first', () => {
    const many = (count: number, from: number, ready: boolean) =>
      Array.from({ length: count }, (_, i) => pod(`p${from + i}`, { ips: [`10.${(from + i) >> 8}.${(from + i) & 255}.1`], ready }));
    const crowded = after(seen(service(), [...many(900, 0, true), ...many(300, 900, false)]));
    expect(crowded.endpoints?.subsets?.[0]).toMatchObject({ addresses: { length: 900 }, notReadyAddresses: { length: 100 } });
    expect(crowded.endpoints?.metadata.annotations).toMatchObject({ 'endpoints.kubernetes.io/over-capacity': 'truncated' });
    expect(writes(crowded)).toEqual([]);
    const full = after(seen(service(), [...many(1_100, 0, true), ...many(10, 1_100, false)]));
    expect(full.endpoints?.subsets?.[0]).toMatchObject({ addresses: { length: 1000 } });
    expect(full.endpoints?.subsets?.[0]).not.toHaveProperty('notReadyAddresses');
    const relieved = after({ ...full, pods: many(5, 0, true) });
    expect(relieved.endpoints?.metadata.annotations ?? {}).not.toHaveProperty(['endpoints.kubernetes.io/over-capacity']);
  });

  test('are deleted with their service, and left alone if it has no selector', () => {
    const { endpoints } = after(seen(service(), [pod('a')]));
    if (endpoints === undefined) throw new Error('none');
    expect(writes({ state: 'orphaned', endpoints })).toEqual([{ do: 'delete', object: endpoints }]);
    const { selector: _, ...spec } = service().spec;
    expect(decideEndpoints(seen({ ...service(), spec }, [], endpoints)).actions).toEqual([]);
    expect(decideEndpoints(seen(service({ type: 'ExternalName' }), [], endpoints)).actions).toEqual([]);
  });

  test('are written again for other labels, but not for an irrelevant change', () => {
    const before = after(seen(service(), [pod('a')]));
    expect(writes({ ...before, pods: [pod('a', { spec: { priority: 7 } })] })).toEqual([]);
    expect(writes({ ...before, service: service({}, { labels: { a: 'b' } }) })).toHaveLength(1);
  });
});

describe('for any snapshot', () => {
  const pods = fc.uniqueArray(
    fc.record({
      name: fc.constantFrom('a', 'b', 'c', 'd'),
      ready: fc.boolean(),
      terminating: fc.boolean(),
      ips: fc.constantFrom([], ['10.0.0.9'], ['10.0.0.8']),
    }),
    {
      selector: ({ name }) => name,
    },
  );
  const podsOf = (all: typeof pods extends fc.Arbitrary<infer P> ? P : never) => all.map(({ name, ...wanted }) => pod(name, wanted));

  test('it settles, a crash changes nothing, and equal snapshots give equal decisions', () => {
    fc.assert(
      fc.property(fc.boolean(), pods, pods, fc.nat(2), (publishNotReadyAddresses, first, second, count) => {
        const start = after(seen(service({ publishNotReadyAddresses }), podsOf(first)));
        const next = { ...start, pods: podsOf(second) };
        expect(decideEndpoints(next)).toEqual(decideEndpoints(next));
        expect(decideEndpoints(after(next)).actions).toEqual([]);
        const some = after(next, decideEndpoints(next).actions.slice(0, count));
        expect(after(some).endpoints?.subsets).toEqual(after(next).endpoints?.subsets);
      }),
    );
  });

  test('the contents do not depend on the earlier endpoints', () => {
    fc.assert(
      fc.property(pods, pods, (first, second) => {
        const start = after(seen(service(), podsOf(first)));
        expect(after({ ...start, pods: podsOf(second) }).endpoints?.subsets).toEqual(after(seen(service(), podsOf(second))).endpoints?.subsets);
      }),
    );
  });
});
