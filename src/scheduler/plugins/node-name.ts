import { type Plugin, rejection } from '../framework.ts';

const name = 'NodeName';

/** NodeName. Pods with spec.nodeName never enter the queue; `moor why` may ask about one. */
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
