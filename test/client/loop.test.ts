import { expect, test } from 'vitest';
import { configMap, startTestCluster, type TestCluster } from './test-cluster.ts';
import type { ConfigMap } from '../../src/api/generated/types.ts';
import { configMapKind } from '../../src/api/kinds/core/config-map.ts';
import { SimulatedProcess } from '../../src/sim/world/process.ts';
import { badNetwork, SimulatedNetwork } from '../../src/sim/world/network.ts';
import { seeds } from '../../src/sim/world/seeds.ts';
import { type SimulatedWorld, simulate } from '../../src/sim/world/world.ts';
import type { World } from '../../src/world/world.ts';
import { type Client, createClient } from '../../src/client/client.ts';
import { Informers } from '../../src/client/informers/informers.ts';
import { type Controller, type LoopOptions, outcomeOf, runController, source } from '../../src/client/controller/loop.ts';
import type { Transport } from '../../src/client/transport.ts';

interface CopierSnapshot {
  readonly original: ConfigMap;
  readonly copies: readonly (ConfigMap | undefined)[];
}
type Copy = { readonly name: string; readonly value: string; readonly old: ConfigMap | undefined };

const suffixes = ['-copy-1', '-copy-2', '-copy-3'];

/** Keeps three copies of every map named `original-…`: three actions, which may be cut off anywhere. */
function copier(client: Client, informers: Informers): Controller<string, CopierSnapshot, Copy> {
  const cache = informers.cache(configMapKind);
  return {
    name: 'copier',
    sources: [source(configMapKind, ({ before, after }) => [((after ?? before)?.metadata.name ?? '').replace(/-copy-\d$/, '')])],
    snapshot: (name) => {
      const original = cache.get({ namespace: 'default', name });
      return original === undefined ? undefined : { original, copies: suffixes.map((suffix) => cache.get({ namespace: 'default', name: name + suffix })) };
    },
    decide: ({ original, copies }) => {
      const value = original.data?.['value'] ?? '';
      const stale = copies.flatMap((old, i) => (old?.data?.['value'] === value ? [] : [{ name: `${original.metadata.name}${suffixes[i]}`, value, old }]));
      return { actions: stale, reasons: [] };
    },
    perform: async ({ name, value, old }) =>
      outcomeOf(
        old === undefined ? await client.create(configMapKind, configMap(name, value)) : await client.update(configMapKind, { ...old, data: { value } }),
      ),
  };
}

interface Running {
  readonly client: Client;
  readonly informers: Informers;
}

function connect(transport: Transport, world: World): Running {
  const informers: Informers = new Informers({ client: createClient({ transport }), world });
  return { informers, client: createClient({ transport, observer: informers.observer }) };
}

function runCopier(transport: Transport, world: World, more: Partial<LoopOptions> = {}) {
  const { client, informers } = connect(transport, world);
  const loop = runController(copier(client, informers), { world, informers, ...more });
  informers.start();
  return loop;
}

async function values(cluster: TestCluster): Promise<string[]> {
  const all = await cluster.client.list(configMapKind);
  if (!all.ok) throw all.error;
  return all.value.items.map(({ metadata, data }) => `${metadata.name}=${data?.['value']}`);
}

const allCopied = (value: string) => ['', ...suffixes].map((suffix) => `original-a${suffix}=${value}`);
const original = (value: string) => configMap('original-a', value);

async function setOriginal({ client }: TestCluster, value: string): Promise<void> {
  const found = await client.get(configMapKind, { namespace: 'default', name: 'original-a' });
  const written = found.ok ? await client.update(configMapKind, { ...found.value, data: { value } }) : await client.create(configMapKind, original(value));
  if (!written.ok) throw written.error;
}

test('it acts until deciding gives nothing more, and then rests', () =>
  simulate(1, async (world) => {
    const cluster = await startTestCluster(world);
    await cluster.client.create(configMapKind, original('1'));
    const loop = runCopier(cluster.transport, world);
    await world.sleep(1000);
    expect(await values(cluster)).toEqual(allCopied('1'));
    const { revision } = { revision: cluster.store.revision() };
    await world.sleep(3_600_000);
    expect(cluster.store.revision()).toBe(revision);
    expect(loop.idle).toBe(true);
  }));

test('a crash before any action, in any order of events, is finished by the next process', async () => {
  for (const seed of seeds(40)) {
    await simulate(seed, async (world) => {
      const cluster = await startTestCluster(world);
      await cluster.client.create(configMapKind, original('1'));
      for (let crashes = 0; crashes < 3; crashes++) {
        const process = new SimulatedProcess(world, `copier ${crashes}`);
        const last = world.random.below(4);
        let actions = 0;
        runCopier(process.transport(cluster.transport), process, {
          onAction: () => {
            if (actions++ < last) return 'go';
            process.kill();
            return 'crash';
          },
        });
        await setOriginal(cluster, `${crashes}`);
        await world.sleep(1000);
      }
      runCopier(cluster.transport, world);
      await world.sleep(1000);
      expect(await values(cluster)).toEqual(allCopied('2'));
    });
  }
});

test('a bad network delays it, and changes nothing about the end', async () => {
  for (const seed of seeds(15)) {
    await simulate(seed, async (world) => {
      const cluster = await startTestCluster(world);
      const network = new SimulatedNetwork(world, badNetwork);
      runCopier(network.transport(cluster.transport), world);
      for (let i = 0; i < 10; i++) {
        await setOriginal(cluster, `${i}`);
        await world.sleep(world.random.float() * 1000);
      }
      network.heal();
      await world.sleep(300_000);
      expect(await values(cluster)).toEqual(allCopied('9'));
    });
  }
});

/** A controller of a few keys whose passes do as told. */
function scripted(world: SimulatedWorld, more: Partial<Controller<string, string, string>> & Pick<Controller<string, string, string>, 'perform'>) {
  const controller: Controller<string, string, string> = {
    name: 'scripted',
    sources: [],
    snapshot: (key) => key,
    decide: (key) => ({ actions: [key], reasons: [] }),
    ...more,
  };
  const informers = connect({ send: () => new Promise(() => undefined), watch: () => ({ close: () => undefined }) }, world).informers;
  return runController(controller, { world, informers });
}

test('a key that always fails is tried less and less often, and holds up no other', () =>
  simulate(1, async (world) => {
    const done: string[] = [];
    const failedAt: number[] = [];
    const loop = scripted(world, {
      perform: async (key) => {
        if (key !== 'bad') return done.push(key), 'done';
        failedAt.push(world.clock.monotonic());
        if (failedAt.length % 2 === 0) throw new Error('a bug');
        return { retry: 'the backend is away' };
      },
    });
    for (const key of ['bad', 'a', 'b', 'bad', 'c']) loop.enqueue(key);
    await world.sleep(100);
    expect(done.sort()).toEqual(['a', 'b', 'c']);
    expect(failedAt).toEqual([0, 5, 15, 35, 75]);
    expect(world.lines.filter(({ level }) => level === 'error')).toMatchObject([
      { message: 'pass failed', fields: { key: 'bad' } },
      { message: 'pass failed' },
    ]);
  }));

test('a conflict ends the pass: the rest of the list is not done, and is decided anew', () =>
  simulate(1, async (world) => {
    const done: string[] = [];
    let conflicts = 1;
    const loop = scripted(world, {
      decide: () => ({ actions: ['first', 'second', 'third'], reasons: [] }),
      perform: async (action) => {
        done.push(action);
        return action === 'second' && conflicts-- > 0 ? 'conflict' : 'done';
      },
    });
    loop.enqueue('key');
    await world.sleep(100);
    expect(done).toEqual(['first', 'second', 'first', 'second', 'third']);
  }));

test('one key is never worked on twice at a time, and no more keys than allowed', () =>
  simulate(1, async (world) => {
    const active = new Set<string>();
    let most = 0;
    const loop = scripted(world, {
      parallelism: 3,
      perform: async (key) => {
        expect(active.has(key)).toBe(false);
        active.add(key);
        most = Math.max(most, active.size);
        await world.sleep(10);
        active.delete(key);
        return 'done';
      },
    });
    for (let i = 0; i < 50; i++) {
      loop.enqueue(`key ${i % 10}`);
      await world.sleep(world.random.float() * 5);
    }
    await world.sleep(1000);
    expect(most).toBe(3);
    expect(loop.idle).toBe(true);
  }));

test('a decision may ask to be made again at a certain time', () =>
  simulate(1, async (world) => {
    const at: number[] = [];
    const loop = scripted(world, {
      decide: (_, now) => {
        at.push(world.clock.monotonic());
        return { actions: [], reasons: [], ...(at.length < 3 ? { again: now + 60_000 } : {}) };
      },
      perform: async () => 'done',
    });
    loop.enqueue('key');
    await world.sleep(1_000_000);
    expect(at).toEqual([0, 60_000, 120_000]);
  }));

test('stopping waits for the action under way, and does no other', () =>
  simulate(1, async (world) => {
    const done: string[] = [];
    const loop = scripted(world, {
      decide: () => ({ actions: ['first', 'second'], reasons: [] }),
      perform: async (action) => {
        await world.sleep(100);
        done.push(action);
        return 'done';
      },
    });
    loop.enqueue('key');
    loop.enqueue('other');
    await world.sleep(50);
    await loop.stop();
    expect(world.clock.monotonic()).toBe(100);
    await world.sleep(1000);
    expect(done).toEqual(['first']);
  }));

test('a leader that was deposed does nothing more, and says so once', () =>
  simulate(1, async (world) => {
    let deposed = 0;
    let performed = 0;
    const { informers } = connect({ send: () => new Promise(() => undefined), watch: () => ({ close: () => undefined }) }, world);
    const controller: Controller<string, string, string> = {
      name: 'scripted',
      sources: [],
      snapshot: (key) => key,
      decide: (key) => ({ actions: [key, key], reasons: [] }),
      perform: async () => (performed++, 'deposed'),
    };
    const loop = runController(controller, { world, informers, onDeposed: () => deposed++ });
    for (const key of ['a', 'b', 'c']) loop.enqueue(key);
    await world.sleep(1000);
    expect({ deposed, performed }).toEqual({ deposed: 1, performed: 1 });
  }));

test('a controller that revalidates performs what is decided just before, and ends the pass if that is something else', () =>
  simulate(1, async (world) => {
    type Action = { readonly do: string; readonly version: number };
    const performed: string[] = [];
    let version = 1;
    let verbs = ['first', 'second', 'recordEvent', 'third'];
    const { informers } = connect({ send: () => new Promise(() => undefined), watch: () => ({ close: () => undefined }) }, world);
    const controller: Controller<string, number, Action> = {
      name: 'revalidating',
      sources: [],
      snapshot: () => version,
      decide: (snapshot) => ({ actions: verbs.map((verb) => ({ do: verb, version: snapshot })), reasons: [] }),
      perform: async (action, _, snapshot) => {
        performed.push(`${action.do} ${action.version} of ${snapshot}`);
        version++;
        if (action.do === 'second') verbs = [];
        return 'done';
      },
      revalidate: true,
    };
    const loop = runController(controller, { world, informers });
    loop.enqueue('key');
    await world.sleep(1000);
    expect(performed).toEqual(['first 1 of 1', 'second 2 of 2', 'recordEvent 1 of 1']);
    expect(loop.idle).toBe(true);
  }));

test.each([
  ['another object', { name: 'b', uid: '2' }],
  ['an object of the same name that was created again', { name: 'a', uid: '2' }],
])('a controller that revalidates does not perform the action of the same verb on %s', (_, later) =>
  simulate(1, async (world) => {
    type Action = { readonly do: string; readonly object: { readonly metadata: { readonly name: string; readonly uid: string } } };
    const performed: string[] = [];
    let decisions = 0;
    const target = () => (performed.length === 0 ? { name: 'a', uid: '1' } : later);
    const { informers } = connect({ send: () => new Promise(() => undefined), watch: () => ({ close: () => undefined }) }, world);
    const controller: Controller<string, string, Action> = {
      name: 'revalidating',
      sources: [],
      snapshot: (key) => key,
      decide: () => ({ actions: ++decisions > 2 ? [] : ['confirm', 'delete'].map((verb) => ({ do: verb, object: { metadata: target() } })), reasons: [] }),
      perform: async (action) => {
        performed.push(`${action.do} ${action.object.metadata.name}`);
        return 'done';
      },
      revalidate: true,
    };
    const loop = runController(controller, { world, informers });
    loop.enqueue('key');
    await world.sleep(1000);
    expect(performed).toEqual(['confirm a']);
    expect(loop.idle).toBe(true);
  }),
);
