import type { Node, PersistentVolume } from '../../api/generated/types.ts';
import { type Facts, isRunning } from './facts.ts';
import type { Invariant } from './invariant.ts';

/** A controller's cache may be so old: it may act on a node's failure so long after the node is back. */
const knownToLiveMs = 120_000;

export const isForOneNode = ({ spec }: PersistentVolume): boolean =>
  (spec.accessModes ?? []).every((mode) => mode === 'ReadWriteOnce' || mode === 'ReadWriteOncePod');

export const oneWriter: Invariant = {
  name: 'at most one node writes a ReadWriteOnce volume',
  check: (change, facts) => {
    if (change.type !== 'disk' || change.change.type !== 'attached') return undefined;
    const { handle } = change.change;
    const nodes = facts.nodesOf(handle);
    if (nodes.size < 2 || !facts.volumesOf(handle).some(isForOneNode)) return undefined;
    return `disk ${handle} is attached to ${[...nodes].sort().join(' and ')}`;
  },
};

export const onePod: Invariant = {
  name: 'at most one pod uses a ReadWriteOncePod volume',
  check: (change, facts) => {
    if (change.type !== 'pod' || change.after === undefined || !isRunning(change.after)) return undefined;
    for (const { claim } of facts.disksOf(change.after)) {
      if (claim.spec.accessModes?.[0] !== 'ReadWriteOncePod') continue;
      const users = Array.from(facts.pods).filter(([, pod]) => isRunning(pod) && facts.disksOf(pod).some((disk) => disk.claim === claim));
      if (users.length > 1) return `claim ${claim.metadata.name} is used by ${users.map(([key]) => key).join(' and ')}`;
    }
    return undefined;
  },
};

/** False: the node is out of service, gone or not ready, or was so shortly before. A node that was always ready is live from the beginning. */
export function isLive(facts: Facts, node: string, now: number): boolean {
  const object = facts.nodes.get(node);
  if (object === undefined || object.spec.taints?.some(({ key }) => key === 'node.kubernetes.io/out-of-service') === true) return false;
  const since = facts.readySince.get(node);
  return since !== undefined && (!facts.wavered.has(node) || now - since >= knownToLiveMs);
}

export const mountedStays: Invariant = {
  name: 'no volume is detached while a live node has it mounted',
  check: (change, facts, now) => {
    if (change.type !== 'disk' || change.change.type !== 'detached') return undefined;
    const { node, handle } = change.change;
    if (!isLive(facts, node, now)) return undefined;
    const [user] = facts.runningOn(node, handle);
    return user === undefined ? undefined : `disk ${handle} was detached from node ${node}, where pod ${user.metadata.name} runs with it`;
  },
};

/** Six minutes by a clock that runs twice as fast, and a little less. */
const unmountWithinMs = 170_000;

const isListed = (node: Node | undefined, handle: string): boolean => node?.status.volumesAttached?.some(({ name }) => name.endsWith(`^${handle}`)) ?? false;
const isInUse = (node: Node, handle: string): boolean => node.status.volumesInUse?.some((name) => name.endsWith(`^${handle}`)) ?? false;

/** A node may mount what volumesAttached lists; it writes volumesInUse before it does. */
export const mayBeMounted: Invariant = {
  name: 'a node that may have a volume mounted keeps it for six minutes',
  check: (change, facts, now) => {
    if (change.type !== 'node' || change.before === undefined || change.after === undefined) return undefined;
    const { before, after, key } = change;
    if (after.spec.taints?.some((taint) => taint.key === 'node.kubernetes.io/out-of-service') === true) return undefined;
    const taken = Array.from(facts.attachments.values()).find(({ metadata, spec, status }) => {
      const handle = facts.volumes.get(spec.source.persistentVolumeName ?? '')?.spec.csi?.volumeHandle ?? '';
      if (spec.nodeName !== key || !status.attached || metadata.deletionTimestamp !== undefined) return false;
      if (!isListed(before, handle) || isListed(after, handle) || !isInUse(after, handle)) return false;
      return facts.readySince.has(key) || now - (facts.unneededSince.get(`${key} ${handle}`) ?? now) < unmountWithinMs;
    });
    return taken === undefined ? undefined : `volume ${taken.spec.source.persistentVolumeName} was detached from node ${key}, which lists it in volumesInUse`;
  },
};

/** A CSI driver may attach nothing. */
const isAttachable = ({ spec }: PersistentVolume, facts: Facts): boolean => facts.csi.get(spec.csi?.driver ?? '')?.features.attaches !== false;

export const runsWithDisk: Invariant = {
  name: 'a running pod has its disks attached',
  check: (change, facts) => {
    if (change.type !== 'pod' || change.after === undefined) return undefined;
    const { before, after } = change;
    const node = after.spec.nodeName ?? '';
    if (!isRunning(after) || (before !== undefined && isRunning(before))) return undefined;
    const missing = facts.disksOf(after).find(({ handle, volume }) => isAttachable(volume, facts) && !facts.nodesOf(handle).has(node));
    return missing === undefined ? undefined : `pod ${change.key} runs on ${node} without its disk ${missing.handle}`;
  },
};
