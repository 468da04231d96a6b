import type { ContainerStatus, Pod } from '../../api/generated/types.ts';
import { claimsOfPod, hasEnded } from '../../storage/volumes/pods.ts';
import { isResizePending } from '../pods/allocated-resources.ts';
import { configOfContainer, configOfVolume } from '../volumes/config-references.ts';

/** An index function: the node that a pod is on, if it is on any. */
export const nodeOfPod = ({ spec }: Pod): readonly string[] => (spec.nodeName === undefined || spec.nodeName === '' ? [] : [spec.nodeName]);

/** What a pod may be waiting for, as the index calls it. */
export const dependency = {
  claim: (key: string): string => `claim ${key}`,
  configMap: (key: string): string => `configmap ${key}`,
  secret: (key: string): string => `secret ${key}`,
  /** What its node says of volumes. */
  node: (name: string): string => `node ${name}`,
  /** A pod of the node leaves some of its room. */
  room: (node: string) => `room ${node}`,
  /** Any change of what has to be attached. */
  attaching: 'attaching',
} as const;

/** An index function: all that a pod on a node may be waiting for, as long as it waits. */
export function dependenciesOf(pod: Pod): readonly string[] {
  const { metadata, spec, status } = pod;
  if (nodeOfPod(pod).length === 0) return [];
  const forRoom = isResizePending(pod) ? [dependency.room(spec.nodeName ?? '')] : [];
  if (!isWaiting(pod)) return forRoom;
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
  return [...new Set([...forRoom, ...forClaims, ...forFiles])];
}

function isWaiting({ status }: Pod): boolean {
  if (status.phase === 'Succeeded' || status.phase === 'Failed') return false;
  const isHeldUp = ({ state }: ContainerStatus) => state.waiting !== undefined;
  const { initContainerStatuses = [], containerStatuses = [], ephemeralContainerStatuses = [] } = status;
  return status.phase !== 'Running' || [...initContainerStatuses, ...containerStatuses, ...ephemeralContainerStatuses].some(isHeldUp);
}

/** Of a pod that ended, asks for something else than before, or does not get it: on which node there may be more room now. */
export function freedCapacity({ before, after }: { readonly before: Pod | undefined; readonly after: Pod | undefined }): readonly string[] {
  if (before === undefined || (after !== undefined && !hasEnded(after) && takesAsMuch(before, after))) return [];
  return nodeOfPod(before).map(dependency.room);
}

const takesAsMuch = (before: Pod, after: Pod): boolean =>
  after.metadata.generation === before.metadata.generation && (isResizePending(before) || !isResizePending(after));
