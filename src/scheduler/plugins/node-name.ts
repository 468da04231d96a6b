import { type Plugin, rejection } from '../framework.ts';

const name = 'NodeName';

/** A pod that names its node goes there. Such pods do not come through the queue; whoever asks what would be, may ask about one. */
export const nodeName: Plugin = {
  name,
  preFilter: ({ pod }) => {
    const wanted = pod.spec.nodeName ?? '';
    if (wanted === '') return 'skip';
    const elsewhere = rejection('unresolvable', name, {
      text: "node(s) didn't match the requested node name",
      rule: 'nodeName',
      detail: () => ({ found: 'is another node', wanted: `the name ${wanted}` }),
    });
    return { filter: (node) => (node.name === wanted ? undefined : elsewhere) };
  },
  queueingHints: { events: ['node'], hint: (_, change) => change.before === undefined },
};
