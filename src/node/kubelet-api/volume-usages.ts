import type { Pod } from '../../api/generated/types.ts';
import type { Usage } from '../../world/mounts.ts';
import type { Clock } from '../../world/world.ts';
import type { NodeStats, VolumeUsage } from './node-stats.ts';
import { claimNameOf } from '../volumes/claimed-volume.ts';

export interface VolumeUsageSource {
  /** Of the node, as they are now. */
  pods(): readonly Pod[];
  /** How full the volumes are that the pod has mounted, by their names in it. */
  usage(pod: Pod): Promise<ReadonlyMap<string, Usage>>;
}

/** Nothing is measured before somebody asks; then one pod after the other, so that one with many files keeps nobody else waiting. */
export function nodeStats(measured: VolumeUsageSource, clock: Clock): NodeStats {
  return {
    async volumes() {
      const all: VolumeUsage[] = [];
      for (const pod of measured.pods()) all.push(...usagesOf(pod, await measured.usage(pod), clock.now()));
      return all;
    },
  };
}

function usagesOf(pod: Pod, usage: ReadonlyMap<string, Usage>, time: number): readonly VolumeUsage[] {
  const { namespace = '', name = '', uid = '' } = pod.metadata;
  return (pod.spec.volumes ?? []).flatMap((volume): readonly VolumeUsage[] => {
    const found = usage.get(volume.name);
    if (found === undefined) return [];
    const { capacity, available, used, inodes, inodesFree, inodesUsed = inodes - inodesFree } = found;
    const amounts = { capacityBytes: capacity, availableBytes: available, usedBytes: used, inodes, inodesFree, inodesUsed };
    return [{ pod: { namespace, name, uid }, volume: volume.name, claim: claimNameOf(pod, volume), time, ...amounts }];
  });
}
