/** Kubernetes' own messages, blanks included. */
import type { Pod } from '../../api/generated/types.ts';
import type { CompetingAttachment } from './snapshot.ts';

export const attachSucceeded = (volume: string): string => `AttachVolume.Attach succeeded for volume "${volume}" `;

export const attachFailed = (volume: string, why: string): string => `AttachVolume.Attach failed for volume "${volume}" : ${why}`;

export const noAnswer = (driver: string, handle: string): string =>
  `timed out waiting for external-attacher of ${driver} CSI driver to attach volume ${handle}`;

export const attachmentRefused = (why: string): string => `kubernetes.io/csi: attacher.Attach failed: ${why}`;

export const goingAway = 'volume attachment is being deleted';

/** The pods that have the volume. Those of other namespaces are counted, not named. */
export function waitingForDetach(volume: string, { metadata }: Pod, competitors: readonly CompetingAttachment[]): string {
  const pods = competitors.flatMap(({ pods: users }) => users);
  const near = pods.filter(({ namespace }) => namespace === metadata.namespace).map(({ name }) => name);
  return `Waiting for detach for volume "${volume}" ${usedBy(near, pods.length - near.length)}`;
}

function usedBy(near: readonly string[], elsewhere: number): string {
  if (near.length === 0 && elsewhere === 0) {
    return 'Volume is already exclusively attached to one node, waiting on detach before it can be attached to another node';
  }
  if (near.length === 0) return `Volume is already used by ${elsewhere} pod(s) in different namespaces`;
  const names = `Volume is already used by pod(s) ${near.join(', ')}`;
  return elsewhere === 0 ? names : `${names} and ${elsewhere} pod(s) in different namespaces`;
}
