/** What a node has to satisfy for a pod, before anything is known of types and sizes. */
import type { NodeSelectorRequirement, Pod } from '../../api/generated/types.ts';
import { requiredTerms } from '../../scheduler/required-node-affinity.ts';
import { combined, haveCommonNodes, type Requirements, requirementsOf, requirementsOfLabels } from '../requirements/requirements.ts';
import { type VolumeTopology, type VolumeViews, volumeTopologyOf } from './volume-topology.ts';

/** Node selector and affinity, combined with the places of the volumes: the node has to satisfy one of them. */
export function alternativesOf(pod: Pod, views: VolumeViews): VolumeTopology {
  const topology = volumeTopologyOf(pod, views);
  if (topology.type === 'refused') return topology;
  const alternatives = nodeRequirements(pod).flatMap((one) =>
    topology.alternatives.filter((other) => haveCommonNodes(one, other)).map((other) => combined(one, other)),
  );
  if (alternatives.length === 0) return { type: 'refused', message: "the pod's node selector and affinity exclude the places of its volumes" };
  return { type: 'alternatives', alternatives };
}

/** The terms of the required node affinity are alternatives. */
function nodeRequirements(pod: Pod): readonly Requirements[] {
  const selected = requirementsOfLabels(pod.spec.nodeSelector);
  const terms = requiredTerms(pod);
  if (terms === undefined) return [selected];
  return terms
    .filter(({ matchFields = [] }) => matchFields.length === 0)
    .map(({ matchExpressions = [] }) => combined(selected, requirementsOf(matchExpressions.map(expressionOf))));
}

const expressionOf = ({ key, operator, values }: NodeSelectorRequirement) => ({ key, operator, ...(values === undefined ? {} : { values }) });
