import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { Endpoint, EndpointSlice, Service } from '../../api/generated/types.ts';
import { serviceRules } from './service-rules.ts';

const service = (spec: Partial<Service['spec']> = {}, name = 'web'): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace: 'shop' },
  spec: {
    type: 'ClusterIP',
    clusterIP: '10.96.0.5',
    clusterIPs: ['10.96.0.5'],
    ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 8080 }],
    ...spec,
  },
  status: { loadBalancer: {} },
});

const endpoint = (ip: string, over: Partial<Endpoint> = {}): Endpoint => ({ addresses: [ip], conditions: { ready: true }, nodeName: 'here', ...over });

const slice = (endpoints: readonly Endpoint[], port = 8080): EndpointSlice => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name: 'web-x', namespace: 'shop' },
  addressType: 'IPv4',
  endpoints: [...endpoints],
  ports: [{ name: 'http', protocol: 'TCP', port }],
});

const location = { nodes: new Set(['here']), zone: 'a' };
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/** The part, with the hash of the port as #. */
function rulesOf(of: Service, slices: readonly EndpointSlice[]) {
  const rules = serviceRules({ service: of, slices, location, sha256 });
  if (rules === undefined) return undefined;
  if (!rules.ok) return rules.problem;
  const text = (value: unknown): unknown => JSON.parse(JSON.stringify(value).replaceAll(/[0-9a-f]{16}/g, '#'));
  const { chains, sets, elements } = rules.part;
  return text({
    ...Object.fromEntries(chains ?? []),
    ...Object.fromEntries(sets ?? []),
    ...Object.fromEntries([...(elements ?? [])].map(([set, keys]) => [set, Object.fromEntries(keys)])),
  });
}

describe('a cluster IP', () => {
  test('leads to the ready endpoints', () => {
    const slices = [slice([endpoint('10.0.0.1'), endpoint('10.0.0.2', { nodeName: 'there' }), endpoint('10.0.0.3', { conditions: { ready: false } })])];
    expect(rulesOf(service(), slices)).toEqual({
      'service-#': ['meta l4proto tcp dnat ip to numgen random mod 2 map { 0 : 10.0.0.1 . 8080, 1 : 10.0.0.2 . 8080 } comment "shop/web:http"'],
      'cluster-ips': { '10.96.0.5': '' },
      'service-ips': { '10.96.0.5 . tcp . 80': 'goto service-#' },
      hairpin: { '10.0.0.1 . 10.0.0.1': '', '10.0.0.2 . 10.0.0.2': '' },
    });
  });

  test('without ready endpoints leads to those that serve while they terminate, and without these refuses', () => {
    const ending = endpoint('10.0.0.1', { conditions: { ready: false, serving: true, terminating: true } });
    expect(rulesOf(service(), [slice([ending])])).toMatchObject({ 'service-#': ['meta l4proto tcp dnat to 10.0.0.1:8080 comment "shop/web:http"'] });
    expect(rulesOf(service(), [])).toEqual({
      'cluster-ips': { '10.96.0.5': '' },
      'no-endpoint-services': { '10.96.0.5 . tcp . 80': 'goto reject-connection' },
    });
  });

  test('with internalTrafficPolicy Local leads to this node, and drops where it has no endpoint', () => {
    const local = service({ internalTrafficPolicy: 'Local' });
    expect(rulesOf(local, [slice([endpoint('10.0.0.1'), endpoint('10.0.0.2', { nodeName: 'there' })])])).toMatchObject({
      'local-#': ['meta l4proto tcp dnat to 10.0.0.1:8080 comment "shop/web:http"'],
      'service-ips': { '10.96.0.5 . tcp . 80': 'goto local-#' },
    });
    expect(rulesOf(local, [slice([endpoint('10.0.0.2', { nodeName: 'there' })])])).toMatchObject({
      'no-endpoint-services': { '10.96.0.5 . tcp . 80': 'drop' },
    });
  });

  test('with session affinity has a set of clients for each endpoint', () => {
    const affine = service({ sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 60 } } });
    expect(rulesOf(affine, [slice([endpoint('10.0.0.1'), endpoint('10.0.0.2')])])).toMatchObject({
      'affinity-#-10.0.0.1-8080-60': 'type ipv4_addr; flags dynamic,timeout; timeout 60s;',
      'endpoint-#-10.0.0.1-8080': ['update @affinity-#-10.0.0.1-8080-60 { ip saddr }', 'meta l4proto tcp dnat to 10.0.0.1:8080 comment "shop/web:http"'],
      'service-#': [
        'ip saddr @affinity-#-10.0.0.1-8080-60 goto endpoint-#-10.0.0.1-8080',
        'ip saddr @affinity-#-10.0.0.2-8080-60 goto endpoint-#-10.0.0.2-8080',
        'numgen random mod 2 vmap { 0 : goto endpoint-#-10.0.0.1-8080, 1 : goto endpoint-#-10.0.0.2-8080 }',
      ],
    });
  });
});

describe('from outside', () => {
  const nodePort = { name: 'http', protocol: 'TCP', port: 80, targetPort: 8080, nodePort: 30_080 };
  const both = [slice([endpoint('10.0.0.1'), endpoint('10.0.0.2', { nodeName: 'there' })])];

  test('a node port leads to all endpoints, or with externalTrafficPolicy Local to those of this node', () => {
    expect(rulesOf(service({ type: 'NodePort', ports: [nodePort] }), both)).toMatchObject({ 'service-nodeports': { 'tcp . 30080': 'goto service-#' } });
    expect(rulesOf(service({ type: 'NodePort', ports: [nodePort], externalTrafficPolicy: 'Local' }), both)).toMatchObject({
      'service-nodeports': { 'tcp . 30080': 'goto external-#' },
      'external-#': ['ip saddr @pod-cidrs goto service-#', 'fib saddr type local goto service-#', 'goto local-#'],
    });
  });

  test('a node port without an endpoint on this node drops what comes from outside, and still serves pods', () => {
    const elsewhere = [slice([endpoint('10.0.0.2', { nodeName: 'there' })])];
    expect(rulesOf(service({ type: 'NodePort', ports: [nodePort], externalTrafficPolicy: 'Local' }), elsewhere)).toMatchObject({
      'service-nodeports': { 'tcp . 30080': 'goto external-#' },
      'no-endpoint-nodeports': { 'tcp . 30080': 'drop' },
      'external-#': ['ip saddr @pod-cidrs goto service-#', 'fib saddr type local goto service-#'],
    });
  });

  test('source ranges hold for the addresses of a load balancer only', () => {
    const balanced = service({ type: 'LoadBalancer', ports: [nodePort], loadBalancerSourceRanges: ['192.0.2.7/24', 'nonsense'] });
    expect(rulesOf({ ...balanced, status: { loadBalancer: { ingress: [{ ip: '198.51.100.1', ipMode: 'VIP' }] } } }, both)).toMatchObject({
      'external-ips': { '198.51.100.1 . tcp . 80': 'goto firewall-#' },
      'firewall-#': ['ip saddr { 192.0.2.0/24 } goto service-#', 'drop'],
      'service-nodeports': { 'tcp . 30080': 'goto service-#' },
    });
  });
});

describe('what is no traffic of a Service', () => {
  test.each([
    ['headless', { clusterIP: 'None', clusterIPs: ['None'] }],
    ['ExternalName', { type: 'ExternalName', externalName: 'example.com' }],
    ['IPv6 alone', { clusterIP: 'fd00::1', clusterIPs: ['fd00::1'] }],
  ])('%s', (_, spec) => expect(rulesOf(service(spec), [slice([endpoint('10.0.0.1')])])).toBeUndefined());

  test.each(['127.0.0.1', '169.254.169.254', '0.0.0.0', '224.0.0.1', '::1', '10.0.0.1; flush ruleset', ''])('an endpoint at %j', (address) => {
    expect(rulesOf(service(), [slice([endpoint(address)])])).toMatchObject({ 'no-endpoint-services': { '10.96.0.5 . tcp . 80': 'goto reject-connection' } });
  });

  test.each([0, -1, 65_536, 1.5, Number.NaN])('port %j', (port) => {
    expect(rulesOf(service(), [slice([endpoint('10.0.0.1')], port)])).toMatchObject({ 'no-endpoint-services': {} });
    expect(rulesOf(service({ ports: [{ port, targetPort: 80 }] }), [slice([endpoint('10.0.0.1')])])).toEqual({ 'cluster-ips': { '10.96.0.5': '' } });
  });

  test('names end no comment', () => {
    const named = service({}, 'a"\n; flush ruleset #');
    expect(rulesOf(named, [slice([endpoint('10.0.0.1')])])).toMatchObject({
      'service-#': ['meta l4proto tcp dnat to 10.0.0.1:8080 comment "shop/a____flush_ruleset__:http"'],
    });
  });

  test('a Service with an absurd number of ports is refused as a whole', () => {
    const ports = Array.from({ length: 200 }, (_, i) => ({ name: 'http', protocol: 'TCP', port: i + 1, targetPort: 80 }));
    const many = slice(Array.from({ length: 600 }, (_, i) => endpoint(`10.1.${i >> 8}.${i & 255}`)));
    expect(rulesOf(service({ ports }), [many])).toMatch(/more than 100000/);
  });
});

test('hints keep traffic in the zone, if every endpoint has one', () => {
  const near = service({ trafficDistribution: 'PreferSameZone' });
  const [here, there] = [endpoint('10.0.0.1', { hints: { forZones: [{ name: 'a' }] } }), endpoint('10.0.0.2', { hints: { forZones: [{ name: 'b' }] } })];
  expect(rulesOf(near, [slice([here, there])])).toMatchObject({ hairpin: { '10.0.0.1 . 10.0.0.1': '' } });
  expect(rulesOf(near, [slice([here, endpoint('10.0.0.3')])])).toMatchObject({ hairpin: { '10.0.0.1 . 10.0.0.1': '', '10.0.0.3 . 10.0.0.3': '' } });
});
