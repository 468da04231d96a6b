import { expect, test } from 'vitest';
import { deploymentKind } from '../../src/api/kinds/apps/deployment.ts';
import { nodeKind } from '../../src/api/kinds/core/node.ts';
import { nodePoolKind } from '../../src/api/kinds/karpenter/node-pool.ts';
import { podKind } from '../../src/api/kinds/pod/pod.ts';
import { ok } from '../../src/sim/cluster/simulated-cluster.ts';
import { inCloud } from './cloud-cluster.ts';

test('a node whose instance is lost while it is drained is not waited for', () =>
  inCloud(async (cluster) => {
    const labels = { app: 'kept' };
    const template = { metadata: { labels, annotations: { 'karpenter.sh/do-not-disrupt': 'true' } }, spec: { containers: [{ name: 'a', image: 'a' }] } };
    await cluster.apply(deploymentKind, {
      metadata: { namespace: 'default', name: 'kept' },
      spec: { replicas: 1, selector: { matchLabels: labels }, template },
    });
    await cluster.until('the pod runs', async () => (await cluster.list(podKind)).some(({ status }) => status.phase === 'Running'));
    await cluster.until('the pool counts its node', async () => (await cluster.list(nodePoolKind)).some(({ status }) => status?.nodes === 1));
    const { metadata } = await cluster.onlyNode();
    const [instance = ''] = cluster.runningInstances();
    cluster.cloud.setFaults([{ fault: 'frozen-instance', instance }]);
    const isThere = async () => (await cluster.list(nodeKind)).find(({ metadata: { uid } }) => uid === metadata.uid);
    const isReady = async () => (await isThere())?.status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;
    await cluster.until('the node is not ready', async () => !(await isReady()));
    ok(await cluster.client.delete(nodeKind, { name: metadata.name ?? '' }));
    await cluster.world.sleep(20_000);
    expect(await isThere()).toMatchObject({ metadata: { deletionTimestamp: expect.any(String) } });
    cluster.cloud.loseInstance(instance);
    await cluster.until('the node is gone', async () => (await isThere()) === undefined, 120);
  }));
