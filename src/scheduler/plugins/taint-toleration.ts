import type { Node, Pod, Taint, Toleration } from '../../api/generated/types.ts';
import { semanticallyEqual } from '../../api/validation/equality.ts';
import { toleratesTaint } from '../../api/taints.ts';
import { type CyclePlugin, type NodeInfo, type Plugin, rejection, type Rejection } from '../framework.ts';
import { repellingTaints } from '../node-info.ts';
import { normalizeScore } from './normalize-score.ts';

const name = 'TaintToleration';

/** TaintToleration: NoSchedule and NoExecute taints filter, PreferNoSchedule taints score. */
export const taintToleration: Plugin = {
  name,
  weight: 3,
  preFilter: ({ pod }) => new Tolerance(pod.spec.tolerations ?? []),
  queueingHints: {
    events: ['node', 'pod'],
    hint: (pod, change) => {
      if (change.resource === 'node') {
        const { before, after } = change;
        return after !== undefined && (before === undefined || repels(before, pod.pod)) && !repels(after, pod.pod);
      }
      return (
        change.resource === 'pod' &&
        change.after?.metadata.uid === pod.uid &&
        !semanticallyEqual(change.before?.spec.tolerations, change.after.spec.tolerations)
      );
    },
  },
};

/** The first taint that none of the tolerations matches. */
export const untolerated = (taints: readonly Taint[], tolerations: readonly Toleration[]): Taint | undefined =>
  taints.find((taint) => !tolerations.some((toleration) => toleratesTaint(toleration, taint)));

const repels = (node: Node, { spec }: Pod): boolean => untolerated(repellingTaints(node), spec.tolerations ?? []) !== undefined;

class Tolerance implements CyclePlugin {
  readonly #tolerations: readonly Toleration[];
  readonly #preferences: readonly Toleration[];

  constructor(tolerations: readonly Toleration[]) {
    this.#tolerations = tolerations;
    this.#preferences = tolerations.filter(({ effect = '' }) => effect === '' || effect === 'PreferNoSchedule');
  }

  filter({ repellingTaints: taints }: NodeInfo): Rejection | undefined {
    if (taints.length === 0) return undefined;
    const taint = untolerated(taints, this.#tolerations);
    return taint === undefined ? undefined : repelled(taint);
  }

  score(nodes: readonly NodeInfo[]): readonly number[] | undefined {
    if (nodes.every(({ avoidedTaints }) => avoidedTaints.length === 0)) return undefined;
    const counts = nodes.map(({ avoidedTaints }) => avoidedTaints.filter((taint) => untolerated([taint], this.#preferences) !== undefined).length);
    return normalizeScore(counts, { reverse: true });
  }
}

function repelled(taint: Taint): Rejection {
  return rejection('unresolvable', name, {
    text: 'node(s) had untolerated taint(s)',
    rule: 'taint',
    detail: () => {
      const shown = `${taint.key}${taint.value === undefined ? '' : `=${taint.value}`}:${taint.effect}`;
      return { found: `has taint ${shown}, which the pod does not tolerate`, wanted: `a toleration of ${shown} on the pod, or the taint removed` };
    },
  });
}
