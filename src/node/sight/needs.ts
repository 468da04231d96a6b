import type { ContainerStatus, Pod } from '../../api/generated/types.ts';
import { claimsOfPod } from '../../domain/volumes/pods.ts';
import { filesOfContainer, filesOfVolume } from '../volumes/files.ts';

/** An index function: the node that a pod is on, if it is on any. */
export const nodeOfPod = ({ spec }: Pod): readonly string[] => (spec.nodeName === undefined || spec.nodeName === '' ? [] : [spec.nodeName]);

/** What a pod may be waiting for, as the index calls it. */
export const need = {
  claim: (key: string): string => `claim ${key}`,
  configMap: (key: string): string => `configmap ${key}`,
  secret: (key: string): string => `secret ${key}`,
  /** What its node says of volumes. */
  node: (name: string): string => `node ${name}`,
  /** Any change of what has to be attached. */
  attaching: 'attaching',
} as const;

/** An index function: all that a pod on a node may be waiting for, as long as it waits. */
export function needsOf(pod: Pod): readonly string[] {
  const { metadata, spec, status } = pod;
  if (nodeOfPod(pod).length === 0 || !isWaiting(pod)) return [];
  const { namespace = '' } = metadata;
  const files = [
    ...(spec.volumes ?? []).flatMap(filesOfVolume),
    ...(status.phase === undefined ? [] : [...(spec.initContainers ?? []), ...(spec.containers ?? [])].flatMap(filesOfContainer)),
  ];
  const claims = claimsOfPod(pod).map(need.claim);
  const forClaims = claims.length === 0 ? [] : [...claims, need.node(spec.nodeName ?? ''), need.attaching];
  const forFiles = files.map(({ kind, name }) => (kind === 'configmap' ? need.configMap : need.secret)(`${namespace}/${name}`));
  return [...new Set([...forClaims, ...forFiles])];
}

function isWaiting({ status }: Pod): boolean {
  if (status.phase === 'Succeeded' || status.phase === 'Failed') return false;
  const isHeldUp = ({ state }: ContainerStatus) => state.waiting !== undefined;
  return status.phase !== 'Running' || [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])].some(isHeldUp);
}
