import type { Pod } from '../../api/generated/types.ts';
import { hasEnded } from '../../domain/volumes/pods.ts';
import type { Holdings } from '../holdings.ts';
import type { Host } from '../host.ts';
import { allocated } from '../pods/allocated.ts';
import { freeAddress } from '../sight/addresses.ts';
import type { View } from '../sight/view.ts';
import { missingVariable } from '../volumes/files.ts';
import { lookAtVolume } from '../volumes/look.ts';
import { usedVolumes } from '../volumes/used.ts';
import type { PodSight } from './decide.ts';

interface Around {
  readonly view: View;
  readonly holdings: Holdings;
  /** In hexadecimal. */
  readonly sha256: (text: string) => string;
}

/** All that is known of a pod on a hollow node; what costs something to find out, only if it is asked for. */
export function podSight(pod: Pod, host: Host, { view, holdings, sha256 }: Around): Omit<PodSight, 'memory'> {
  const { uid = '' } = pod.metadata;
  const node = view.nodes.getKey(host.name);
  const around = view.surroundings(pod, host);
  return {
    pod,
    host,
    node,
    admitted: view.isAdmitted(pod, host),
    holding: holdings.holding(host.name, uid),
    others: () =>
      view
        .podsOn(host.name)
        .filter((other) => other.metadata.uid !== uid && view.isAdmitted(other, host) && !hasEnded(other))
        .map((other) => (holdings.isGiven(host.name, other.metadata) ? other : allocated(other))),
    volumes: () => usedVolumes(pod).map((use) => lookAtVolume(pod, use, around)),
    freeAddress: () => freeAddress(node?.spec.podCIDR ?? host.podCidr, view.addresses(host.name), uid),
    problem: (container) => missingVariable(container, pod, around),
    hasImage: (image) => holdings.hasImage(host.name, image),
    sha256,
  };
}
