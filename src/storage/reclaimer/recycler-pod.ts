import type { PersistentVolumeSource, Pod, VolumeSource } from '../../api/generated/types.ts';
import { quantityValue } from '../../api/quantity.ts';
import type { Volume } from '../volumes/volume.ts';

/** The pod that empties a volume before another claim gets it. */
export const recyclerNamespace = 'default';
const prefix = 'recycler-for-';
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
          name: 'pv-recycler',
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

/**
 * Whether a pod that succeeded has emptied the volume: it mounts and runs the same as `recyclerPod`, and was created after the intent.
 * Only kubelets write a pod's status.
 */
export function isRecyclerPodFor(volume: Volume, how: RecyclableSource, { pod, since }: { readonly pod: Pod; readonly since: string }): boolean {
  const { spec: wanted } = recyclerPod(volume, how);
  const [container, ...others] = pod.spec.containers ?? [];
  const ours = wanted.containers?.[0];
  const mount = container?.volumeMounts?.find(({ name }) => name === 'vol');
  const mounted = pod.spec.volumes?.find(({ name }) => name === 'vol');
  return (
    container !== undefined &&
    others.length === 0 &&
    (pod.spec.initContainers ?? []).length === 0 &&
    container.image === ours?.image &&
    sameWords(container.command, ours?.command) &&
    sameWords(container.args, ours?.args) &&
    mount?.mountPath === '/scrub' &&
    Object.keys(mount).length === 2 &&
    sameSource(mounted, how.source) &&
    (pod.metadata.creationTimestamp ?? '') >= since
  );
}

const sameWords = (a: readonly string[] = [], b: readonly string[] = []): boolean => a.length === b.length && a.every((word, i) => word === b[i]);

function sameSource(mounted: VolumeSource = {}, { hostPath, nfs }: VolumeSource): boolean {
  return mounted.hostPath?.path === hostPath?.path && mounted.nfs?.server === nfs?.server && mounted.nfs?.path === nfs?.path && mounted.nfs?.readOnly !== true;
}
