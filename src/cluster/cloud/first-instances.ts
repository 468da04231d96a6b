import type { Taint } from '../../api/generated/types.ts';
import type { Cloud } from '../../cloud/engine/cloud.ts';
import { instanceTypes } from '../../cloud/engine/instance-types.ts';
import { launch } from '../../cloud/engine/instances.ts';
import { subnetsOf } from '../../cloud/engine/network.ts';
import type { Change } from '../../cloud/engine/records.ts';
import { kubeletUserData } from './user-data.ts';

/** They run from the first moment, as those of a cluster that was made before. */
const firstType = 'm5.xlarge';

/** The instances of a managed node group, one zone after the other. */
export async function launchFirstInstances(
  cloud: Cloud,
  { count, taints = [] }: { readonly count: number; readonly taints?: readonly Taint[] },
): Promise<void> {
  const type = instanceTypes.get(firstType);
  if (type === undefined || count === 0) return;
  const subnets = subnetsOf(cloud.region);
  const userData = taints.length === 0 ? {} : { userData: kubeletUserData({ labels: {}, taints }) };
  for (let i = 0; i < count; i++) {
    const subnet = subnets[i % subnets.length];
    if (subnet === undefined) return;
    await cloud.ask('RunInstances', (context) => {
      const { value, changes } = launch({ type, subnet, capacityType: 'on-demand', count: 1, tags: { Name: 'mooring' }, ...userData }, context);
      return { value, changes: changes.map(running) };
    });
  }
}

const running = (change: Change): Change =>
  change.in === 'instances' && change.record !== undefined ? { ...change, record: { ...change.record, state: 'running', due: undefined } } : change;
