/** The kubelet's /stats/summary (v1.36.4), as far as it is known here: volumes above all. */
import type { Pod } from '../../api/generated/types.ts';
import type { Usage } from '../../world/mounts.ts';
import type { VolumeUsage } from './node-stats.ts';

/** `k8s.io/kubelet/pkg/apis/stats/v1alpha1`. */
export interface Summary {
  readonly node: { readonly nodeName: string; readonly startTime: string; readonly fs?: FileSystemStats };
  readonly pods: readonly PodStats[];
}

interface PodStats {
  readonly podRef: { readonly name: string; readonly namespace: string; readonly uid: string };
  readonly startTime: string | null;
  readonly containers: readonly { readonly name: string; readonly startTime: string }[];
  readonly volume?: readonly VolumeStats[];
}

interface FileSystemStats {
  readonly time: string;
  readonly availableBytes: number;
  readonly capacityBytes: number;
  readonly usedBytes: number;
  readonly inodesFree: number;
  readonly inodes: number;
  readonly inodesUsed: number;
}

interface VolumeStats extends FileSystemStats {
  /** The volume's name in the pod. */
  readonly name: string;
  readonly pvcRef?: { readonly name: string; readonly namespace: string };
}

export interface SummaryOptions {
  readonly nodeName: string;
  /** Milliseconds since 1970, as are all times here. */
  readonly startedAt: number;
  readonly now: number;
  /** Of the file system that has the node's directory. */
  readonly disk: Usage | undefined;
  readonly pods: readonly Pod[];
  readonly volumes: readonly VolumeUsage[];
  /** The running containers of a pod, by its uid. */
  readonly running: (uid: string) => readonly { readonly name: string; readonly startedAt: number }[];
}

export function summaryOf({ nodeName, startedAt, now, disk, pods, volumes, running }: SummaryOptions): Summary {
  const byPod = new Map<string, VolumeStats[]>();
  for (const volume of volumes) byPod.set(volume.pod.uid, [...(byPod.get(volume.pod.uid) ?? []), volumeStats(volume)]);
  return {
    node: { nodeName, startTime: timeText(startedAt), ...(disk === undefined ? {} : { fs: diskStats(disk, now) }) },
    pods: pods.map(({ metadata: { name = '', namespace = '', uid = '' }, status }) => {
      const own = byPod.get(uid);
      return {
        podRef: { name, namespace, uid },
        startTime: status.startTime ?? null,
        containers: running(uid).map((container) => ({ name: container.name, startTime: timeText(container.startedAt) })),
        ...(own === undefined ? {} : { volume: own }),
      };
    }),
  };
}

function diskStats({ available, capacity, used, inodes, inodesFree }: Usage, now: number): FileSystemStats {
  return {
    time: timeText(now),
    availableBytes: available,
    capacityBytes: capacity,
    usedBytes: used,
    inodesFree,
    inodes,
    inodesUsed: inodes - inodesFree,
  };
}

/** An unknown figure is 0, as with a kubelet. */
function volumeStats({ pod, volume, claim, time, ...amounts }: VolumeUsage): VolumeStats {
  const { availableBytes = 0, capacityBytes = 0, usedBytes = 0, inodesFree = 0, inodes = 0, inodesUsed = 0 } = amounts;
  return {
    time: timeText(time),
    availableBytes,
    capacityBytes,
    usedBytes,
    inodesFree,
    inodes,
    inodesUsed,
    name: volume,
    ...(claim === undefined ? {} : { pvcRef: { name: claim, namespace: pod.namespace } }),
  };
}

/** In whole seconds, as the API writes times. */
const timeText = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
