import type { Container, EphemeralContainer, PodSpec } from '../../generated/types.ts';

/** An init container that keeps running beside the containers. */
export const isSidecar = (container: Pick<Container, 'restartPolicy'>): boolean => container.restartPolicy === 'Always';

export interface PlacedContainer {
  readonly container: Container | EphemeralContainer;
  /** 'spec.initContainers[0]' */
  readonly field: string;
}

const lists = ['initContainers', 'containers', 'ephemeralContainers'] as const;

/** Every container of a pod with its place, in Kubernetes' order. */
export function allContainers(spec: PodSpec, field: string): PlacedContainer[] {
  const placed: PlacedContainer[] = [];
  for (const list of lists) spec[list]?.forEach((container, i) => placed.push({ container, field: `${field}.${list}[${i}]` }));
  return placed;
}
