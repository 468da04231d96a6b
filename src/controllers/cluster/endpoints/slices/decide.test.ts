import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { EndpointSlice, Pod, Service } from '../../../../api/generated/types.ts';
import type { Stored } from '../../../../api/stored.ts';
import { pod, service } from '../samples.ts';
import type { TriggerTimes } from '../trigger-times.ts';
import { triggerTimesOf } from '../trigger-times.ts';
import type { EndpointSliceAction } from './actions.ts';
import { decideSlices, type EndpointSliceSnapshot } from './decide.ts';
import { endpointsPerSlice } from './fill.ts';

const zones: Readonly<Record<string, string | undefined>> = { n1: 'zone-a', n2: 'zone-b', bare: undefined };
const zoneOf = (node: string) => (Object.hasOwn(zones, node) ? { zone: zones[node] } : undefined);

const seen = (
  of: Stored<Service>,
  pods: readonly Stored<Pod>[],
  slices: readonly Stored<EndpointSlice>[] = [],
  times?: TriggerTimes,
): EndpointSliceSnapshot => ({
  service: of,
  pods,
  slices,
  zoneOf,
  times,
  recorded: undefined,
});

let made = 0;
/** The slice as the server stores it. */
const stored = (slice: EndpointSlice): Stored<EndpointSlice> => ({
  ...slice,
  metadata: {
    ...slice.metadata,
    name: slice.metadata.name ?? `${slice.metadata.generateName ?? ''}${++made}`,
    uid: slice.metadata.uid ?? `u${made}`,
    resourceVersion: '1',
  },
});

function after(snapshot: EndpointSliceSnapshot, actions: readonly EndpointSliceAction[] = decideSlices(snapshot).actions): EndpointSliceSnapshot {
  let { slices, times } = snapshot;
  for (const action of actions) {
    switch (action.do) {
      case 'create':
        slices = [...slices, stored(action.object)];
        break;
      case 'update':
        slices = slices.map((slice) => (slice.metadata.name === action.object.metadata.name ? stored(action.object) : slice));
        break;
      case 'delete':
        slices = slices.filter((slice) => slice.metadata.name !== action.object.metadata.name);
        break;
      case 'remember':
        times = action.times;
        break;
      default:
        break;
    }
  }
  return { ...snapshot, slices, times };
}

const writes = (snapshot: EndpointSliceSnapshot) => decideSlices(snapshot).actions.filter((action) => action.do !== 'remember' && action.do !== 'recordEvent');
const only = (snapshot: EndpointSliceSnapshot): Stored<EndpointSlice> => {
  const [slice, another] = after(snapshot).slices;
  if (slice === undefined || another !== undefined) throw new Error(`${after(snapshot).slices.length} slices`);
  return slice;
};
/** 'a ready', 'b serving terminating'; sorted. */
const endpoints = ({ slices }: EndpointSliceSnapshot) =>
  slices
    .flatMap((slice) => slice.endpoints ?? [])
    .map(({ targetRef, conditions }) => [targetRef?.name ?? '', ...Object.entries(conditions).flatMap(([name, is]) => (is === true ? [name] : []))].join(' '))
    .sort();

describe('a service with pods', () => {
  test('has a slice with all their data', () => {
    expect(only(seen(service({}, { labels: { team: 'x', 'service.kubernetes.io/headless': 'no' } }), [pod('a')]))).toMatchObject({
      addressType: 'IPv4',
      metadata: {
        namespace: 'team',
        generateName: 'web-',
        labels: { team: 'x', 'kubernetes.io/service-name': 'web', 'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io' },
        annotations: { 'endpoints.kubernetes.io/last-change-trigger-time': '2026-01-01T00:00:00Z' },
        ownerReferences: [{ apiVersion: 'v1', kind: 'Service', name: 'web', uid: 's1', controller: true, blockOwnerDeletion: true }],
      },
      ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
      endpoints: [
        {
          addresses: ['10.0.0.1'],
          conditions: { ready: true, serving: true, terminating: false },
          targetRef: { kind: 'Pod', namespace: 'team', name: 'a', uid: 'uid-a' },
          nodeName: 'n1',
          zone: 'zone-a',
        },
      ],
    });
  });

  test.each<[string, Partial<Service['spec']>, Stored<Pod>, string[]]>([
    ['that is not ready is there', {}, pod('a', { ready: false }), ['a']],
    ['that is not ready is published if asked for', { publishNotReadyAddresses: true }, pod('a', { ready: false }), ['a ready']],
    ['that goes still serves', {}, pod('a', { terminating: true }), ['a serving terminating']],
    ['that goes is published if asked for', { publishNotReadyAddresses: true }, pod('a', { terminating: true, ready: false }), ['a ready terminating']],
    ['that has ended is not there', {}, pod('a', { phase: 'Succeeded' }), []],
    ['without address is not there', {}, pod('a', { ips: [] }), []],
    ['on an unknown node is left out', {}, pod('a', { node: 'nowhere' }), []],
    ['on an unknown node is published with publishNotReadyAddresses', { publishNotReadyAddresses: true }, pod('a', { node: 'nowhere' }), ['a ready serving']],
  ])('a pod %s', (_, spec, of, expected) => expect(endpoints(after(seen(service(spec), [of])))).toEqual(expected));

  test('records an event about left-out pods, once', () => {
    const snapshot = seen(service(), [pod('a', { node: 'nowhere' })]);
    const message = 'Error updating Endpoint Slices for Service team/web: skipping Pod a for Service team/web: Node nowhere Not Found';
    expect(decideSlices(snapshot).actions).toContainEqual(
      expect.objectContaining({
        do: 'recordEvent',
        event: expect.objectContaining({ type: 'Warning', reason: 'FailedToUpdateEndpointSlices', message }) as unknown,
      }),
    );
    expect(decideSlices({ ...snapshot, recorded: message }).actions.map((action) => action.do)).not.toContain('recordEvent');
  });

  test('has hostnames of pods in its subdomain, and the headless label without cluster IP', () => {
    const headless = service({ clusterIP: 'None' });
    const named = pod('a', { spec: { hostname: 'a', subdomain: 'web' } });
    const elsewhere = pod('b', { spec: { hostname: 'b', subdomain: 'other' } });
    const slice = only(seen(headless, [named, elsewhere]));
    expect((slice.endpoints ?? []).map(({ hostname }) => hostname)).toEqual(['a', undefined]);
    expect(slice.metadata.labels).toHaveProperty(['service.kubernetes.io/headless'], '');
  });

  test('finds ports by name, in sidecars too; pods with other ports get another slice', () => {
    const byName = service({ ports: [{ name: 'http', port: 80, protocol: 'TCP', targetPort: 'web' }] });
    const listening = (containerPort: number, protocol = 'TCP') =>
      [{ name: 'c', image: 'i', resources: {}, ports: [{ name: 'web', containerPort, protocol }] }] as never;
    const pods = [
      pod('a', { spec: { containers: listening(8080) } }),
      pod('b', { spec: { containers: listening(9090) } }),
      pod('c', { spec: { initContainers: [{ ...(listening(8080)[0] as object), restartPolicy: 'Always' }] as never } }),
      pod('d', { spec: { containers: listening(53, 'UDP') } }),
    ];
    const { slices } = after(seen(byName, pods));
    expect(slices.map(({ ports, endpoints: all }) => [ports?.[0]?.port, (all ?? []).map(({ targetRef }) => targetRef?.name).join('')])).toEqual([
      [8080, 'ac'],
      [9090, 'b'],
      [undefined, 'd'],
    ]);
  });

  test('with two IP families has a slice for each', () => {
    const { slices } = after(seen(service({ ipFamilies: ['IPv6', 'IPv4'] }), [pod('a', { ips: ['10.0.0.01', '2001:DB8::1'] })]));
    expect(slices.map(({ addressType, endpoints: all }) => [addressType, all?.[0]?.addresses])).toEqual([
      ['IPv4', ['10.0.0.1']],
      ['IPv6', ['2001:db8::1']],
    ]);
    const narrowed = { ...seen(service(), [pod('a')]), slices };
    expect(after(narrowed).slices.map(({ addressType }) => addressType)).toEqual(['IPv4']);
  });
});

describe('slices', () => {
  const names = (count: number) => Array.from({ length: count }, (_, i) => `p${String(i).padStart(3, '0')}`);
  const many = (count: number) => names(count).map((name, i) => pod(name, { ips: [`10.1.${i >> 8}.${i & 255}`] }));

  test('hold a hundred endpoints each', () => {
    expect(after(seen(service(), many(250))).slices.map((slice) => slice.endpoints?.length)).toEqual([100, 100, 50]);
  });

  test('with room take new endpoints; full ones are left alone', () => {
    const before = after(seen(service(), many(150)));
    expect(writes({ ...before, pods: many(160) })).toMatchObject([{ do: 'update', object: { endpoints: { length: 60 } } }]);
  });

  test('lose deleted endpoints, and take new ones in their place', () => {
    const before = after(seen(service(), many(200)));
    expect(writes({ ...before, pods: many(202).filter((_, i) => i !== 5) })).toMatchObject(
      [
        { do: 'update', object: { endpoints: { length: 100 } } },
        { do: 'create', object: {} },
      ].reverse(),
    );
  });

  test('are not written for an irrelevant change', () => {
    const before = after(seen(service(), [pod('a')]));
    expect(writes({ ...before, pods: [pod('a', { spec: { priority: 7 } })] })).toEqual([]);
  });

  test('follow the labels of their service, except reserved ones', () => {
    const before = after(seen(service({}, { labels: { team: 'x' } }), [pod('a')]));
    const [update] = writes({ ...before, service: service({}, { labels: { team: 'y', 'kubernetes.io/service-name': 'forged' } }) });
    expect(update).toMatchObject({ do: 'update', object: { metadata: { labels: { team: 'y', 'kubernetes.io/service-name': 'web' } } } });
  });

  test('always exist: an empty one is the placeholder, and is used when endpoints come', () => {
    const empty = after(seen(service(), []));
    expect(empty.slices).toMatchObject([{ endpoints: null, ports: null }]);
    expect(writes(empty)).toEqual([]);
    expect(writes({ ...empty, pods: [pod('a')] })).toMatchObject([
      { do: 'update', object: { metadata: { name: empty.slices[0]?.metadata.name }, ports: [{ port: 8080 }] } },
    ]);
    const filled = after({ ...empty, pods: [pod('a')] });
    expect(writes({ ...filled, pods: [] })).toMatchObject([{ do: 'update', object: { endpoints: null, ports: null } }]);
  });

  test('of an earlier service of that name are replaced', () => {
    const before = after(seen(service(), [pod('a')]));
    expect(writes({ ...before, service: service({}, { uid: 's2' }) }).map((action) => action.do)).toEqual(['create', 'delete']);
  });

  test('are not created for a service that is being deleted', () => {
    expect(writes(seen(service({}, { deletionTimestamp: '2026-01-01T00:00:00Z' }), [pod('a')]))).toEqual([]);
  });

  test('have the earliest trigger time', () => {
    const before = after(seen(service(), [pod('a')]));
    const late = (of: Stored<Pod>, at: string): Stored<Pod> => ({
      ...of,
      status: { ...of.status, conditions: [{ type: 'Ready', status: 'True', lastProbeTime: null, lastTransitionTime: at }] },
    });
    const pods = [late(pod('a', { ready: false }), '2026-01-01T00:05:00Z'), late(pod('b'), '2026-01-01T00:03:00Z')];
    const next = after({ ...before, pods });
    const time = (of: EndpointSliceSnapshot) => of.slices[0]?.metadata.annotations?.['endpoints.kubernetes.io/last-change-trigger-time'];
    expect(time(next)).toBe('2026-01-01T00:03:00Z');
    expect(time(after({ ...next, service: service({}, { labels: { a: 'b' } }) }))).toBeUndefined();
  });
});

describe('hints for trafficDistribution', () => {
  const hints = (spec: Partial<Service['spec']>, of: Stored<Pod>, annotations = {}) => only(seen(service(spec, { annotations }), [of])).endpoints?.[0]?.hints;

  test.each<[string, Partial<Service['spec']>, Stored<Pod>, object | undefined]>([
    ['to its zone', { trafficDistribution: 'PreferClose' }, pod('a'), { forZones: [{ name: 'zone-a' }] }],
    ['to its zone, said newly', { trafficDistribution: 'PreferSameZone' }, pod('a'), { forZones: [{ name: 'zone-a' }] }],
    ['to its node', { trafficDistribution: 'PreferSameNode' }, pod('a'), { forZones: [{ name: 'zone-a' }], forNodes: [{ name: 'n1' }] }],
    ['but has no zone', { trafficDistribution: 'PreferClose' }, pod('a', { node: 'bare' }), undefined],
    ['but no endpoint is ready', { trafficDistribution: 'PreferClose' }, pod('a', { ready: false }), undefined],
    ['anywhere', {}, pod('a'), undefined],
  ])('%s', (_, spec, of, expected) => expect(hints(spec, of)).toEqual(expected));

  test('are added and removed without any other change', () => {
    const plain = after(seen(service(), [pod('a')]));
    const close = { ...plain, service: service({ trafficDistribution: 'PreferClose' }) };
    expect(writes(close)).toHaveLength(1);
    expect(writes(after(close))).toEqual([]);
    const back = { ...after(close), service: service() };
    expect(writes(back)).toHaveLength(1);
    expect(only(back).endpoints?.[0]).not.toHaveProperty('hints');
  });

  test('are not set with another mode', () => {
    expect(hints({ trafficDistribution: 'PreferClose' }, pod('a'), { 'service.kubernetes.io/topology-mode': 'Auto' })).toBeUndefined();
  });
});

describe('for any snapshot', () => {
  const pods = fc.uniqueArray(
    fc.record({
      name: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'),
      ready: fc.boolean(),
      terminating: fc.boolean(),
      node: fc.constantFrom('n1', 'n2', 'bare', 'nowhere'),
      ips: fc.constantFrom([], ['10.0.0.9'], ['10.0.0.8', '2001:db8::8']),
      port: fc.constantFrom(80, 81),
    }),
    { selector: ({ name }) => name, maxLength: 8 },
  );
  const specs = fc.record({
    ipFamilies: fc.constantFrom<string[]>(['IPv4'], ['IPv6', 'IPv4']),
    publishNotReadyAddresses: fc.boolean(),
    trafficDistribution: fc.constantFrom('PreferClose', 'PreferSameNode', 'none'),
    targetPort: fc.constantFrom<number | string>(8080, 'web'),
  });
  const podsOf = (all: typeof pods extends fc.Arbitrary<infer P> ? P : never) =>
    all
      .map(({ name, port, ...wanted }) =>
        pod(name, {
          ...wanted,
          spec: { containers: [{ name: 'c', image: 'i', resources: {}, ports: [{ name: 'web', containerPort: port, protocol: 'TCP' }] }] as never },
        }),
      )
      .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const serviceOf = ({ targetPort, ...spec }: typeof specs extends fc.Arbitrary<infer S> ? S : never) =>
    service({ ...spec, ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort }] });
  /** The contents of all slices. */
  const contents = ({ slices }: EndpointSliceSnapshot) =>
    slices.flatMap(({ addressType, ports, endpoints: all }) => (all ?? []).map((endpoint) => JSON.stringify([addressType, ports, endpoint]))).sort();

  test('it settles, and equal snapshots give equal decisions', () => {
    fc.assert(
      fc.property(specs, pods, pods, (spec, first, second) => {
        const start = after(seen(serviceOf(spec), podsOf(first)));
        const next = { ...start, pods: podsOf(second) };
        expect(decideSlices(next)).toEqual(decideSlices(next));
        expect(decideSlices(after(next)).actions.filter((action) => action.do !== 'recordEvent')).toEqual([]);
      }),
    );
  });

  test('a crash after any action, with loss of memory, converges to the same contents', () => {
    fc.assert(
      fc.property(specs, pods, pods, fc.nat(4), (spec, first, second, count) => {
        const start = after(seen(serviceOf(spec), podsOf(first)));
        const next = { ...start, pods: podsOf(second) };
        const some = { ...after(next, decideSlices(next).actions.slice(0, count)), times: undefined };
        expect(contents(after(some))).toEqual(contents(after(next)));
      }),
    );
  });

  test('the contents do not depend on the earlier slices; each endpoint is there once, and no slice exceeds its limit', () => {
    fc.assert(
      fc.property(specs, fc.array(pods, { minLength: 1, maxLength: 4 }), (spec, history) => {
        let state = seen(serviceOf(spec), []);
        for (const each of history) state = after({ ...state, pods: podsOf(each) });
        expect(contents(state)).toEqual(contents(after(seen(serviceOf(spec), podsOf(history.at(-1) ?? [])))));
        expect(new Set(contents(state)).size).toBe(contents(state).length);
        for (const slice of state.slices) expect((slice.endpoints ?? []).length).toBeLessThanOrEqual(endpointsPerSlice);
        expect(state.times).toEqual(triggerTimesOf(serviceOf(spec), podsOf(history.at(-1) ?? [])));
      }),
    );
  });
});
