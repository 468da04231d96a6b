/** Tests of pods on hollow nodes, in simulated time, and a short form of pods. */
import { expect } from 'vitest';
import type { ContainerState, Pod } from '../../src/api/generated/types.ts';
import { simulate } from '../../src/sim/world/world.ts';
import { NodeCluster } from './cluster.ts';

export const onHollowNodes = (run: (cluster: NodeCluster) => Promise<void>) => () =>
  simulate(1, async (world) => {
    const cluster = await NodeCluster.start(world);
    await cluster.run({ world }).ready;
    await run(cluster);
    expect(world.lines.filter(({ level }) => level === 'error')).toEqual([]);
  });

export const seconds = 1000;

function describeState({ waiting, running, terminated }: ContainerState): string {
  if (running !== undefined) return 'running';
  if (terminated !== undefined) return `ended with ${terminated.exitCode}`;
  return `waiting: ${waiting?.reason}`;
}

/** 'Running, app: running ×1' */
export function shown({ status }: Pod): string {
  const all = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])];
  return [status.phase, ...all.map(({ name, state, restartCount }) => `${name}: ${describeState(state)}${restartCount === 0 ? '' : ` ×${restartCount}`}`)].join(
    ', ',
  );
}

export const show = async (cluster: NodeCluster, name: string) => shown(await cluster.getPod(name));
