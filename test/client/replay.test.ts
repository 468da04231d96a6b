import { expect, test } from 'vitest';
import { configMapKind } from '../../src/api/kinds/core/config-map.ts';
import { namespaceKind } from '../../src/api/kinds/core/namespace.ts';
import { badNetwork, SimulatedNetwork } from '../../src/sim/world/network.ts';
import { simulate } from '../../src/sim/world/world.ts';
import { startTestCluster } from './test-cluster.ts';
import { crashRepeatedly, startHousekeeping } from '../controllers/housekeeping.ts';

/** Everything that a cluster wrote and logged while it was disturbed, with its times. */
const historyOf = (seed: number) =>
  simulate(seed, async (world) => {
    const cluster = await startTestCluster(world);
    const history: string[] = [];
    cluster.store.watch(
      { prefix: '/', after: 0 },
      {
        changes: (revision, changes) => {
          for (const { type, key, entry } of changes) {
            const value = entry === undefined ? '' : Buffer.from(entry.value).toString('utf8');
            history.push(`${world.clock.monotonic()} ${revision} ${type} ${key} ${value}`);
          }
        },
        end: () => undefined,
      },
    );
    await cluster.client.create(namespaceKind, { metadata: { name: 'team' } });
    for (let i = 0; i < 5; i++) await cluster.client.create(configMapKind, { metadata: { namespace: 'team', name: `map-${i}` } });
    const network = new SimulatedNetwork(world, badNetwork);
    await crashRepeatedly(network.transport(cluster.transport), world, 3);
    await cluster.client.delete(namespaceKind, { name: 'team' });
    await crashRepeatedly(network.transport(cluster.transport), world, 3);
    startHousekeeping(cluster.transport, world);
    await world.sleep(10_000);
    return { history, log: world.lines.map((line) => JSON.stringify(line)), steps: world.steps };
  });

test('a seed replays the whole cluster: every write to the byte, every log line, every moment', async () => {
  for (const seed of [1, 2, 3]) {
    const [first, second] = [await historyOf(seed), await historyOf(seed)];
    expect(first.history.length).toBeGreaterThan(15);
    expect(second).toEqual(first);
  }
});

test('another seed is another history', async () => {
  expect((await historyOf(4)).history).not.toEqual((await historyOf(5)).history);
});
