/** What happens to nodes, and to pods because of their nodes. */
import type { Taint } from '../../src/api/generated/types.ts';
import { nodeKind } from '../../src/api/kinds/node.ts';
import type { WholeCluster } from './whole-cluster.ts';

type Story = (cluster: WholeCluster) => Promise<void>;

/** A taint comes and goes, twice, and then to stay; a pod goes with it, and another because its node was never there. */
export const taints: Story = async (cluster) => {
  await cluster.create(nodeKind, { metadata: { name: 'n1' } });
  await cluster.pod('patient', 'n1', []);
  await cluster.pod('orphan', 'nowhere', []);
  const taint = (...given: readonly Taint[]) => cluster.change(nodeKind, { name: 'n1' }, (node) => ({ ...node, spec: { ...node.spec, taints: [...given] } }));
  for (let i = 0; i < 2; i++) {
    await taint({ key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' });
    await cluster.wait();
    await taint();
    await cluster.wait();
  }
  await taint({ key: 'example.com/drained', effect: 'NoExecute' });
  await cluster.wait(60_000);
};
