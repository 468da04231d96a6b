/** The autoscaler works with its role, and the role grants no more than it needs. */
import { expect, test } from 'vitest';
import { deploymentKind } from '../../src/api/kinds/apps/deployment.ts';
import { nodeClaimKind } from '../../src/api/kinds/karpenter/node-claim.ts';
import { podKind } from '../../src/api/kinds/pod/pod.ts';
import type { RequestInfo } from '../../src/api/request-info.ts';
import type { User } from '../../src/apiserver/api.ts';
import { grantsFor, grantsOf } from '../../src/apiserver/authorization/static-roles.ts';
import { controllerAccount, controllerAuthorizer, controllerRoles } from '../../src/cluster/access/controller-roles.ts';
import { allowOthers } from '../../src/sim/cluster/access.ts';
import { ok } from '../../src/sim/cluster/simulated-cluster.ts';
import { inCloud, nodePool } from './cloud-cluster.ts';

const authorizer = controllerAuthorizer(allowOthers);
const granted = new Set(grantsOf(controllerRoles.karpenter));

test('the role of the autoscaler grants exactly what it uses', async () => {
  const [used, refused] = [new Set<string>(), new Set<string>()];
  const recording = {
    async authorize(user: User, attributes: RequestInfo) {
      const decision = await authorizer.authorize(user, attributes);
      if (user.name !== controllerAccount('karpenter') || attributes.type === 'path') return decision;
      const [exact, any] = grantsFor(attributes);
      if (decision.allowed) used.add(granted.has(exact) ? exact : any);
      else refused.add(exact);
      return decision;
    },
  };
  const pool = nodePool();
  const template = { spec: { ...pool.spec?.template?.spec, terminationGracePeriod: '5m' } };
  await inCloud(
    async (cluster) => {
      const deploy = async (app: string, annotations: Record<string, string>): Promise<void> => {
        const containers = [{ name: app, image: app, resources: { requests: { cpu: '3' } } }];
        const spec = { replicas: 1, selector: { matchLabels: { app } }, template: { metadata: { labels: { app }, annotations }, spec: { containers } } };
        await cluster.apply(deploymentKind, { metadata: { namespace: 'default', name: app }, spec });
      };
      await deploy('evicted', {});
      await deploy('kept', { 'karpenter.sh/do-not-disrupt': 'true' });
      const run = async () => (await cluster.list(podKind)).filter(({ status }) => status.phase === 'Running').length;
      await cluster.until('the pods run', async () => (await run()) === 2);
      // One pod is evicted; the grace period of its node ends the other.
      for (const { metadata } of await cluster.list(nodeClaimKind)) ok(await cluster.client.delete(nodeClaimKind, { name: metadata.name ?? '' }));
      await cluster.world.sleep(500_000);
      expect(await run()).toBe(2);
      for (const name of ['evicted', 'kept']) ok(await cluster.client.delete(deploymentKind, { namespace: 'default', name }));
      await cluster.until('all nodes are removed', async () => (await cluster.launched()).length === 0);
    },
    { authorizer: recording, pool: { ...pool, spec: { ...pool.spec, template } } },
  );
  expect([...refused]).toEqual([]);
  expect([...granted].filter((grant) => !used.has(grant))).toEqual([]);
});
