import type { Container, EphemeralContainer, Pod, Volume } from '../../api/generated/types.ts';

/** How containers use a volume: as files, or as a device. */
export interface VolumeUse {
  readonly volume: Volume;
  readonly mounted: boolean;
  readonly asDevice: boolean;
}

/** By the spec of a pod, which never changes: a node goes through all of its pods whenever one changes. */
const known = new WeakMap<Pod['spec'], readonly VolumeUse[]>();

/** The volumes that a container of the pod uses. The kubelet ignores the others. */
export function usedVolumes({ spec }: Pick<Pod, 'spec'>): readonly VolumeUse[] {
  let used = known.get(spec);
  if (used === undefined) known.set(spec, (used = findUsed(spec)));
  return used;
}

function findUsed(spec: Pod['spec']): readonly VolumeUse[] {
  const { volumes = [], initContainers = [], containers, ephemeralContainers = [] } = spec;
  if (volumes.length === 0) return [];
  const all: readonly (Container | EphemeralContainer)[] = [...initContainers, ...(containers ?? []), ...ephemeralContainers];
  const mounts = new Set(all.flatMap(({ volumeMounts = [] }) => volumeMounts.map(({ name }) => name)));
  const devices = new Set(all.flatMap(({ volumeDevices = [] }) => volumeDevices.map(({ name }) => name)));
  return volumes
    .map((volume) => ({ volume, mounted: mounts.has(volume.name), asDevice: devices.has(volume.name) }))
    .filter(({ mounted, asDevice }) => mounted || asDevice);
}
