/** The autoscaler crashes between two steps, and starts again without memory. */
import { expect, test } from 'vitest';
import { deploymentKind } from '../../src/api/kinds/apps/deployment.ts';
import { ec2NodeClassKind } from '../../src/api/kinds/karpenter/ec2-node-class.ts';
import { nodeClaimKind } from '../../src/api/kinds/karpenter/node-claim.ts';
import { nodePoolKind } from '../../src/api/kinds/karpenter/node-pool.ts';
import { podKind } from '../../src/api/kinds/pod/pod.ts';
import { ok } from '../../src/sim/cluster/simulated-cluster.ts';
import { type CloudCluster, inCloud, nodeClass, nodePool } from './cloud-cluster.ts';

async function deploy(cluster: CloudCluster): Promise<void> {
  const containers = [{ name: 'c', image: 'i', resources: { requests: { cpu: '1' } } }];
  const template = { metadata: { labels: { app: 'web' } }, spec: { containers } };
  await cluster.apply(deploymentKind, {
    metadata: { namespace: 'default', name: 'web' },
    spec: { replicas: 1, selector: { matchLabels: { app: 'web' } }, template },
  });
}

const podRuns = (cluster: CloudCluster) =>
  cluster.until('the pod runs', async () => (await cluster.list(podKind)).some(({ status }) => status.phase === 'Running'));

const disrupted = async (cluster: CloudCluster): Promise<readonly string[]> =>
  (await cluster.launched())
    .filter(({ metadata, spec }) => metadata.deletionTimestamp === undefined && spec.taints?.some(({ key }) => key === 'karpenter.sh/disrupted'))
    .map(({ metadata }) => metadata.name ?? '');

test('after the cloud has launched an instance, before its id is written: the claim finds it, and there is no second one', async () => {
  await inCloud(async (cluster) => {
    let crashed = false;
    const unfollow = cluster.cloud.onChange((change) => {
      if (change.in !== 'instances' || crashed) return;
      crashed = true;
      cluster.cluster.crash('controllers');
    });
    await deploy(cluster);
    await cluster.until('the controllers crash', async () => crashed);
    unfollow();
    const [claim] = await cluster.list(nodeClaimKind);
    expect(claim?.status?.providerID).toBeUndefined();
    await cluster.cluster.restart('controllers');
    await podRuns(cluster);
    expect(await cluster.launched()).toHaveLength(1);
    expect(cluster.cloud.state.instances.size).toBe(1);
  });
});

test('between the mark of a node and its end: a node that is not to go any more is released, and its replacement goes', async () => {
  await inCloud(
    async (cluster) => {
      await deploy(cluster);
      await podRuns(cluster);
      const [old] = await cluster.launched();
      const label = async (team: string | null) =>
        ok(await cluster.client.patch(nodePoolKind, { name: 'default' }, { type: 'merge', body: { spec: { template: { metadata: { labels: { team } } } } } }));
      await label('new');
      await cluster.until('the node is marked', async () => (await disrupted(cluster)).length > 0);
      cluster.cluster.crash('controllers');
      await label(null);
      await cluster.cluster.restart('controllers');
      await cluster.until('the node is released', async () => (await disrupted(cluster)).length === 0);
      // It has drifted meanwhile.
      await cluster.until('the replacement is gone', async () => (await cluster.list(nodeClaimKind)).length === 1 && cluster.runningInstances().length === 1);
      const [kept] = await cluster.launched();
      expect(kept?.metadata.uid).toBe(old?.metadata.uid);
      expect(kept?.metadata.deletionTimestamp).toBeUndefined();
    },
    { pool: nodePool({ disruption: { consolidateAfter: 'Never' } }) },
  );
});

test('a node that drifted is replaced, with its pod', async () => {
  await inCloud(async (cluster) => {
    await deploy(cluster);
    await podRuns(cluster);
    const [old] = await cluster.launched();
    ok(
      await cluster.client.patch(nodePoolKind, { name: 'default' }, { type: 'merge', body: { spec: { template: { metadata: { labels: { team: 'new' } } } } } }),
    );
    await cluster.until('the node is replaced', async () => {
      const nodes = await cluster.launched();
      return nodes.length === 1 && nodes[0]?.metadata.uid !== old?.metadata.uid && nodes[0]?.metadata.labels?.team === 'new';
    });
    await podRuns(cluster);
    expect(cluster.runningInstances()).toHaveLength(1);
  });
});

test('what an EC2NodeClass asks for, and the cloud has not, is refused by name', async () => {
  await inCloud(async (cluster) => {
    const unsupported = {
      capacityReservationSelectorTerms: [{ id: 'cr-1' }],
      connectionTracking: { tcpEstablishedTimeout: 60 },
      cpuOptions: { coreCount: 2 },
      ipPrefixCount: 1,
      networkInterfaces: [{ deviceIndex: 0 }],
      placementGroupSelector: { name: 'near' },
    };
    for (const [field, value] of Object.entries(unsupported)) {
      const refused = await cluster.client.create(ec2NodeClassKind, { ...nodeClass, metadata: { name: 'other' }, spec: { ...nodeClass.spec, [field]: value } });
      expect(refused).toMatchObject({ ok: false });
      expect(refused.ok ? '' : refused.error.message).toContain(`spec.${field}: Invalid value: `);
    }
  });
});
