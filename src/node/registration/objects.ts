/** The Node and CSINode that an agent writes when it starts. */
import type { CSINode, Node, OwnerReference } from '../../api/generated/types.ts';
import { semanticallyEqual } from '../../api/validation/equality.ts';
import { migratedPlugins } from '../../api/volumes/csi-migration.ts';
import type { Host } from '../host.ts';
import { nodeStatus } from './status.ts';

const managedAttachment = 'volumes.kubernetes.io/controller-managed-attach-detach';
export const driverIds = 'csi.volume.kubernetes.io/nodeid';
const migrated = 'storage.alpha.kubernetes.io/migrated-plugins';

/**
 * Not ready until its CSINode exists: before that, the scheduler does not know how many volumes its drivers can attach. Kubernetes' API server
 * adds this taint itself (v1.36.4, TaintNodesByCondition); either way the node lifecycle controller removes it.
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

/** The Node after its agent restarted; the same object if nothing differs. What other clients added stays. */
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

/** Whether it belongs to this very Node, not to an earlier one of the same name. */
export const isOwnedBy = ({ metadata }: CSINode, node: Node): boolean =>
  metadata.ownerReferences?.some(({ kind, uid }) => kind === 'Node' && uid === node.metadata.uid) ?? false;

export function ownedBy({ metadata }: Node): OwnerReference {
  return { apiVersion: 'v1', kind: 'Node', name: metadata.name ?? '', uid: metadata.uid ?? '' };
}
