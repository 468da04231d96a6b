import type { NodePool } from '../../api/kinds/karpenter/node-pool.ts';
import { labels } from '../labels.ts';
import { combined, type Requirements, requirementsOf, requirementsOfLabels } from './requirements.ts';
import { exactly } from './value-set.ts';

/** What the nodes of a NodePool have: the requirements and the labels of its template. */
export const requirementsOfPool = ({ metadata: { name = '' }, spec: { template } }: NodePool): Requirements =>
  combined(requirementsOf(template.spec.requirements), requirementsOfLabels(template.metadata?.labels), new Map([[labels.nodePool, exactly(name)]]));
