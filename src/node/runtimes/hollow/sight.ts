import type { Pod } from '../../../api/generated/types.ts';
import { hasEnded } from '../../../storage/volumes/pods.ts';
import type { NodeAllocations } from '../../allocations.ts';
import type { Host } from '../../host.ts';
import { withAllocatedResources } from '../../pods/allocated-resources.ts';
import { freeAddress } from '../../network/addresses.ts';
import type { NodeCaches } from '../../cache/node-caches.ts';
import { missingVariable } from '../../volumes/config-references.ts';
import { volumeStateOf } from '../../volumes/volume-state.ts';
import { usedVolumes } from '../../volumes/used-volumes.ts';
import type { HollowPodSnapshot } from './decide.ts';

interface Around {
  readonly caches: NodeCaches;
  readonly allocations: NodeAllocations;
  /** In hexadecimal. */
  readonly sha256: (text: string) => string;
}

/** All that is known of a pod on a hollow node; what costs something to find out, only if it is asked for. */
export function hollowPodSnapshot(pod: Pod, host: Host, { caches: view, allocations: holdings, sha256 }: Around): Omit<HollowPodSnapshot, 'memory'> {
  const { uid = '' } = pod.metadata;
  const node = view.nodes.getKey(host.name);
  const around = view.volumeSnapshot(pod, host);
  return {
    pod,
    host,
    node,
    admitted: view.isAdmitted(pod, host),
    holding: holdings.assignment(host.name, uid),
    others: () =>
      view
        .podsOn(host.name)
        .filter((other) => other.metadata.uid !== uid && view.isAdmitted(other, host) && !hasEnded(other))
        .map((other) => (holdings.isResized(host.name, other.metadata) ? other : withAllocatedResources(other))),
    volumes: () => usedVolumes(pod).map((use) => volumeStateOf(pod, use, around)),
    freeAddress: () => freeAddress(node?.spec.podCIDR ?? host.podCidr, view.addresses(host.name), uid),
    problem: (container) => missingVariable(container, pod, around),
    hasImage: (image) => holdings.hasImage(host.name, image),
    sha256,
  };
}
