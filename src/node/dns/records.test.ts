import { describe, expect, test } from 'vitest';
import type { Endpoint, EndpointSlice, Service } from '../../api/generated/types.ts';
import { answerTo, type DnsQuery } from './records.ts';

const service = (name: string, spec: Partial<Service['spec']>): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace: 'shop' },
  spec: { type: 'ClusterIP', ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 8080 }], ...spec },
  status: { loadBalancer: {} },
});
const endpoint = (ip: string, over: Partial<Endpoint> = {}): Endpoint => ({ addresses: [ip], conditions: { ready: true }, ...over });
const slice = (of: string, endpoints: readonly Endpoint[]): EndpointSlice => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name: `${of}-x`, namespace: 'shop', labels: { 'kubernetes.io/service-name': of } },
  addressType: 'IPv4',
  endpoints: [...endpoints],
  ports: [{ name: 'http', protocol: 'TCP', port: 8080 }],
});

const services = [
  service('web', { clusterIP: '10.96.0.5', clusterIPs: ['10.96.0.5', 'fd00::5'] }),
  service('db', { clusterIP: 'None', clusterIPs: ['None'] }),
  service('empty', { clusterIP: 'None', clusterIPs: ['None'] }),
  service('out', { type: 'ExternalName', externalName: 'Example.com.' }),
];
const slices = [
  slice('web', [endpoint('10.0.0.9')]),
  slice('db', [endpoint('10.0.0.1', { hostname: 'db-0' }), endpoint('10.0.0.2'), endpoint('10.0.0.3', { hostname: 'db-2', conditions: { ready: false } })]),
];

const ask = (name: string, type: DnsQuery['type'] = 'A') =>
  answerTo(
    { name, type },
    {
      domain: 'cluster.local',
      hasNamespace: (namespace) => namespace === 'shop',
      service: (namespace, called) => (namespace === 'shop' ? services.find(({ metadata }) => metadata.name === called) : undefined),
      slices: (_, of) => slices.filter(({ metadata }) => metadata.labels?.['kubernetes.io/service-name'] === of),
      serviceAt: (ip) => services.find(({ spec }) => spec.clusterIPs?.includes(ip) === true),
      slicesAt: (ip) => slices.filter(({ endpoints }) => endpoints?.some(({ addresses }) => addresses?.includes(ip) === true) === true),
    },
  );
/** '10.96.0.5', 'SRV 80 web.shop.svc', or what there is instead. */
const said = (name: string, type?: DnsQuery['type']): unknown => {
  const answer = ask(name, type);
  if (answer.type !== 'found') return answer.type;
  return answer.records.map((record) =>
    record.type === 'SRV' ? `${record.data.port} ${record.data.target} ${record.data.weight}` : (record as { data: unknown }).data,
  );
};

describe('services', () => {
  test('have their cluster IPs', () => {
    expect(said('web.shop.svc.cluster.local')).toEqual(['10.96.0.5']);
    expect(said('web.shop.svc.cluster.local', 'AAAA')).toEqual(['fd00::5']);
    expect(said('web.shop.svc.cluster.local', 'MX')).toEqual([]);
  });
  test('without one have the addresses of their ready endpoints', () => {
    expect(said('db.shop.svc.cluster.local')).toEqual(['10.0.0.1', '10.0.0.2']);
    expect(said('db.shop.svc.cluster.local', 'AAAA')).toEqual([]);
    expect(said('empty.shop.svc.cluster.local')).toBe('no-such-name');
  });
  test('have names for their endpoints: the hostname, or the address', () => {
    expect(said('db-0.db.shop.svc.cluster.local')).toEqual(['10.0.0.1']);
    expect(said('10-0-0-2.db.shop.svc.cluster.local')).toEqual(['10.0.0.2']);
    expect(said('db-2.db.shop.svc.cluster.local')).toBe('no-such-name');
    expect(said('10-0-0-9.web.shop.svc.cluster.local')).toEqual(['10.0.0.9']);
  });
  test('have SRV records of their ports', () => {
    expect(said('_http._tcp.web.shop.svc.cluster.local', 'SRV')).toEqual(['80 web.shop.svc.cluster.local 100']);
    expect(said('_http._tcp.db.shop.svc.cluster.local', 'SRV')).toEqual([
      '8080 db-0.db.shop.svc.cluster.local 50',
      '8080 10-0-0-2.db.shop.svc.cluster.local 50',
    ]);
    expect(said('web.shop.svc.cluster.local', 'SRV')).toEqual(['80 web.shop.svc.cluster.local 100']);
    expect(said('_http._udp.web.shop.svc.cluster.local', 'SRV')).toBe('no-such-name');
    expect(said('_other._tcp.db.shop.svc.cluster.local', 'SRV')).toBe('no-such-name');
    expect(said('_http._tcp.web.shop.svc.cluster.local')).toEqual([]);
    expect(ask('_http._tcp.web.shop.svc.cluster.local', 'SRV')).toMatchObject({
      also: [{ name: 'web.shop.svc.cluster.local', data: '10.96.0.5' }, { type: 'AAAA' }],
    });
  });
  test('of type ExternalName are aliases', () => {
    expect(ask('out.shop.svc.cluster.local')).toMatchObject({ type: 'alias', target: 'example.com', record: { type: 'CNAME', data: 'example.com' } });
    expect(said('a.out.shop.svc.cluster.local')).toBe('no-such-name');
  });
});

test('pods have the address in their name, in a namespace that exists', () => {
  expect(said('10-0-0-7.shop.pod.cluster.local')).toEqual(['10.0.0.7']);
  expect(said('10-0-0-7.other.pod.cluster.local')).toBe('no-such-name');
  expect(said('nonsense.shop.pod.cluster.local')).toBe('no-such-name');
});

test('addresses have names', () => {
  expect(said('5.0.96.10.in-addr.arpa', 'PTR')).toEqual(['web.shop.svc.cluster.local']);
  expect(said('1.0.0.10.in-addr.arpa', 'PTR')).toEqual(['db-0.db.shop.svc.cluster.local']);
  expect(said('8.8.8.8.in-addr.arpa', 'PTR')).toBe('outside');
  expect(said(`5.${'0.'.repeat(27)}0.0.d.f.ip6.arpa`, 'PTR')).toEqual(['web.shop.svc.cluster.local']);
});

test.each(['cluster.local', 'svc.cluster.local', 'shop.svc.cluster.local', 'pod.cluster.local'])('%s exists, without addresses', (name) =>
  expect(said(name)).toEqual([]),
);
test.each(['other.svc.cluster.local', 'x.shop.svc.cluster.local', 'db.cluster.local', 'a.b.c.web.shop.svc.cluster.local', 'a.b.web.shop.svc.cluster.local'])(
  '%s does not exist',
  (name) => expect(said(name)).toBe('no-such-name'),
);
test.each(['example.com', 'notcluster.local', 'local', ''])('%j is of other servers', (name) => expect(said(name)).toBe('outside'));
