import type { Pod } from '../../api/generated/types.ts';
import type { VolumeStats } from '../../drivers/contract.ts';
import type { Clock } from '../../world/world.ts';
import type { NodeStats, VolumeUsage } from './node-stats.ts';
import { claimNameOf } from '../volumes/claimed-volume.ts';

export interface VolumeUsageSource {
  /** The node's pods. */
  pods(): readonly Pod[];
  /** Usage of the pod's mounted volumes, by their names in the pod. */
  usage(pod: Pod): Promise<ReadonlyMap<string, VolumeStats>>;
}

/** Measures for each request, one pod after the other, so that a volume with many files does not hold up the node. */
export function nodeStats(measured: VolumeUsageSource, clock: Clock): NodeStats {
  return {
    async volumes() {
      const all: VolumeUsage[] = [];
      for (const pod of measured.pods()) all.push(...usagesOf(pod, await measured.usage(pod), clock.now()));
      return all;
    },
  };
}

function usagesOf(pod: Pod, usage: ReadonlyMap<string, VolumeStats>, time: number): readonly VolumeUsage[] {
  const { namespace = '', name = '', uid = '' } = pod.metadata;
  return (pod.spec.volumes ?? []).flatMap((volume): readonly VolumeUsage[] => {
    const found = usage.get(volume.name);
    if (found === undefined) return [];
    const { capacity, available, used, inodes, inodesFree, inodesUsed = inodes - inodesFree, health } = found;
    const amounts = { capacityBytes: capacity, availableBytes: available, usedBytes: used, inodes, inodesFree, inodesUsed };
    return [{ pod: { namespace, name, uid }, volume: volume.name, claim: claimNameOf(pod, volume), time, health, ...amounts }];
  });
}
