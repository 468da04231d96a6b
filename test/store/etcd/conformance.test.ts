import { afterAll, beforeAll, describe } from 'vitest';
import { SimulatedEtcd } from '../../../src/sim/etcd/simulated-etcd.ts';
import { SimulatedWorld } from '../../../src/sim/world/world.ts';
import { describeStore } from '../../../src/store/conformance.ts';
import { renumbered } from './renumbered-store.ts';
import { networkWith, openSimulatedStore } from './simulated-store.ts';

/** Its callbacks run one after the other, with all promises settled between two of them. */
function runningWorld(seed: number): { readonly world: SimulatedWorld; readonly stop: () => void } {
  const world = new SimulatedWorld(seed);
  let isRunning = true;
  const step = (): void => {
    world.step();
    if (isRunning) setImmediate(step);
  };
  step();
  return { world, stop: () => (isRunning = false) };
}

describe.each([
  { name: 'etcd', version: '3.5.30' },
  { name: 'etcd whose progress cannot be believed', version: '3.5.12' },
])('$name, simulated', ({ name, version }) => {
  let running: ReturnType<typeof runningWorld>;
  beforeAll(() => {
    running = runningWorld(1);
  });
  afterAll(() => running.stop());

  describeStore(name, async () => {
    const { world } = running;
    const etcd = new SimulatedEtcd(world, { version, bugs: { progressBeforeEvents: version === '3.5.12' } });
    return renumbered(await openSimulatedStore(world, etcd, { network: networkWith(world, {}) }));
  });
});
