import { describe, expect, test } from 'vitest';
import { type ApiUnderTest, onApi } from '../api-under-test.ts';

const services = '/api/v1/namespaces/default/services';
const service = (name: string, spec: object = {}) => ({ metadata: { name }, spec: { ports: [{ port: 80 }], selector: { app: name }, ...spec } });
const merge = { contentType: 'application/merge-patch+json' };
const taken = async (api: ApiUnderTest, what: 'cluster-ips' | 'node-ports') => {
  const { entries } = await api.store.range({ from: `/mooring/${what}/`, to: `/mooring/${what}0` });
  return entries.map((entry) => entry.key.split('/').at(-1));
};

describe('services', () => {
  test(
    'get an address of the cluster, or the one they ask for if it is free',
    onApi(async (api) => {
      const own = (await api.create(services, service('kubernetes', { clusterIP: '10.96.0.1' }))).body.spec;
      expect(own).toMatchObject({ clusterIP: '10.96.0.1', clusterIPs: ['10.96.0.1'], ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' });
      const any = (await api.create(services, service('any'))).body.spec;
      expect(any.clusterIP).toMatch(/^10\.(9[6-9]|10\d|11[01])\./);
      expect(any.clusterIPs).toEqual([any.clusterIP]);
      expect((await api.create(services, service('same', { clusterIP: '10.96.0.1' }))).body).toMatchObject({
        code: 422,
        message: 'Service "same" is invalid: spec.clusterIPs: Invalid value: ["10.96.0.1"]: failed to allocate IP 10.96.0.1: provided IP is already allocated',
      });
      expect((await api.create(services, service('out', { clusterIP: '10.0.0.1' }))).body.message).toContain(
        'failed to allocate IP 10.0.0.1: the provided IP (10.0.0.1) is not in the valid range. The range of valid IPs is 10.96.0.0/12',
      );
      expect((await api.create(services, service('six', { clusterIP: 'fd00::1' }))).code).toBe(422);
      expect((await api.create(services, service('bad', { clusterIP: 'nonsense' }))).code).toBe(422);
    }),
  );

  test(
    'have an IPAddress for each address, as long as they have it',
    onApi(async (api) => {
      const addresses = '/apis/networking.k8s.io/v1/ipaddresses';
      const { body } = await api.create(services, { ...service('a'), metadata: { generateName: 'web-' } });
      const { clusterIP } = body.spec;
      expect((await api.send('GET', `${addresses}/${clusterIP}`)).body).toMatchObject({
        metadata: { labels: { 'ipaddress.kubernetes.io/ip-family': 'IPv4', 'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io' } },
        spec: { parentRef: { resource: 'services', namespace: 'default', name: body.metadata.name } },
      });
      expect((await api.send('PATCH', `${services}/${body.metadata.name}`, { ...merge, body: { metadata: { labels: { a: 'b' } } } })).code).toBe(200);
      await api.send('DELETE', `${services}/${body.metadata.name}`);
      expect((await api.send('GET', `${addresses}/${clusterIP}`)).code).toBe(404);
      expect(await taken(api, 'cluster-ips')).toEqual([]);
    }),
  );

  test(
    'do not get an address that an IPAddress keeps for another purpose',
    onApi(async (api) => {
      const kept = { metadata: { name: '10.96.0.9' }, spec: { parentRef: { group: 'example.com', resource: 'gateways', name: 'g' } } };
      expect((await api.create('/apis/networking.k8s.io/v1/ipaddresses', kept)).code).toBe(201);
      expect((await api.create(services, service('a', { clusterIP: '10.96.0.9' }))).body.message).toContain('provided IP is already allocated');
    }),
  );

  test(
    'get addresses of ServiceCIDRs beside the range of the server',
    onApi(async (api) => {
      const ranges = '/apis/networking.k8s.io/v1/servicecidrs';
      expect((await api.create(services, service('early', { clusterIP: '172.30.0.7' }))).code).toBe(422);
      expect((await api.create(ranges, { metadata: { name: 'more' }, spec: { cidrs: ['172.30.0.0/24'] } })).code).toBe(201);
      expect((await api.create(services, service('a', { clusterIP: '172.30.0.7' }))).body.spec.clusterIP).toBe('172.30.0.7');
      expect((await api.create(services, service('b', { clusterIP: '172.30.0.7' }))).body.message).toContain('provided IP is already allocated');
      await api.send('DELETE', `${ranges}/more`);
      expect((await api.create(services, service('c', { clusterIP: '172.30.0.8' }))).code).toBe(422);
    }),
  );

  test(
    'without an address of their own: headless ones, and names of others',
    onApi(async (api) => {
      expect((await api.create(services, service('headless', { clusterIP: 'None' }))).body.spec).toMatchObject({
        clusterIP: 'None',
        clusterIPs: ['None'],
        ipFamilies: ['IPv4'],
      });
      expect((await api.create(services, { metadata: { name: 'bare' }, spec: { clusterIP: 'None' } })).body.spec).toMatchObject({
        ipFamilies: ['IPv4', 'IPv6'],
        ipFamilyPolicy: 'RequireDualStack',
      });
      const external = (await api.create(services, { metadata: { name: 'ext' }, spec: { type: 'ExternalName', externalName: 'example.com' } })).body.spec;
      expect(external.clusterIP).toBeUndefined();
      expect(await taken(api, 'cluster-ips')).toEqual([]);
      expect((await api.create(services, service('dual', { ipFamilyPolicy: 'RequireDualStack' }))).body.message).toContain(
        'this cluster is not configured for dual-stack services',
      );
    }),
  );

  test(
    'keep it when the manifest is applied again, and cannot change it',
    onApi(async (api) => {
      const { body } = await api.create(services, service('a', { type: 'NodePort' }));
      const again = await api.send('PUT', `${services}/a`, { body: service('a', { type: 'NodePort' }) });
      expect(again.body).toEqual(body);
      expect((await api.send('PATCH', `${services}/a`, { ...merge, body: { spec: { clusterIP: '10.96.7.7', clusterIPs: ['10.96.7.7'] } } })).code).toBe(422);
      expect(await taken(api, 'cluster-ips')).toEqual([body.spec.clusterIP]);
    }),
  );

  test(
    'get node ports, share them between protocols, and give back what they no longer need',
    onApi(async (api) => {
      const { body } = await api.create(
        services,
        service('a', {
          type: 'NodePort',
          ports: [
            { name: 'tcp', port: 53 },
            { name: 'udp', port: 53, protocol: 'UDP' },
            { name: 'own', port: 80, nodePort: 30_001 },
          ],
        }),
      );
      const [tcp, udp, own] = body.spec.ports.map((port: { nodePort: number }) => port.nodePort);
      expect(tcp).toBe(udp);
      expect(tcp).toBeGreaterThanOrEqual(30_000);
      expect(own).toBe(30_001);
      expect((await api.create(services, service('b', { type: 'NodePort', ports: [{ port: 1, nodePort: 30_001 }] }))).body.message).toBe(
        'Service "b" is invalid: spec.ports[0].nodePort: Invalid value: 30001: provided port is already allocated',
      );
      expect((await api.create(services, service('b', { type: 'NodePort', ports: [{ port: 1, nodePort: 80 }] }))).body.message).toContain(
        'provided port is not in the valid range. The range of valid ports is 30000-32767',
      );
      await api.send('PATCH', `${services}/a`, { ...merge, body: { spec: { ports: [{ name: 'own', port: 80, nodePort: 30_001 }] } } });
      expect(await taken(api, 'node-ports')).toEqual(['30001']);
      const plain = await api.send('PATCH', `${services}/a`, { ...merge, body: { spec: { type: 'ClusterIP' } } });
      expect(plain.body.spec.ports[0].nodePort).toBeUndefined();
      expect(await taken(api, 'node-ports')).toEqual([]);
      const named = await api.send('PATCH', `${services}/a`, { ...merge, body: { spec: { type: 'ExternalName', externalName: 'example.com' } } });
      expect(named.body.spec.clusterIP).toBeUndefined();
      expect(await taken(api, 'cluster-ips')).toEqual([]);
    }),
  );

  test(
    'release everything on deletion, also with a finalizer, also through their status',
    onApi(async (api) => {
      await api.create(services, {
        ...service('a', { type: 'LoadBalancer', externalTrafficPolicy: 'Local' }),
        metadata: { name: 'a', finalizers: ['example.com/lb'] },
      });
      expect(await taken(api, 'node-ports')).toHaveLength(2);
      await api.send('DELETE', `${services}/a`);
      expect(await taken(api, 'cluster-ips')).toHaveLength(1);
      await api.send('PATCH', `${services}/a/status`, { ...merge, body: { metadata: { finalizers: null } } });
      expect((await api.send('GET', `${services}/a`)).code).toBe(404);
      expect(await taken(api, 'cluster-ips')).toEqual([]);
      expect(await taken(api, 'node-ports')).toEqual([]);
    }),
  );

  test(
    'never share an address, however they race for it',
    onApi(async (api) => {
      const outcomes = await Promise.all(Array.from({ length: 10 }, (_, i) => api.create(services, service(`s${i}`, { clusterIP: '10.96.1.1' }))));
      expect(outcomes.filter(({ code }) => code === 201)).toHaveLength(1);
      api.world.random.float = () => 0.5;
      const same = await Promise.all(Array.from({ length: 5 }, (_, i) => api.create(services, service(`r${i}`))));
      expect(new Set(same.map(({ body }) => body.spec.clusterIP)).size).toBe(5);
    }),
  );

  test(
    'a dry run takes nothing',
    onApi(async (api) => {
      expect((await api.create(services, service('a', { type: 'NodePort' }), 'dryRun=All')).body.spec.clusterIP).toMatch(/^10\./);
      expect(await taken(api, 'cluster-ips')).toEqual([]);
      expect(await taken(api, 'node-ports')).toEqual([]);
    }),
  );
});
