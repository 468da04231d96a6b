import type { VolumeAttachment } from '../../api/generated/types.ts';
import type { Facts } from './facts.ts';
import type { Invariant } from './invariant.ts';

const handleOf = ({ spec }: VolumeAttachment, facts: Facts): string => {
  const name = spec.source.persistentVolumeName ?? '';
  return facts.volumes.get(name)?.spec.csi?.volumeHandle ?? `disk-${name}`;
};

/** The attacher's finalizer keeps the VolumeAttachment until the driver has said that the disk is detached. */
export const detachedAtBackend: Invariant = {
  name: 'a VolumeAttachment goes only once the backend has detached the disk',
  check: (change, facts) => {
    if (change.type !== 'attachment' || change.before === undefined || change.after !== undefined) return undefined;
    const { nodeName } = change.before.spec;
    const handle = handleOf(change.before, facts);
    return facts.nodesOf(handle).has(nodeName) ? `attachment ${change.key} is gone, and disk ${handle} is attached to ${nodeName}` : undefined;
  },
};

/** So long a request may be under way between the question to the server and the deletion. */
const underWayMs = 15_000;
/** A node that was not ready for so long loses its volumes by force; by a clock that runs twice as fast. */
const forcedAfterMs = 170_000;

/** The controllers' caches may be minutes old: before they detach, they ask the server whether the node has the volume mounted. */
export function detachedFromLiveState(): Invariant {
  /** Since when a node says that it uses a volume, by 'node volume'. */
  const inUseSince = new Map<string, number>();
  const notReadyAt = new Map<string, number>();
  return {
    name: 'no volume is detached that its node has said to use',
    check: (change, facts, now) => {
      if (change.type === 'node') {
        const used = new Set(change.after?.status.volumesInUse ?? []);
        for (const name of change.before?.status.volumesInUse ?? []) if (!used.has(name)) inUseSince.delete(`${change.key} ${name}`);
        for (const name of used) if (!inUseSince.has(`${change.key} ${name}`)) inUseSince.set(`${change.key} ${name}`, now);
        // Not a new node, which has never been ready.
        if (!facts.readySince.has(change.key) && facts.wavered.has(change.key)) notReadyAt.set(change.key, now);
      }
      if (change.type !== 'attachment' || change.after?.metadata.deletionTimestamp === undefined || change.before?.metadata.deletionTimestamp !== undefined)
        return undefined;
      const { attacher, nodeName } = change.after.spec;
      const node = facts.nodes.get(nodeName);
      const volume = `kubernetes.io/csi/${attacher}^${handleOf(change.after, facts)}`;
      const since = inUseSince.get(`${nodeName} ${volume}`);
      if (node === undefined || since === undefined || now - since < underWayMs) return undefined;
      // The question was asked before the pause, and the deletion sent after it.
      if (facts.pauses.some(({ from, until }) => since > from - underWayMs && now < until + underWayMs)) return undefined;
      const isForced = now - (notReadyAt.get(nodeName) ?? Number.NEGATIVE_INFINITY) < forcedAfterMs;
      if (isForced || node.spec.taints?.some(({ key }) => key === 'node.kubernetes.io/out-of-service') === true) return undefined;
      return `attachment ${change.key} of ${volume} is deleted, and node ${nodeName} has had it in volumesInUse for ${now - since} ms`;
    },
  };
}
