import { expect, test } from 'vitest';
import { nodeKind } from '../../../src/api/kinds/core/node.ts';
import { VolumesAttachedUpdater, type VolumesAttachedChange } from '../../../src/storage/attach-detach/node-status-updater.ts';
import { createClient } from '../../../src/client/client.ts';
import { Informers } from '../../../src/client/informers/informers.ts';
import { perfectNetwork, SimulatedNetwork } from '../../../src/sim/world/network.ts';
import { type SimulatedWorld, simulate } from '../../../src/sim/world/world.ts';
import { Cluster, uniqueName } from './cluster.ts';

const attached = (volume: string): VolumesAttachedChange => ({ type: 'attached', volume: uniqueName(volume) });
const detached = (volume: string, evenIfInUse = false): VolumesAttachedChange => ({ type: 'detached', volume: uniqueName(volume), evenIfInUse });

/** Answers take a while: what comes meanwhile has to wait. */
async function startReports(world: SimulatedWorld, cluster: Cluster): Promise<VolumesAttachedUpdater> {
  const transport = new SimulatedNetwork(world, { ...perfectNetwork, delayMs: 50 }).transport(cluster.transport);
  const informers: Informers = new Informers({ client: createClient({ transport }), world });
  const nodes = informers.cache(nodeKind);
  informers.start();
  await informers.synced();
  return new VolumesAttachedUpdater(createClient({ transport, observer: informers.observer }), nodes);
}

test('reports that come while a node is written go together into the next write', () =>
  simulate(1, async (world) => {
    const cluster = await Cluster.start(world);
    await cluster.node('n1');
    const reports = await startReports(world, cluster);
    const before = cluster.revision();
    const outcomes = await Promise.all(['a', 'b', 'c', 'd'].map((volume) => reports.update('n1', attached(volume))));
    expect(outcomes).toEqual(['done', 'done', 'done', 'done']);
    expect(cluster.revision() - before).toBe(2);
    expect(await cluster.look()).toEqual(['node/n1 a b c d']);
    expect(await Promise.all([reports.update('n1', detached('b')), reports.update('n1', attached('a')), reports.update('n1', detached('x'))])).toEqual([
      'done',
      'done',
      'done',
    ]);
    expect(await cluster.look()).toEqual(['node/n1 a c d']);
  }));

test('a volume that came into use while its change waited stays on the list, and keeps no other change waiting', () =>
  simulate(1, async (world) => {
    const cluster = await Cluster.start(world);
    await cluster.node('n1');
    const reports = await startReports(world, cluster);
    for (const volume of ['a', 'b', 'c']) await reports.update('n1', attached(volume));
    await cluster.inUse('n1', 'b');
    await world.sleep(1000);
    const outcomes = await Promise.all([reports.update('n1', detached('a')), reports.update('n1', detached('b')), reports.update('n1', detached('c'))]);
    expect(outcomes).toEqual(['done', 'conflict', 'done']);
    expect(await cluster.look()).toEqual(['node/n1 b in use: b']);
    expect(await reports.update('n1', detached('b', true))).toBe('done');
    expect(await cluster.look()).toEqual(['node/n1 in use: b']);
  }));

test('a report that the node was faster than is refused as a whole', () =>
  simulate(1, async (world) => {
    const cluster = await Cluster.start(world);
    await cluster.node('n1');
    const reports = await startReports(world, cluster);
    await reports.update('n1', attached('a'));
    const outcome = reports.update('n1', detached('a'));
    await cluster.inUse('n1', 'a');
    expect(await outcome).toBe('conflict');
    expect(await cluster.look()).toEqual(['node/n1 a in use: a']);
  }));

test('a node that is gone has no list', () =>
  simulate(1, async (world) => {
    const cluster = await Cluster.start(world);
    const reports = await startReports(world, cluster);
    expect(await reports.update('gone', detached('a'))).toBe('done');
    expect(await reports.update('gone', attached('a'))).toBe('conflict');
  }));
