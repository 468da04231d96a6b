/** Where the controllers look for a driver that is built-in. */
import { expect, test } from 'vitest';
import { csiDriverKind } from '../../src/api/kinds/storage/csi-driver.ts';
import { eventKind } from '../../src/api/kinds/core/event.ts';
import { EventRecorder } from '../../src/client/events/event-recorder.ts';
import { Informers } from '../../src/client/informers/informers.ts';
import { builtInDrivers } from '../../src/cluster/controllers/built-in-drivers.ts';
import { PluginSockets } from '../../src/cluster/nodes/plugin-sockets.ts';
import { simulate } from '../../src/sim/world/world.ts';
import { startTestCluster } from '../client/test-cluster.ts';

test('the socket is the annotated one, or where the driver registered, or in the directory of plugins', () =>
  simulate(1, async (world) => {
    const { client } = await startTestCluster(world);
    const informers = new Informers({ client, world });
    const plugins = new PluginSockets('/kubelet');
    const open: string[] = [];
    const sockets = {
      plugins,
      open: ({ address }: { readonly address: string }) => {
        open.push(address);
        return () => void open.splice(open.indexOf(address), 1);
      },
    };
    const following = builtInDrivers({ informers, sockets, recorder: new EventRecorder({ world, client, eventKind, component: 'test' }) });
    informers.start();
    const builtIn = { 'mooring.dev/controller': 'built-in' };
    const create = (name: string, annotations: Readonly<Record<string, string>>) => client.create(csiDriverKind, { metadata: { name, annotations }, spec: {} });
    await create('fake.example.com', builtIn);
    await create('told.example.com', { ...builtIn, 'mooring.dev/endpoint': 'unix:///run/told.sock' });
    await create('external.example.com', {});
    await world.sleep(1000);
    expect(open).toEqual(['unix:///kubelet/plugins/fake.example.com/csi.sock', 'unix:///run/told.sock']);
    for (const driver of ['fake.example.com', 'told.example.com', 'external.example.com'])
      plugins.register({ driver, node: 'node-1', address: `unix:///kubelet/plugins/registered/${driver}.sock` });
    expect(open).toEqual(['unix:///run/told.sock', 'unix:///kubelet/plugins/registered/fake.example.com.sock']);
    // Of two nodes, the first has the controllers; they follow its driver.
    plugins.register({ driver: 'fake.example.com', node: 'node-2', address: 'unix:///elsewhere.sock' });
    expect(open).toEqual(['unix:///run/told.sock', 'unix:///kubelet/plugins/registered/fake.example.com.sock']);
    plugins.register({ driver: 'fake.example.com', node: 'node-1', address: 'unix:///moved.sock' });
    expect(open).toEqual(['unix:///run/told.sock', 'unix:///moved.sock']);
    await following.stop();
    expect(open).toEqual([]);
    informers.stop();
  }));

test('calls may take as long as the annotation says; another text is an event, and the driver is not used', () =>
  simulate(1, async (world) => {
    const { client } = await startTestCluster(world);
    const informers = new Informers({ client, world });
    const open = new Map<string, number | undefined>();
    const sockets = {
      plugins: new PluginSockets('/kubelet'),
      open: ({ driver = '', timeoutMs }: { readonly driver?: string; readonly timeoutMs?: number }) => {
        open.set(driver, timeoutMs);
        return () => void open.delete(driver);
      },
    };
    const following = builtInDrivers({ informers, sockets, recorder: new EventRecorder({ world, client, eventKind, component: 'test' }) });
    informers.start();
    const texts = { seconds: '250s', minutes: '10m', hour: '1h', longer: '61m', none: '0s', bare: '30', fraction: '1.5s', other: 'soon' };
    for (const [name, timeout] of Object.entries(texts))
      await client.create(csiDriverKind, {
        metadata: { name, annotations: { 'mooring.dev/controller': 'built-in', 'mooring.dev/timeout': timeout } },
        spec: {},
      });
    await world.sleep(1000);
    expect(Object.fromEntries(open)).toEqual({ seconds: 250_000, minutes: 600_000, hour: 3_600_000 });
    const events = await client.list(eventKind, { namespace: 'default' });
    const told = events.ok ? events.value.items.map(({ involvedObject, message }) => `${involvedObject.name}: ${message?.split(': ')[1]}`) : [];
    expect(told.toSorted()).toEqual(
      ['bare', 'fraction', 'longer', 'none', 'other'].map((name) => `${name}: annotation mooring.dev/timeout must be from 1s to 1h`),
    );
    const seconds = await client.get(csiDriverKind, { name: 'seconds' });
    if (seconds.ok)
      await client.update(csiDriverKind, {
        ...seconds.value,
        metadata: { ...seconds.value.metadata, annotations: { ...seconds.value.metadata.annotations, 'mooring.dev/timeout': '20s' } },
      });
    await world.sleep(1000);
    expect(open.get('seconds')).toBe(20_000);
    await following.stop();
    informers.stop();
  }));
