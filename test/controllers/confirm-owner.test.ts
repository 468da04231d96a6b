import { expect, test } from 'vitest';
import { untypedKind } from '../../src/api/kind.ts';
import { replicaSetKind } from '../../src/api/kinds/apps/replica-set.ts';
import { ownershipHandlers } from '../../src/controllers/pods/perform-ownership.ts';
import { ok, SimulatedCluster } from '../../src/sim/cluster/simulated-cluster.ts';
import { simulate } from '../../src/sim/world/world.ts';

const ref = { namespace: 'default', name: 'web' };

test('an owner is read again before each adoption: one that was deleted since the last one adopts nothing', () =>
  simulate(1, async (world) => {
    const { client } = await SimulatedCluster.start(world, { controllers: false });
    const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'app', image: 'app' }] } };
    const owner = ok(await client.create(replicaSetKind, { metadata: ref, spec: { selector: { matchLabels: { app: 'web' } }, template } }));
    const handlers = ownershipHandlers(client, [untypedKind(replicaSetKind)]);
    expect(await handlers.confirmOwner({ do: 'confirmOwner', owner })).toBe('done');
    ok(await client.delete(replicaSetKind, ref));
    ok(await client.create(replicaSetKind, { metadata: ref, spec: { selector: { matchLabels: { app: 'web' } }, template } }));
    expect(await handlers.confirmOwner({ do: 'confirmOwner', owner })).toBe('conflict');
  }));
