import type { Container, EphemeralContainer, PodSpec } from '../../generated/types.ts';

/** An init container that keeps running beside the containers. */
export const isSidecar = (container: Pick<Container, 'restartPolicy'>): boolean => container.restartPolicy === 'Always';

export interface PlacedContainer {
  readonly container: Container | EphemeralContainer;
  /** 'spec.initContainers[0]' */
  readonly field: string;
}

/** Every container of a pod with its place, in Kubernetes' order. */
export function allContainers(spec: PodSpec, field: string): PlacedContainer[] {
  const lists = { initContainers: spec.initContainers, containers: spec.containers, ephemeralContainers: spec.ephemeralContainers };
  return Object.entries(lists).flatMap(([list, containers]) => (containers ?? []).map((container, i) => ({ container, field: `${field}.${list}[${i}]` })));
}
