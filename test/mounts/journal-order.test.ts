/** The journal knows of a mount before the machine does: a power failure at any mount leaves a record of it. */
import { expect, test } from 'vitest';
import { SimulatedCluster } from '../../src/sim/cluster/simulated-cluster.ts';
import { Journal } from '../../src/node/volume-manager/journal.ts';
import { Machine, type HostCall } from '../../src/sim/host/simulated-host.ts';
import { SimulatedDisk } from '../../src/sim/world/disk.ts';
import { simulate, type SimulatedWorld } from '../../src/sim/world/world.ts';
import { everything, MountCluster, prepare } from './mount-cluster.ts';
import { root, startAgent } from './small-agent.ts';

/** The power fails when the agent is about to make its n-th mount: the path of that mount, and those that the journal has on disk. */
async function failAtMount(world: SimulatedWorld, number: number): Promise<{ readonly path: string; readonly recorded: readonly string[] } | undefined> {
  const cluster = await SimulatedCluster.start(world, { controllers: false });
  await prepare(cluster);
  const [machine, disk] = [new Machine(), new SimulatedDisk()];
  const node = await MountCluster.open(world, cluster, machine);
  let [left, path] = [number, ''];
  const dies = (call: HostCall, moment: 'before' | 'after') => {
    if (call.name !== 'mount' || moment !== 'before' || --left !== 0) return false;
    ({ path } = call);
    return true;
  };
  await startAgent({ cluster, machine, world, disk, mayRun: () => true, dies });
  await node.pod('web', await everything(cluster));
  await cluster.wait();
  if (path === '') return undefined;
  const journal = await Journal.open({ disk: disk.crash(world.random), directory: `${root}/journal`, log: world.log });
  return { path, recorded: [...journal.records].map((record) => (record.type === 'staged' ? record.key : record.target)) };
}

test('whichever mount is interrupted by a power failure, the journal has it', async () => {
  const paths: string[] = [];
  for (let number = 1; ; number++) {
    let found: Awaited<ReturnType<typeof failAtMount>>;
    await simulate(number, async (world) => {
      found = await failAtMount(world, number);
    });
    if (found === undefined) break;
    expect(found.recorded).toContain(found.path);
    paths.push(found.path);
  }
  // The memory, the local volume, and the disk for the node and for the pod.
  expect(paths.length).toBeGreaterThanOrEqual(4);
});
