/** The attach/detach controllers, running, on the real registry, in simulated time: nodes that mount, die and go. */
import { expect, test } from 'vitest';
import { nodeKind } from '../../../src/api/kinds/core/node.ts';
import { isRead } from '../../../src/api/request-info.ts';
import type { Transport } from '../../../src/client/transport.ts';
import { simulate } from '../../../src/sim/world/world.ts';
import { Cluster, managed, runAttachDetach } from './cluster.ts';
import { attachedWeb, minutes, withCluster, settled } from './fixture.ts';

test(
  'a volume that the node has mounted is not detached before it says otherwise',
  withCluster(async ({ cluster, world, shows }) => {
    await attachedWeb({ cluster, world });
    await cluster.inUse('n1', 'vol');
    await cluster.deletePod('web');
    await shows('node/n1 vol in use: vol', 'va/vol@n1 attached');
    await world.sleep(60 * minutes);
    await shows('node/n1 vol in use: vol', 'va/vol@n1 attached');
    await cluster.inUse('n1');
    await shows('va/vol@n1 attached deleting');
  }),
);

test(
  'a node that is not ready keeps a mounted volume for six minutes',
  withCluster(async ({ cluster, world, shows }) => {
    await attachedWeb({ cluster, world });
    await cluster.inUse('n1', 'vol');
    await cluster.deletePod('web');
    await cluster.report('n1', { conditions: [{ type: 'Ready', status: 'Unknown', lastHeartbeatTime: null, lastTransitionTime: null }] });
    await world.sleep(5 * minutes);
    await shows('node/n1 vol in use: vol', 'va/vol@n1 attached');
    await world.sleep(1 * minutes);
    await shows('node/n1 in use: vol', 'va/vol@n1 attached deleting');
  }),
);

test(
  'the out-of-service taint detaches at once what the node has mounted',
  withCluster(async ({ cluster, world, shows }) => {
    await attachedWeb({ cluster, world });
    await cluster.inUse('n1', 'vol');
    await cluster.change(nodeKind, { name: 'n1' }, (node) => ({
      ...node,
      spec: { ...node.spec, taints: [{ key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' }] },
    }));
    await shows('node/n1 vol in use: vol', 'va/vol@n1 attached');
    await cluster.deletePod('web');
    await shows('node/n1 in use: vol', 'va/vol@n1 attached deleting');
  }),
);

test(
  'the attachment to a deleted node goes with the pod; six minutes later, if the node had the volume mounted',
  withCluster(async ({ cluster, world, shows }) => {
    await attachedWeb({ cluster, world });
    await cluster.volume('busy');
    await cluster.pod('job', 'n2', 'busy');
    await world.sleep(settled);
    await cluster.attached('busy', 'n2');
    await cluster.inUse('n2', 'busy');
    await world.sleep(settled);
    await cluster.delete(nodeKind, { name: 'n1' });
    await cluster.delete(nodeKind, { name: 'n2' });
    await shows('va/busy@n2 attached', 'va/vol@n1 attached');
    await cluster.deletePod('web');
    await cluster.deletePod('job');
    await shows('va/busy@n2 attached', 'va/vol@n1 attached deleting');
    await world.sleep(6 * minutes);
    await shows('va/busy@n2 attached deleting', 'va/vol@n1 attached deleting');
  }),
);

test(
  'only nodes that say so get their volumes attached',
  withCluster(async ({ cluster, shows }) => {
    await cluster.node('self', {});
    await cluster.volume('vol');
    await cluster.pod('web', 'self', 'vol');
    await shows('node/self');
    await cluster.change(nodeKind, { name: 'self' }, (node) => ({ ...node, metadata: { ...node.metadata, annotations: managed } }));
    await shows('node/self', 'va/vol@self');
  }),
);

test('many volumes of one node cost few writes of the node, and none is lost', () =>
  simulate(
    1,
    async (world) => {
      const cluster = await Cluster.start(world);
      const outcomes = { reports: 0 };
      runAttachDetach(cluster.transport, world, { onAction: ({ action }) => (JSON.stringify(action).includes('report-attached') && outcomes.reports++, 'go') });
      await cluster.node('n1');
      const names = Array.from({ length: 40 }, (_, i) => `v${i}`);
      for (const name of names) await cluster.volume(name);
      await cluster.pod('web', 'n1', ...names);
      await world.sleep(settled);
      const before = cluster.revision();
      await Promise.all(names.map((name) => cluster.answer(name, 'n1', { attached: true })));
      await world.sleep(10_000);
      expect((await cluster.look()).find((line) => line.startsWith('node/'))?.split(' ')).toHaveLength(41);
      expect(outcomes.reports).toBeLessThan(60);
      // One write for each answer and each event, and a few for the node.
      expect(cluster.revision() - before).toBeLessThan(40 + 40 + 10);
    },
    { steps: 10_000_000 },
  ));

test('many detaches keep no attach waiting', () =>
  simulate(
    1,
    async (world) => {
      const cluster = await Cluster.start(world);
      const { transport } = cluster;
      const slow: Transport = { ...transport, send: async (request) => (isRead(request.info) || (await world.sleep(2000)), transport.send(request)) };
      runAttachDetach(slow, world);
      const names = Array.from({ length: 64 }, (_, i) => `v${i}`);
      for (const name of [...names, 'late']) await cluster.volume(name);
      for (const name of names) {
        await cluster.node(`node-${name}`);
        await cluster.pod(name, `node-${name}`, name);
      }
      await world.sleep(30_000);
      for (const name of names) await cluster.answer(name, `node-${name}`, { attached: true });
      await world.sleep(60_000);
      for (const name of names) await cluster.deletePod(name);
      await world.sleep(1000);
      await cluster.node('n1');
      await cluster.pod('web', 'n1', 'late');
      await world.sleep(3000);
      const left = (await cluster.attachments()).map(({ spec }) => spec.source.persistentVolumeName);
      expect(left).toContain('late');
      expect(left.length).toBeGreaterThan(32);
    },
    { steps: 10_000_000 },
  ));
