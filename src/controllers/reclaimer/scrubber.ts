import type { PersistentVolumeSource, Pod, VolumeSource } from '../../api/generated/types.ts';
import { quantityValue } from '../../api/quantity.ts';
import type { Volume } from '../../domain/volumes/volume.ts';

/** The pod that empties a volume before somebody else gets it. */
export const scrubberNamespace = 'default';
export const scrubberName = (volumeName: string): string => `recycler-for-${volumeName}`;

interface Scrubbable {
  readonly source: VolumeSource;
  readonly minimumSeconds: number;
}

/** How a pod mounts the volume; undefined: no pod can scrub such a volume. */
export function scrubbable({ hostPath, nfs }: PersistentVolumeSource): Scrubbable | undefined {
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

export function scrubberPod(volume: Volume, { source, minimumSeconds }: Scrubbable): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: scrubberName(volume.name), namespace: scrubberNamespace },
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
