import { linkSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Http2Channel } from '../../grpc/http2-channel.ts';
import { realHostFiles } from '../../host/files.ts';
import { realSockets } from '../../host/sockets.ts';
import { createRealWorld } from '../../host/world.ts';
import { Machine, SimulatedHost } from '../../sim/host/simulated-host.ts';
import { FakeCsiDriver, type FakeDriverOptions } from '../../../test/csi/fake-driver.ts';
import { Deadlines } from '../../../test/csi/deadlines.ts';
import { PluginDrivers } from '../registration/plugin-drivers.ts';
import { PluginManager } from './plugin-manager.ts';

const world = createRealWorld({ logLevel: 'error' });
const simulated = new SimulatedHost(new Machine());
const host = { mounts: simulated, files: simulated };
let root = '';
let manager: PluginManager | undefined;
let drivers: PluginDrivers;
let registered: string[] = [];
const addresses = new Map<string, string>();
let fakes: FakeCsiDriver[] = [];

/** Stands for the registration controller: what is to be installed, is. */
function confirming(refused: string | undefined): PluginDrivers {
  const all = new PluginDrivers('node-1');
  const settle = (): void => {
    for (const { name, phase } of all.all()) {
      if (phase === 'installing' && refused !== undefined) all.refuse(name, refused);
      else if (phase === 'installing') all.confirmInstalled(name);
      else if (phase === 'leaving') all.confirmUninstalled(name);
    }
  };
  all.changed.subscribe(undefined as never, () => world.timers.soon(settle));
  return all;
}

function start(refused?: string): void {
  drivers = confirming(refused);
  const connect = (address: string) => new Http2Channel({ address, timers: deadlines });
  const onRegistered = (driver: string, address: string) => {
    registered.push(driver);
    addresses.set(driver, address);
  };
  manager = new PluginManager({
    world,
    root,
    sockets: realSockets(world.timers),
    files: realHostFiles,
    connect,
    drivers,
    builtIn: new Set(['built.in']),
    onRegistered,
  });
}

const deadlines = new Deadlines(world.timers);
const inRegistry = (name: string) => path.join(root, 'plugins_registry', name);

async function plugin(socket: string, options: Partial<FakeDriverOptions> = {}, type?: string): Promise<FakeCsiDriver> {
  const driver = new FakeCsiDriver({ host, directory: '/content', ...options });
  fakes.push(driver);
  const endpoint = path.join(root, `${path.basename(socket)}.csi`);
  await driver.listen(endpoint);
  await driver.listenForRegistration(socket, endpoint, type);
  return driver;
}

beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'moor-plugins-'));
  mkdirSync(inRegistry(''));
  registered = [];
});
afterEach(async () => {
  manager?.stop();
  for (const fake of fakes) await fake[Symbol.asyncDispose]();
  fakes = [];
  rmSync(root, { recursive: true, force: true });
});

const names = () => manager?.names().toSorted() ?? [];

describe('a driver', () => {
  test('is registered with its id, topology and limit, and told so', async () => {
    start();
    const driver = await plugin(inRegistry('fake-reg.sock'), { nodeId: 'id-1', maxVolumes: 5n, topology: { 'example.com/zone': 'a' } });
    await expect.poll(() => driver.statuses).toEqual([{ registered: true, error: '' }]);
    expect(drivers.all()).toEqual([{ name: 'fake.example.com', nodeID: 'id-1', topology: { 'example.com/zone': 'a' }, maxVolumes: 5, phase: 'installed' }]);
    await expect.poll(() => registered).toEqual(['fake.example.com']);
    expect(manager?.socketOf('fake.example.com')).toBeDefined();
    expect(addresses.get('fake.example.com')).toBe(`unix://${root}/fake-reg.sock.csi`);
  });

  test('that was there before the agent is registered, also in a sub-directory; files that are no sockets, and hidden ones, are not', async () => {
    mkdirSync(inRegistry('below'), { recursive: true });
    writeFileSync(inRegistry('plain.sock'), '');
    const hidden = await plugin(inRegistry('.hidden.sock'), { name: 'hidden.example.com' });
    await plugin(path.join(inRegistry('below'), 'fake.sock'));
    start();
    await expect.poll(names).toEqual(['fake.example.com']);
    mkdirSync(inRegistry('later/still'), { recursive: true });
    await plugin(inRegistry('later/still/x.sock'), { name: 'later.example.com' });
    await expect.poll(names).toEqual(['fake.example.com', 'later.example.com']);
    expect(hidden.statuses).toEqual([]);
  });

  test('is deregistered with its socket, and registered again with the next one', async () => {
    start();
    const socket = inRegistry('fake.sock');
    const driver = await plugin(socket);
    await expect.poll(names).toEqual(['fake.example.com']);
    await driver.stop(socket);
    await expect.poll(names).toEqual([]);
    expect(manager?.socketOf('fake.example.com')).toBeUndefined();
    await driver.listenForRegistration(socket, path.join(root, 'fake.sock.csi'));
    await expect.poll(() => registered).toEqual(['fake.example.com', 'fake.example.com']);
  });

  test('replaces another one of its name only with a higher version', async () => {
    const first = await plugin(inRegistry('a.sock'), { versions: ['1.1.0'], nodeId: 'first' });
    start();
    await expect.poll(() => first.statuses).toHaveLength(1);
    const second = await plugin(inRegistry('b.sock'), { versions: ['v1.0.0', '1.1.0'], nodeId: 'second' });
    await expect
      .poll(() => second.statuses[0])
      .toEqual({
        registered: false,
        error: expect.stringContaining('Another driver with the same name is already registered with a higher supported version: "1.1.0"'),
      });
    const third = await plugin(inRegistry('c.sock'), { versions: ['1.2.0'], nodeId: 'third' });
    await expect.poll(() => third.statuses).toEqual([{ registered: true, error: '' }]);
    expect(drivers.all()).toMatchObject([{ nodeID: 'third' }]);
    // The socket that was replaced takes nothing with it; the other one waits for its turn.
    await first.stop(inRegistry('a.sock'));
    await third.stop(inRegistry('c.sock'));
    await expect.poll(() => drivers.all()).toMatchObject([{ nodeID: 'second', phase: 'installed' }]);
  });

  test.each([
    ['no CSI plugin', {}, 'DevicePlugin', 'no handler registered for plugin type: DevicePlugin'],
    ['without versions', { versions: [] }, undefined, 'Plugin returned an empty list for supported versions'],
    ['of version 2', { versions: ['2.0.0'] }, undefined, 'None of the versions specified ["2.0.0"] are supported'],
    ['of version 0', { versions: ['0.3.0'] }, undefined, 'highest supported version reported by driver is 0.3.0, must be v1.x'],
    ['without a proper name', { name: 'not a name' }, undefined, '"not a name" is no CSI driver name'],
    ["with the name of the node's own", { name: 'built.in' }, undefined, 'The node has a driver of this name itself'],
  ])('%s is refused, and told why', async (_, options, type, error) => {
    start();
    const driver = await plugin(inRegistry('x.sock'), options, type);
    await expect.poll(() => driver.statuses[0]).toEqual({ registered: false, error: expect.stringContaining(error) });
    expect(names()).toEqual([]);
  });

  test('whose NodeGetInfo fails is told so, and tried again', async () => {
    const driver = await plugin(inRegistry('x.sock'));
    driver.misbehaves.set('nodeGetInfo', { code: 'Unavailable', message: 'not yet' });
    start();
    await expect.poll(() => driver.statuses[0]).toMatchObject({ registered: false, error: expect.stringContaining('not yet') });
    driver.misbehaves.clear();
    await expect.poll(() => driver.statuses.at(-1), { timeout: 5000 }).toEqual({ registered: true, error: '' });
  });

  test('that hangs in NodeGetInfo keeps no other one waiting; it is told so after its deadline, and tried again', async () => {
    start();
    const hanging = await plugin(inRegistry('slow-reg.sock'), { name: 'slow.example.com' });
    hanging.misbehaves.set('nodeGetInfo', 'hang');
    await expect.poll(() => hanging.last('nodeGetInfo')).toBeDefined();
    await plugin(inRegistry('well-reg.sock'), { name: 'well.example.com' });
    await expect.poll(() => registered).toEqual(['well.example.com']);
    hanging.misbehaves.clear();
    deadlines.pass();
    await expect.poll(() => hanging.statuses.at(0)).toMatchObject({ registered: false, error: expect.stringContaining('deadline exceeded') });
    await expect.poll(() => registered, { timeout: 30_000 }).toContain('slow.example.com');
  });

  test('that the node cannot have is told why', async () => {
    const driver = await plugin(inRegistry('x.sock'));
    start('detected topology value collision');
    const error = 'RegisterPlugin error -- plugin registration failed with err: detected topology value collision';
    await expect.poll(() => driver.statuses[0]).toEqual({ registered: false, error });
    expect(names()).toEqual([]);
  });

  test('that never answers does not keep another one from being registered', async () => {
    const silent = await plugin(inRegistry('a.sock'), { name: 'silent.example.com' });
    silent.misbehaves.set('nodeGetInfo', 'hang');
    await plugin(inRegistry('b.sock'));
    start();
    await expect.poll(names).toEqual(['fake.example.com']);
  });

  test('is registered beside a folder full of sockets that never answer, and of which few are asked at once', async () => {
    let [open, most] = [0, 0];
    const silent = createServer((socket) => {
      most = Math.max(most, ++open);
      socket
        .on('error', () => undefined)
        .on('close', () => open--)
        .resume();
    });
    // Hard links are sockets too, of one server.
    await new Promise<void>((resolve) => void silent.listen(path.join(root, 'silent'), resolve));
    for (let i = 0; i < 200; i++) linkSync(path.join(root, 'silent'), inRegistry(`${i}.sock`));
    await plugin(inRegistry('last.sock'));
    start();
    await expect.poll(names, { timeout: 120_000 }).toEqual(['fake.example.com']);
    manager?.stop();
    await new Promise((resolve) => void silent.close(resolve));
    expect(most).toBeLessThan(100);
  });

  test('that names a socket outside of its folder, or none at all, fails alone', async () => {
    const file = path.join(root, 'no-socket');
    writeFileSync(file, '');
    for (const [name, endpoint] of [
      ['file.example.com', file],
      ['missing.example.com', '/nowhere/csi.sock'],
      ['upwards.example.com', `${inRegistry('')}/../../../../../../../nowhere.sock`],
    ] as const) {
      const driver = new FakeCsiDriver({ host, directory: '/content', name });
      fakes.push(driver);
      await driver.listenForRegistration(inRegistry(`${name}.sock`), endpoint);
    }
    await plugin(inRegistry('good.sock'));
    start();
    await expect.poll(() => fakes.slice(0, 3).every(({ statuses }) => statuses[0]?.registered === false)).toBe(true);
    await expect.poll(names).toEqual(['fake.example.com']);
    expect(fakes[1]?.statuses[0]?.error).toContain('dial unix /nowhere/csi.sock');
  });

  test('in a container names its socket below /var/lib/kubelet, and is told paths so', async () => {
    mkdirSync(path.join(root, 'plugins'));
    const driver = new FakeCsiDriver({ host, directory: '/content' });
    fakes.push(driver);
    await driver.listen(path.join(root, 'plugins', 'csi.sock'));
    await driver.listenForRegistration(inRegistry('x.sock'), '/var/lib/kubelet/plugins/csi.sock');
    start();
    await expect.poll(names).toEqual(['fake.example.com']);
    expect(manager?.socketOf('fake.example.com')?.pathInDriver(`${root}/pods/uid/volumes`)).toBe('/var/lib/kubelet/pods/uid/volumes');
  });

  test('is asked again for its limit', async () => {
    const driver = await plugin(inRegistry('x.sock'), { maxVolumes: 3n });
    start();
    await expect.poll(names).toEqual(['fake.example.com']);
    driver.maxVolumes = 2n ** 40n;
    await manager?.refresh('fake.example.com');
    expect(drivers.all()).toMatchObject([{ maxVolumes: 2 ** 31 - 1, phase: 'installed' }]);
    // An answer without an id must not make the CSINode invalid.
    driver.misbehaves.set('nodeGetInfo', 'lie');
    await manager?.refresh('fake.example.com');
    expect(drivers.all()).toMatchObject([{ nodeID: 'node-1', maxVolumes: undefined, phase: 'installed' }]);
  });
});
