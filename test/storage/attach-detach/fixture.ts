/** A cluster with two nodes in simulated time. */
import { expect } from 'vitest';
import { type SimulatedWorld, simulate } from '../../../src/sim/world/world.ts';
import { Cluster, runAttachDetach } from './cluster.ts';

export const minutes = 60_000;
export const settled = 1000;

interface Fixture {
  readonly cluster: Cluster;
  readonly world: SimulatedWorld;
  /** What there is once everything has calmed down. */
  readonly shows: (...lines: readonly string[]) => Promise<void>;
}

export const withCluster = (body: (fixture: Fixture) => Promise<void>) => () =>
  simulate(1, async (world) => {
    const cluster = await Cluster.start(world);
    runAttachDetach(cluster.transport, world);
    await cluster.node('n1');
    await cluster.node('n2');
    await body({
      cluster,
      world,
      async shows(...lines) {
        await world.sleep(settled);
        expect((await cluster.look()).filter((line) => line !== 'node/n1' && line !== 'node/n2')).toEqual(lines);
      },
    });
  });

/** A volume, attached for pod web on node n1. */
export async function attachedWeb({ cluster, world }: Pick<Fixture, 'cluster' | 'world'>): Promise<void> {
  await cluster.volume('vol');
  await cluster.pod('web', 'n1', 'vol');
  await world.sleep(settled);
  await cluster.attached('vol', 'n1');
  await world.sleep(settled);
}
