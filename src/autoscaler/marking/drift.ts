import type { NodeClaim } from '../../api/kinds/karpenter/node-claim.ts';
import type { NodePool } from '../../api/kinds/karpenter/node-pool.ts';
import { annotations } from '../labels.ts';
import { nodePoolHash } from '../node-claims.ts';
import { haveCommonNodes, requirementsOf, requirementsOfLabels } from '../requirements/requirements.ts';

/** Karpenter's reason; undefined: the node is what its NodePool asks for. */
export function driftOf(claim: NodeClaim, pool: NodePool, sha256: (text: string) => string): string | undefined {
  const { annotations: known, labels } = claim.metadata;
  const hash = known?.[annotations.nodePoolHash];
  if (hash !== undefined && hash !== nodePoolHash(pool, sha256)) return 'NodePoolDrifted';
  return haveCommonNodes(requirementsOf(pool.spec.template.spec.requirements), requirementsOfLabels(labels)) ? undefined : 'RequirementsDrifted';
}
