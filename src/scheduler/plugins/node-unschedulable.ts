import type { Pod, Taint } from '../../api/generated/types.ts';
import { toleratesTaint } from '../../api/taints.ts';
import { type Plugin, rejection } from '../framework.ts';

const name = 'NodeUnschedulable';

const cordoned = rejection('unresolvable', name, {
  text: 'node(s) were unschedulable',
  rule: 'cordoned',
  detail: () => ({ found: 'is cordoned', wanted: 'to be uncordoned' }),
});

/** The taint of a cordoned node. */
export const cordon: Taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };

const toleratesCordon = ({ spec }: Pod): boolean => (spec.tolerations ?? []).some((toleration) => toleratesTaint(toleration, cordon));

/** NodeUnschedulable: a cordoned node accepts only pods that tolerate its taint. */
export const nodeUnschedulable: Plugin = {
  name,
  preFilter: ({ pod }) => (toleratesCordon(pod) ? 'skip' : { filter: ({ node }) => (node.spec.unschedulable === true ? cordoned : undefined) }),
  queueingHints: {
    events: ['node', 'pod'],
    hint: (pod, change) => {
      if (change.resource === 'node') {
        const { before, after } = change;
        return after !== undefined && after.spec.unschedulable !== true && (before === undefined || before.spec.unschedulable === true);
      }
      return change.resource === 'pod' && change.after?.metadata.uid === pod.uid && toleratesCordon(change.after);
    },
  },
};
