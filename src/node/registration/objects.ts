/** The Node and CSINode that an agent writes when it starts. */
import type { CSINode, CSINodeDriver, Node, OwnerReference } from '../../api/generated/types.ts';
import { semanticallyEqual } from '../../api/validation/equality.ts';
import { migratedPlugins } from '../../api/volumes/csi-migration.ts';
import type { Host } from '../host.ts';
import type { PluginDriver } from './plugin-drivers.ts';
import { nodeStatus } from './status.ts';

const managedAttachment = 'volumes.kubernetes.io/controller-managed-attach-detach';
export const driverIds = 'csi.volume.kubernetes.io/nodeid';
const migrated = 'storage.alpha.kubernetes.io/migrated-plugins';

/**
 * Not ready until its CSINode exists: before that, the scheduler does not know how many volumes its drivers can attach. Kubernetes' API server
 * adds this taint itself (v1.36.4, TaintNodesByCondition); either way the node lifecycle controller removes it.
 */
export function newNode(host: Host, now: number): Node {
  const { name, labels, podCidr, providerID, taints = [] } = host;
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { ...labels }, annotations: annotationsOf(host) },
    spec: {
      podCIDR: podCidr,
      podCIDRs: [podCidr],
      ...(providerID === undefined ? {} : { providerID }),
      taints: [...taints, { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }],
    },
    status: nodeStatus({ host, old: undefined, volumesInUse: [], ready: false }, now),
  };
}

/**
 * The Node after its agent restarted; the same object if nothing differs. What other clients added stays. `keepDrivers`: drivers that registered at an
 * earlier agent stay as well, since they register at this one too.
 */
export function reregistered(host: Host, node: Node, keepDrivers: boolean): Node {
  const { metadata, spec } = node;
  const { [driverIds]: ids, ...others } = metadata.annotations ?? {};
  const labels = { ...metadata.labels, ...host.labels };
  const annotations = { ...others, ...annotationsOf(host, keepDrivers ? idsIn(ids) : {}) };
  const { podCIDR = host.podCidr, podCIDRs = [podCIDR] } = spec;
  const next = { ...node, metadata: { ...metadata, labels, annotations }, spec: { ...spec, podCIDR, podCIDRs } };
  return semanticallyEqual(next, node) ? node : next;
}

function annotationsOf({ drivers }: Host, known: Readonly<Record<string, string>> = {}): Record<string, string> {
  return { ...idAnnotation({ ...known, ...Object.fromEntries(drivers.map(({ name, nodeID }) => [name, nodeID])) }), [managedAttachment]: 'true' };
}

function idAnnotation(ids: Readonly<Record<string, string>>): Record<string, string> {
  const sorted = Object.entries(ids).sort(([a], [b]) => (a < b ? -1 : 1));
  return sorted.length === 0 ? {} : { [driverIds]: JSON.stringify(Object.fromEntries(sorted)) };
}

/** Driver → node id. An annotation that another client damaged is written anew. */
function idsIn(annotation: string | undefined): Readonly<Record<string, string>> {
  try {
    const ids: unknown = JSON.parse(annotation ?? '{}');
    return typeof ids === 'object' && ids !== null ? Object.fromEntries(Object.entries(ids).filter(([, id]) => typeof id === 'string')) : {};
  } catch {
    return {};
  }
}

/**
 * The Node with the ids and topology labels of the drivers that are being installed, and without the ids of those that have left the CSINode; the same
 * object if nothing differs.
 */
export function withPluginDrivers(node: Node, csiNode: CSINode | undefined, plugins: readonly PluginDriver[]): Node {
  const installing = plugins.filter(({ phase }) => phase === 'installing');
  const isInCsiNode = (driver: string) => csiNode?.spec.drivers?.some(({ name }) => name === driver) === true;
  const left = new Set(plugins.flatMap(({ name, phase }) => (phase === 'leaving' && !isInCsiNode(name) ? [name] : [])));
  if (installing.length === 0 && left.size === 0) return node;
  const { [driverIds]: before, ...others } = node.metadata.annotations ?? {};
  const ids = Object.fromEntries(Object.entries(idsIn(before)).filter(([name]) => !left.has(name)));
  const annotations = { ...others, ...idAnnotation({ ...ids, ...Object.fromEntries(installing.map(({ name, nodeID }) => [name, nodeID])) }) };
  const labels = Object.assign({}, node.metadata.labels, ...installing.map(({ topology }) => topology)) as Record<string, string>;
  const next = { ...node, metadata: { ...node.metadata, labels, annotations } };
  return semanticallyEqual(next, node) ? node : next;
}

/** As the kubelet says it. */
export function topologyCollision({ topology }: PluginDriver, { metadata: { labels = {} } }: Node): string | undefined {
  for (const [key, value] of Object.entries(topology)) {
    const label = labels[key];
    const quoted = (text: string) => `${JSON.stringify(key)}:${JSON.stringify(text)}`;
    if (label !== undefined && label !== value)
      return `error updating Node object with CSI driver node info: detected topology value collision: driver reported ${quoted(value)} but existing label is ${quoted(label)}`;
  }
  return undefined;
}

export function csiNodeDriver({ name, nodeID, topology, maxVolumes }: PluginDriver): CSINodeDriver {
  const keys = Object.keys(topology).sort();
  return { name, nodeID, topologyKeys: keys.length === 0 ? null : keys, ...(maxVolumes === undefined ? {} : { allocatable: { count: maxVolumes } }) };
}

/**
 * The host's own drivers, then those that registered by their sockets. Drivers of an earlier agent stay, as with a kubelet: they register again. An entry is
 * immutable but for its count: a driver that has another id now is removed first, and added by the next pass.
 */
function driversNow({ drivers }: Host, known: readonly CSINodeDriver[], plugins: readonly PluginDriver[] | undefined): CSINodeDriver[] {
  if (plugins === undefined) return [...drivers];
  const isOwn = (name: string) => drivers.some((driver) => driver.name === name);
  const others = known.filter(({ name }) => !isOwn(name) && !plugins.some((plugin) => plugin.name === name));
  const isReplaced = (wanted: CSINodeDriver) => {
    const before = known.find(({ name }) => name === wanted.name);
    return before !== undefined && (before.nodeID !== wanted.nodeID || !semanticallyEqual(before.topologyKeys ?? [], wanted.topologyKeys ?? []));
  };
  const current = plugins.filter(({ phase, name }) => phase !== 'leaving' && !isOwn(name)).map(csiNodeDriver);
  return [...drivers, ...others, ...current.filter((driver) => !isReplaced(driver))];
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
export function currentCsiNode(
  host: Host,
  node: Node,
  { csiNode, plugins }: { readonly csiNode: CSINode; readonly plugins: readonly PluginDriver[] | undefined },
): CSINode {
  const { metadata } = newCsiNode(host, node);
  const spec = { drivers: driversNow(host, csiNode.spec.drivers ?? [], plugins) };
  const next = { ...csiNode, metadata: { ...csiNode.metadata, annotations: { ...csiNode.metadata.annotations, ...metadata.annotations } }, spec };
  return semanticallyEqual(next, csiNode) ? csiNode : next;
}

/** Whether it belongs to this very Node, not to an earlier one of the same name. */
export const isOwnedBy = ({ metadata }: CSINode, node: Node): boolean =>
  metadata.ownerReferences?.some(({ kind, uid }) => kind === 'Node' && uid === node.metadata.uid) ?? false;

export function ownedBy({ metadata }: Node): OwnerReference {
  return { apiVersion: 'v1', kind: 'Node', name: metadata.name ?? '', uid: metadata.uid ?? '' };
}
