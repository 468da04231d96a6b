/** Nodes may do what Kubernetes' Node authorizer allows, and hollow nodes need no more. */
import { expect, test } from 'vitest';
import type { RequestInfo } from '../../src/api/request-info.ts';
import { controllerAuthorizer } from '../../src/cluster/access/controller-roles.ts';
import type { User } from '../../src/apiserver/api.ts';
import type { Authorizer } from '../../src/apiserver/authorization/authorizer.ts';
import { grantsFor } from '../../src/apiserver/authorization/static-roles.ts';
import { nodeOf } from '../../src/apiserver/user.ts';
import { allowOthers } from '../../src/sim/cluster/access.ts';
import { SimulatedCluster } from '../../src/sim/cluster/simulated-cluster.ts';
import { simulate } from '../../src/sim/world/world.ts';
import { hollowNodes } from '../controllers/roles/hollow-scenarios.ts';

class Recording implements Authorizer {
  readonly used = new Set<string>();
  readonly refused = new Set<string>();
  readonly #authorizer = controllerAuthorizer(allowOthers);

  async authorize(user: User, attributes: RequestInfo) {
    const decision = await this.#authorizer.authorize(user, attributes);
    if (nodeOf(user) !== undefined && attributes.type === 'resource') (decision.allowed ? this.used : this.refused).add(grantsFor(attributes)[0]);
    return decision;
  }
}

test('hollow nodes do this under their own names, and no request is refused', async () => {
  const authorizer = new Recording();
  await simulate(1, async (world) => hollowNodes(await SimulatedCluster.start(world, { authorizer })));
  expect([...authorizer.refused]).toEqual([]);
  expect([...authorizer.used].sort()).toEqual([
    'create /nodes',
    'create coordination.k8s.io/leases',
    'create storage.k8s.io/csinodes',
    'delete /pods',
    'delete storage.k8s.io/csinodes',
    'get coordination.k8s.io/leases',
    'patch /nodes',
    'patch /nodes/status',
    'update /pods/status',
    'update coordination.k8s.io/leases',
    'update storage.k8s.io/csinodes',
  ]);
});
