import { type Plugin, rejection } from '../framework.ts';

const name = 'DynamicResources';

/** DynamicResources. Devices are not allocated here: a pod that asks for some waits, and does not run without them. */
export const dynamicResources: Plugin = {
  name,
  preFilter: ({ pod }) => {
    const [claim] = pod.spec.resourceClaims ?? [];
    if (claim === undefined) return 'skip';
    return rejection('unresolvable', name, {
      text: 'cannot allocate all claims',
      rule: 'resourceClaims',
      detail: () => ({
        found: `asks for devices in spec.resourceClaims (${claim.name}), and this scheduler allocates none`,
        wanted: 'no spec.resourceClaims, or another scheduler (spec.schedulerName) that allocates devices',
      }),
    });
  },
};
