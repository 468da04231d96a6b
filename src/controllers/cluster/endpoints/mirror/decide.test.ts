import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Endpoints, EndpointSlice, EndpointSubset, ObjectMeta } from '../../../../api/generated/types.ts';
import type { Stored } from '../../../../api/stored.ts';
import type { MirrorAction } from './actions.ts';
import { decideMirror, type MirrorSnapshot } from './decide.ts';

const endpoints = (subsets: readonly EndpointSubset[], metadata: Partial<ObjectMeta> = {}): Stored<Endpoints> => ({
  apiVersion: 'v1',
  kind: 'Endpoints',
  metadata: { namespace: 'team', name: 'db', uid: 'e1', resourceVersion: '1', ...metadata },
  subsets: [...subsets],
});
const seen = (of: Stored<Endpoints> | undefined, slices: readonly Stored<EndpointSlice>[] = []): MirrorSnapshot => ({
  endpoints: of,
  slices,
  recorded: () => undefined,
});
const ports = [{ name: 'sql', port: 5432, protocol: 'TCP' }];

const stored = (slice: EndpointSlice, name: string): Stored<EndpointSlice> => ({
  ...slice,
  metadata: { uid: `uid of ${name}`, resourceVersion: '1', ...slice.metadata, name },
});

let made = 0;
const after = (snapshot: MirrorSnapshot, actions: readonly MirrorAction[] = decideMirror(snapshot).actions): MirrorSnapshot => {
  let { slices } = snapshot;
  for (const action of actions) {
    if (action.do === 'create') slices = [...slices, stored(action.object, `db-${++made}`)];
    if (action.do === 'update')
      slices = slices.map((slice) => (slice.metadata.name === action.object.metadata.name ? stored(action.object, slice.metadata.name) : slice));
    if (action.do === 'delete') slices = slices.filter((slice) => slice.metadata.name !== action.object.metadata.name);
  }
  return { ...snapshot, slices };
};
const done = (snapshot: MirrorSnapshot) => decideMirror(snapshot).actions.map((action) => (action.do === 'recordEvent' ? action.event.message : action.do));
/** 'IPv4 5432 10.0.0.1 ready', sorted. */
const brief = ({ slices }: MirrorSnapshot) =>
  slices
    .flatMap(({ addressType, ports: entryPorts, endpoints: all }) =>
      (all ?? []).map(
        ({ addresses, conditions }) => `${addressType} ${entryPorts?.[0]?.port ?? '-'} ${addresses?.[0] ?? ''}${conditions.ready === true ? ' ready' : ''}`,
      ),
    )
    .sort();

describe('hand-written endpoints', () => {
  test('are mirrored with their labels and annotations, except those of kubectl and of controllers', () => {
    const annotations = { note: 'x', 'kubectl.kubernetes.io/last-applied-configuration': '{}', 'endpoints.kubernetes.io/last-change-trigger-time': 'then' };
    const addresses = [{ ip: '10.0.0.01', hostname: 'a', nodeName: 'n1', targetRef: { kind: 'Pod', name: 'p' } }];
    expect(
      after(seen(endpoints([{ addresses, notReadyAddresses: [{ ip: '10.0.0.2' }], ports }], { labels: { app: 'db' }, annotations }))).slices,
    ).toMatchObject([
      {
        addressType: 'IPv4',
        metadata: {
          generateName: 'db-',
          labels: { app: 'db', 'kubernetes.io/service-name': 'db', 'endpointslice.kubernetes.io/managed-by': 'endpointslicemirroring-controller.k8s.io' },
          annotations: { note: 'x' },
          ownerReferences: [{ apiVersion: 'v1', kind: 'Endpoints', name: 'db', uid: 'e1', controller: true, blockOwnerDeletion: true }],
        },
        endpoints: [
          { addresses: ['10.0.0.1'], conditions: { ready: true }, hostname: 'a', nodeName: 'n1', targetRef: { kind: 'Pod', name: 'p' } },
          { addresses: ['10.0.0.2'], conditions: { ready: false } },
        ],
        ports,
      },
    ]);
  });

  test('have a slice for each family and each set of ports', () => {
    const subsets = [{ addresses: [{ ip: '10.0.0.1' }, { ip: '2001:db8::1' }], ports }, { addresses: [{ ip: '10.0.0.3' }] }];
    expect(brief(after(seen(endpoints(subsets))))).toEqual(['IPv4 - 10.0.0.3 ready', 'IPv4 5432 10.0.0.1 ready', 'IPv6 5432 2001:db8::1 ready']);
  });

  test('that change are updated, and deleted ones are removed', () => {
    const before = after(seen(endpoints([{ addresses: [{ ip: '10.0.0.1' }], ports }])));
    expect(done(before)).toEqual([]);
    expect(done({ ...before, endpoints: endpoints([{ addresses: [{ ip: '10.0.0.2' }], ports }]) })).toEqual(['update']);
    expect(done({ ...before, endpoints: endpoints([{ addresses: [{ ip: '10.0.0.1' }], ports }], { labels: { a: 'b' } }) })).toEqual(['update']);
    expect(done({ ...before, endpoints: endpoints([{ addresses: [{ ip: '10.0.0.1' }], ports }], { uid: 'e2' }) })).toEqual(['update']);
    expect(done({ ...before, endpoints: endpoints([{ addresses: [{ ip: '10.0.0.1' }] }]) })).toEqual(['update']);
    expect(done({ ...before, endpoints: endpoints([{ addresses: [{ ip: '2001:db8::1' }], ports }]) })).toEqual(['create', 'delete']);
    expect(done({ ...before, endpoints: endpoints([]) })).toEqual(['delete']);
    expect(done({ ...before, endpoints: undefined })).toEqual(['delete']);
  });

  test('that are too many, or invalid, are left out, with an event', () => {
    const many = Array.from({ length: 1_002 }, (_, i) => ({ ip: `10.${i >> 8}.${i & 255}.1` }));
    expect(done(seen(endpoints([{ addresses: many, ports }])))).toEqual([
      'A max of 1000 addresses can be mirrored to EndpointSlices per Endpoints subset. 2 addresses were skipped',
      'create',
    ]);
    expect(done(seen(endpoints([{ addresses: [{ ip: 'nonsense' }, { ip: '10.0.0.1' }], ports }])))).toEqual([
      'Skipped 1 invalid IP addresses when mirroring to EndpointSlices',
      'create',
    ]);
  });
});

test('for any snapshot it settles, a crash changes nothing, and equal snapshots give equal decisions', () => {
  const addresses = fc.uniqueArray(fc.constantFrom('10.0.0.1', '10.0.0.2', '2001:db8::1'), { maxLength: 3 });
  const subsets = fc.array(fc.record({ ready: addresses, unready: addresses, port: fc.constantFrom(1, 2) }), { maxLength: 3 }).map((all) =>
    all
      .filter(({ ready, unready }) => ready.length + unready.length > 0)
      .map(({ ready, unready, port }) => ({
        addresses: ready.map((ip) => ({ ip })),
        notReadyAddresses: unready.map((ip) => ({ ip })),
        ports: [{ port, protocol: 'TCP' }],
      })),
  );
  fc.assert(
    fc.property(subsets, subsets, fc.nat(3), (first, second, count) => {
      const next = { ...after(seen(endpoints(first))), endpoints: endpoints(second) };
      expect(decideMirror(next)).toEqual(decideMirror(next));
      expect(done(after(next))).toEqual([]);
      expect(brief(after(after(next, decideMirror(next).actions.slice(0, count))))).toEqual(brief(after(next)));
      expect(brief(after(next))).toEqual(brief(after(seen(endpoints(second)))));
    }),
  );
});
