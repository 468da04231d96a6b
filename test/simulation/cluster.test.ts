/** The simulated cluster itself: its components crash and restart, and what they had written is kept. */
import { expect, test } from 'vitest';
import { persistentVolumeClaimKind } from '../../src/api/kinds/core/persistent-volume-claim.ts';
import { storageClassKind } from '../../src/api/kinds/storage/storage-class.ts';
import { ok, SimulatedCluster } from '../../src/sim/cluster/simulated-cluster.ts';
import { SimulatedComponent } from '../../src/sim/cluster/simulated-component.ts';
import { simulate } from '../../src/sim/world/world.ts';

const inDefault = (name: string) => ({ namespace: 'default', name });

test.each(['memory', 'embedded'] as const)('a server that crashes has what it acknowledged, and its clients go on (%s store)', async (store) => {
  for (const how of ['killed', 'power'] as const) {
    await simulate(7, async (world) => {
      const cluster = await SimulatedCluster.start(world, { store });
      await cluster.create(storageClassKind, { metadata: { name: 'disks' }, provisioner: cluster.disks.capabilities.name });
      await cluster.claim('before', 'disks');
      cluster.server.crash(how);
      const refused = await cluster.client.get(persistentVolumeClaimKind, inDefault('before'));
      expect(refused.ok ? 'answered' : refused.reason).toBe('unreachable');
      await cluster.wait(20_000);
      await cluster.server.start();
      expect(await cluster.phaseOfClaim('before')).toBe('Bound');
      await cluster.claim('after', 'disks');
      await cluster.wait(30_000);
      expect(await cluster.phaseOfClaim('after')).toBe('Bound');
    });
  }
});

test('a request that is pending when the server crashes fails as unreachable', () =>
  simulate(1, async (world) => {
    const cluster = await SimulatedCluster.start(world, { store: 'embedded', controllers: false });
    const asked = cluster.client.create(storageClassKind, { metadata: { name: 'disks' }, provisioner: 'disks' });
    cluster.server.crash();
    const answer = await asked;
    expect(answer.ok ? 'done' : answer.reason).toBe('unreachable');
  }));

test('a component that crashed does nothing more, and restarts with empty memory', () =>
  simulate(3, async (world) => {
    const cluster = await SimulatedCluster.start(world, { controllers: false });
    const controllers = new SimulatedComponent({
      world,
      name: 'controllers',
      run: ({ world: ownWorld, number, through }) => void cluster.startControllers({ world: ownWorld, identity: `controllers-${number}`, through }),
    });
    await cluster.create(storageClassKind, { metadata: { name: 'disks' }, provisioner: cluster.disks.capabilities.name });
    controllers.start();
    await cluster.claim('one', 'disks');
    expect(await cluster.phaseOfClaim('one')).toBe('Bound');
    controllers.crash();
    await cluster.claim('two', 'disks');
    await cluster.wait(60_000);
    expect(await cluster.phaseOfClaim('two')).toBe('Pending');
    controllers.start();
    await cluster.wait(60_000);
    expect(await cluster.phaseOfClaim('two')).toBe('Bound');
    expect(ok(await cluster.client.list(persistentVolumeClaimKind)).items).toHaveLength(2);
  }));
