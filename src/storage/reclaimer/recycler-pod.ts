import type { PersistentVolumeSource, Pod, VolumeSource } from '../../api/generated/types.ts';
import { quantityValue } from '../../api/quantity.ts';
import { sortedJson } from '../../api/sorted-json.ts';
import type { Volume } from '../volumes/volume.ts';

/** The pod that empties a volume before another claim gets it. */
export const recyclerNamespace = 'default';
const prefix = 'recycler-for-';
const containerName = 'pv-recycler';
export const recyclerPodName = (volumeName: string): string => `${prefix}${volumeName}`;
export const volumeOfRecyclerPod = (podName: string): string | undefined => (podName.startsWith(prefix) ? podName.slice(prefix.length) : undefined);

export interface RecyclableSource {
  readonly source: VolumeSource;
  readonly minimumSeconds: number;
}

/** How a pod mounts the volume; undefined: volumes of this source cannot be recycled. */
export function recyclableSource({ hostPath, nfs }: PersistentVolumeSource): RecyclableSource | undefined {
  if (hostPath !== undefined) return { source: { hostPath: { path: hostPath.path } }, minimumSeconds: 60 };
  if (nfs !== undefined) return { source: { nfs: { server: nfs.server, path: nfs.path } }, minimumSeconds: 300 };
  return undefined;
}

const secondsPerGi = 30n;
const gi = 1024n ** 3n;

function deadline(volume: Volume, minimumSeconds: number): number {
  const size = volume.capacity === undefined ? 0n : quantityValue(volume.capacity);
  return Math.max(minimumSeconds, Number((size / gi) * secondsPerGi));
}

export function recyclerPod(volume: Volume, { source, minimumSeconds }: RecyclableSource): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: recyclerPodName(volume.name), namespace: recyclerNamespace },
    spec: {
      activeDeadlineSeconds: deadline(volume, minimumSeconds),
      restartPolicy: 'Never',
      volumes: [{ name: 'vol', ...source }],
      containers: [
        {
          name: containerName,
          image: 'registry.k8s.io/build-image/debian-base:bookworm-v1.0.6',
          command: ['/bin/sh'],
          args: ['-c', 'test -e /scrub && find /scrub -mindepth 1 -delete && test -z "$(ls -A /scrub)" || exit 1'],
          volumeMounts: [{ name: 'vol', mountPath: '/scrub' }],
          resources: {},
        },
      ],
    },
    status: {},
  };
}

/** The spec that is recorded when the pod is created, and compared when it has ended. The scheduler adds the node. */
export function specAsCreated(pod: Pod): string {
  const { nodeName: _, ...spec } = pod.spec;
  return sortedJson(spec);
}

/**
 * Why a recycler pod that has succeeded proves nothing; undefined: its container has emptied the volume. Users may change the image of a pod, add
 * a container to it, or write its status. A bound pod's success is written by its node alone: the API server refuses it from others.
 */
export function refutation(pod: Pod, { specCreated, hasNodes }: { readonly specCreated: string | undefined; readonly hasNodes: boolean }): string | undefined {
  if (specAsCreated(pod) !== specCreated) return 'recycler pod was changed after it was created';
  // In a cluster without nodes nothing was ever mounted, and a test plays the kubelet.
  if (!hasNodes) return undefined;
  if ((pod.spec.nodeName ?? '') === '') return 'recycler pod succeeded without having been on a node';
  const ended = pod.status.containerStatuses?.find(({ name }) => name === containerName)?.state?.terminated;
  return ended?.exitCode === 0 ? undefined : 'recycler pod succeeded, but its container did not run to its end';
}
