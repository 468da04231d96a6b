/** How often the servers behind APIServices are asked. */
import { expect, test } from 'vitest';
import { allKinds } from '../../src/api/kinds/index.ts';
import { Aggregator } from '../../src/apiserver/aggregator/aggregator.ts';
import type { RemoteCall, RemoteServers } from '../../src/apiserver/aggregator/remote-server.ts';
import { type SimulatedWorld, simulate } from '../../src/sim/world/world.ts';
import { ApiUnderTest } from './api-under-test.ts';

const sliceOf = (name: string, ...addresses: readonly string[]) => ({
  metadata: { name, labels: { 'kubernetes.io/service-name': 'extension' } },
  addressType: 'IPv4',
  ports: [{ name: '', port: 8443 }],
  endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready: true } })),
});
const slices = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices';
const apiServices = '/apis/apiregistration.k8s.io/v1/apiservices';

/** An APIService whose Service has two endpoints, and what its servers were asked. */
async function withAggregator(world: SimulatedWorld, send: RemoteServers['send']) {
  const api = new ApiUnderTest(world);
  await api.namespace('default');
  await api.create('/api/v1/namespaces/default/services', { metadata: { name: 'extension' }, spec: { ports: [{ port: 443 }] } });
  await api.create(slices, sliceOf('extension-1', '192.0.2.1', '192.0.2.2'));
  const spec = { group: 'example.com', version: 'v1', groupPriorityMinimum: 100, versionPriority: 1, service: { namespace: 'default', name: 'extension' } };
  expect(await api.create(apiServices, { metadata: { name: 'v1.example.com' }, spec })).toMatchObject({ code: 201 });
  const aggregator = new Aggregator({ store: api.store, world, kinds: allKinds, api: api.api, servers: { send, stop: () => undefined } });
  await aggregator.start();
  const reason = async (): Promise<string> => (await api.send('GET', `${apiServices}/v1.example.com`)).body.status.conditions[0].reason;
  return { api, aggregator, reason };
}

test('a server whose endpoints fail with different messages is asked less and less often', () =>
  simulate(1, async (world) => {
    let asked = 0;
    const { aggregator, reason } = await withAggregator(world, ({ address }) => {
      asked++;
      return Promise.reject(new Error(`dial ${address.host}: refused`));
    });
    await world.sleep(60_000);
    expect(await reason()).toBe('FailedDiscoveryCheck');
    expect(asked).toBeGreaterThan(5);
    expect(asked).toBeLessThan(15);
    aggregator.stop();
  }));

test('a server that does not answer is asked once at a time, however often its endpoints change', () =>
  simulate(2, async (world) => {
    let [underWay, most] = [0, 0];
    const send = ({ signal }: RemoteCall) =>
      new Promise<never>((_, reject) => {
        most = Math.max(most, ++underWay);
        signal.addEventListener('abort', () => {
          underWay--;
          reject(new Error('timed out'));
        });
      });
    const { api, aggregator } = await withAggregator(world, send);
    for (let i = 2; i < 50; i++) {
      await api.create(slices, sliceOf(`extension-${i}`, `192.0.2.${i}`));
      await world.sleep(50);
    }
    expect(most).toBe(1);
    aggregator.stop();
  }));
