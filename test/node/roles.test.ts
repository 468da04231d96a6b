/** Nodes are held to their role, and it says no more than they need. */
import { expect, test } from 'vitest';
import { controllersByRole } from '../../src/main/controller-roles.ts';
import { nodeOf, nodeRole } from '../../src/main/node-roles.ts';
import type { User } from '../../src/server/api.ts';
import type { Attributes, Authorizer } from '../../src/server/auth/authorizer.ts';
import { grantsFor, grantsOf } from '../../src/server/auth/roles.ts';
import { simulate } from '../../src/sim/world.ts';
import { hollowNodes } from '../controllers/hollow-life.ts';
import { othersMayAll } from '../../src/sim/cluster/access.ts';
import { SimulatedCluster } from '../../src/sim/cluster/cluster.ts';

class Recording implements Authorizer {
  readonly used = new Set<string>();
  readonly refused = new Set<string>();
  readonly #authorizer = controllersByRole(othersMayAll);

  async authorize(user: User, attributes: Attributes) {
    const decision = await this.#authorizer.authorize(user, attributes);
    if (nodeOf(user) !== undefined && attributes.type === 'resource') (decision.allowed ? this.used : this.refused).add(grantsFor(attributes)[0]);
    return decision;
  }
}

test('a node uses every rule of its role, and needs no other', async () => {
  const authorizer = new Recording();
  await simulate(1, async (world) => hollowNodes(await SimulatedCluster.start(world, { authorizer })));
  expect([...authorizer.refused]).toEqual([]);
  expect([...authorizer.used].sort()).toEqual(grantsOf(nodeRole).toSorted());
});
