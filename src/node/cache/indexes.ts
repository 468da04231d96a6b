import type { ContainerStatus, Pod } from '../../api/generated/types.ts';
import { claimsOfPod, hasEnded } from '../../storage/volumes/pods.ts';
import { isResizePending } from '../pods/allocated-resources.ts';
import { configOfContainer, configOfVolume } from '../volumes/config-references.ts';

/** An index function: the node that a pod is on, if it is on any. */
export const nodeOfPod = ({ spec }: Pod): readonly string[] => (spec.nodeName === undefined || spec.nodeName === '' ? [] : [spec.nodeName]);

/** The values of the index of waiting pods: what a pod may wait for. */
export const dependency = {
  claim: (key: string): string => `claim ${key}`,
  configMap: (key: string): string => `configmap ${key}`,
  secret: (key: string): string => `secret ${key}`,
  /** The volumes in the node's status. */
  node: (name: string): string => `node ${name}`,
  /** Capacity of the node. */
  capacity: (node: string) => `capacity ${node}`,
  /** Which drivers need attachments. */
  attaching: 'attaching',
} as const;

/** An index function: everything that a pod on a node may wait for, as long as it waits. */
export function dependenciesOf(pod: Pod): readonly string[] {
  const { metadata, spec, status } = pod;
  if (nodeOfPod(pod).length === 0) return [];
  const forCapacity = isResizePending(pod) ? [dependency.capacity(spec.nodeName ?? '')] : [];
  if (!isWaiting(pod)) return forCapacity;
  const { namespace = '' } = metadata;
  const files = [
    ...(spec.volumes ?? []).flatMap(configOfVolume),
    ...(status.phase === undefined
      ? []
      : [...(spec.initContainers ?? []), ...(spec.containers ?? []), ...(spec.ephemeralContainers ?? [])].flatMap(configOfContainer)),
  ];
  const claims = claimsOfPod(pod).map(dependency.claim);
  const forClaims = claims.length === 0 ? [] : [...claims, dependency.node(spec.nodeName ?? ''), dependency.attaching];
  const forFiles = files.map(({ kind, name }) => (kind === 'configmap' ? dependency.configMap : dependency.secret)(`${namespace}/${name}`));
  return [...new Set([...forCapacity, ...forClaims, ...forFiles])];
}

function isWaiting({ status }: Pod): boolean {
  if (status.phase === 'Succeeded' || status.phase === 'Failed') return false;
  const isHeldBack = ({ state }: ContainerStatus) => state.waiting !== undefined;
  const { initContainerStatuses = [], containerStatuses = [], ephemeralContainerStatuses = [] } = status;
  return status.phase !== 'Running' || [...initContainerStatuses, ...containerStatuses, ...ephemeralContainerStatuses].some(isHeldBack);
}

/** The capacity dependencies of a change: a pod ended, was resized, or does not get the resources that it asks for. */
export function freedCapacity({ before, after }: { readonly before: Pod | undefined; readonly after: Pod | undefined }): readonly string[] {
  if (before === undefined || (after !== undefined && !hasEnded(after) && takesAsMuch(before, after))) return [];
  return nodeOfPod(before).map(dependency.capacity);
}

const takesAsMuch = (before: Pod, after: Pod): boolean =>
  after.metadata.generation === before.metadata.generation && (isResizePending(before) || !isResizePending(after));
