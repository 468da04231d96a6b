/** What an agent writes about its node when it starts: the Node, and the CSINode that belongs to it. */
import type { CSINode, Node, OwnerReference } from '../../api/generated/types.ts';
import { semanticallyEqual } from '../../api/validation/equality.ts';
import { migratedPlugins } from '../../api/volumes/csi-migration.ts';
import type { Host } from '../host.ts';
import { nodeStatus } from './status.ts';

const managedAttachment = 'volumes.kubernetes.io/controller-managed-attach-detach';
export const driverIds = 'csi.volume.kubernetes.io/nodeid';
const migrated = 'storage.alpha.kubernetes.io/migrated-plugins';

/**
 * Not ready yet: it says so once its CSINode is there. Until then no pod may come, or there would be more than its drivers can attach, as
 * nobody knows yet how many that is. An API server of Kubernetes adds this taint by itself (v1.36.4, TaintNodesByCondition); either way the
 * node controller takes it away.
 */
export function newNode(host: Host, now: number): Node {
  const { name, labels, podCidr } = host;
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { ...labels }, annotations: annotationsOf(host) },
    spec: { podCIDR: podCidr, podCIDRs: [podCidr], taints: [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }] },
    status: nodeStatus({ host, old: undefined, volumesInUse: [], ready: false }, now),
  };
}

/** The node as it is after an agent has started on it once more; the same object if nothing differs. What others added stays. */
export function reregistered(host: Host, node: Node): Node {
  const { metadata, spec } = node;
  const { [driverIds]: _, ...others } = metadata.annotations ?? {};
  const labels = { ...metadata.labels, ...host.labels };
  const annotations = { ...others, ...annotationsOf(host) };
  const { podCIDR = host.podCidr, podCIDRs = [podCIDR] } = spec;
  const next = { ...node, metadata: { ...metadata, labels, annotations }, spec: { ...spec, podCIDR, podCIDRs } };
  return semanticallyEqual(next, node) ? node : next;
}

function annotationsOf({ drivers }: Host): Record<string, string> {
  const ids = [...drivers].sort((a, b) => (a.name < b.name ? -1 : 1)).map(({ name, nodeID }) => [name, nodeID]);
  return { ...(ids.length === 0 ? {} : { [driverIds]: JSON.stringify(Object.fromEntries(ids)) }), [managedAttachment]: 'true' };
}

export function newCsiNode({ name, drivers }: Host, node: Node): CSINode {
  return {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'CSINode',
    metadata: { name, annotations: { [migrated]: migratedPlugins.join(',') }, ownerReferences: [ownedBy(node)] },
    spec: { drivers: [...drivers] },
  };
}

/** The same object if nothing differs. */
export function currentCsiNode(host: Host, node: Node, csiNode: CSINode): CSINode {
  const { metadata, spec } = newCsiNode(host, node);
  const next = { ...csiNode, metadata: { ...csiNode.metadata, annotations: { ...csiNode.metadata.annotations, ...metadata.annotations } }, spec };
  return semanticallyEqual(next, csiNode) ? csiNode : next;
}

/** Whether it belongs to this very node, not to one of the same name that was there before. */
export const isOwnedBy = ({ metadata }: CSINode, node: Node): boolean =>
  metadata.ownerReferences?.some(({ kind, uid }) => kind === 'Node' && uid === node.metadata.uid) ?? false;

export function ownedBy({ metadata }: Node): OwnerReference {
  return { apiVersion: 'v1', kind: 'Node', name: metadata.name ?? '', uid: metadata.uid ?? '' };
}
