/** The flows of UDP Services follow their endpoints. */
import { expect, test } from 'vitest';
import { endpointSliceKind } from '../../src/api/kinds/discovery/endpoint-slice.ts';
import { serviceKind } from '../../src/api/kinds/core/service.ts';
import { createClient } from '../../src/client/client.ts';
import { Informers } from '../../src/client/informers/informers.ts';
import { ServiceProxy } from '../../src/node/service-proxy/service-proxy.ts';
import { simulate } from '../../src/sim/world/world.ts';
import { startTestCluster } from '../client/test-cluster.ts';

const slice = (...addresses: readonly string[]) => ({
  metadata: { namespace: 'default', name: 'dns-1', labels: { 'kubernetes.io/service-name': 'dns' } },
  addressType: 'IPv4',
  endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready: true } })),
  ports: [
    { name: 'udp', protocol: 'UDP', port: 5353 },
    { name: 'tcp', protocol: 'TCP', port: 5353 },
  ],
});
const ports = [
  { name: 'udp', protocol: 'UDP', port: 53 },
  { name: 'tcp', protocol: 'TCP', port: 53 },
];
const remove = (address: string) => `-D -f ipv4 -p udp --dst-nat ${address} --reply-port-src 5353`;

test('the flows to an endpoint that is gone are removed, once the kernel leads to the others', () =>
  simulate(1, async (world) => {
    const { client, transport } = await startTestCluster(world);
    const informers = new Informers({ world, client: createClient({ transport }) });
    const done: string[] = [];
    const table = {
      replace: () => void done.push('rules'),
      flushed: async () => {
        await world.sleep(1000);
        done.push('in the kernel');
      },
    };
    const conntrack = (args: readonly string[]): Promise<string> => {
      done.push(args.join(' '));
      return Promise.resolve('');
    };
    const location = { nodes: new Set(['a']), zone: '' };
    const proxy = new ServiceProxy({ world, informers, location, table, network: { conntrack }, sha256: (text) => text });
    informers.start();
    const service = { metadata: { namespace: 'default', name: 'dns' }, spec: { selector: { app: 'dns' }, ports } };
    expect(await client.create(serviceKind, service)).toMatchObject({ ok: true });
    const made = await client.create(endpointSliceKind, slice('10.0.0.1', '10.0.0.2'));
    if (!made.ok) throw made.error;
    await world.sleep(5000);
    expect(done.filter((each) => each !== 'rules')).toEqual([]);
    done.length = 0;
    await client.update(endpointSliceKind, { ...made.value, endpoints: slice('10.0.0.2', '10.0.0.3').endpoints });
    await world.sleep(5000);
    expect(done).toEqual(['rules', 'in the kernel', remove('10.0.0.1')]);
    done.length = 0;
    await client.delete(serviceKind, { namespace: 'default', name: 'dns' });
    await world.sleep(5000);
    expect(done).toEqual(['rules', 'in the kernel', remove('10.0.0.2'), remove('10.0.0.3')]);
    proxy.stop();
    informers.stop();
  }));
