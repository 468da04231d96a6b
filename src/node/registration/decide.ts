import type { CSINode, Node } from '../../api/generated/types.ts';
import type { Host } from '../host.ts';
import type { NodeAction, NodeDecision, RecordNodeEvent } from './actions.ts';
import { csiNodeKind } from '../../api/kinds/storage/csi-node.ts';
import { csiNodeDriver, currentCsiNode, isOwnedBy, newCsiNode, newNode, reregistered, topologyCollision, withPluginDrivers } from './objects.ts';
import type { PluginDriver } from './plugin-drivers.ts';
import { isNodeReady, nodeStatus, saysTheSame } from './status.ts';

export interface NodeRegistrationSnapshot {
  readonly host: Host;
  readonly node: Node | undefined;
  readonly csiNode: CSINode | undefined;
  /** Since this agent started. */
  readonly registered: boolean;
  /** As node statuses name them. */
  readonly volumesInUse: readonly string[];
  /** When the status is sent although nothing changed; milliseconds since 1970. */
  readonly reportDue: number;
  /** The last event about it was NodeNotSchedulable. */
  readonly unschedulableRecorded: boolean;
  /** Drivers that registered by their sockets. Undefined: drivers cannot, all are the host's own. */
  readonly plugins?: readonly PluginDriver[] | undefined;
}

/**
 * An agent registers its node once, when it starts, and sets its labels and annotations again. Later changes by other clients, and the
 * deletion of the Node, stand, as with a kubelet. Each object is written at most once in a pass: the next pass decides on the result.
 */
export function decideNode(snapshot: NodeRegistrationSnapshot, now: number): NodeDecision {
  const { host, node, registered } = snapshot;
  if (node === undefined) {
    if (registered) return { actions: [], reasons: [{ code: 'NodeDeleted', text: 'the Node was deleted: it is registered again when its agent restarts' }] };
    return { actions: [{ do: 'create-node', object: newNode(host, now) }], reasons: [{ code: 'NodeMissing', text: 'the node is not registered yet' }] };
  }
  const refused = (snapshot.plugins ?? []).flatMap((plugin) => refusal(plugin, node));
  if (refused.length > 0) return { actions: refused, reasons: [{ code: 'DriverRefused', text: 'the node cannot have what a CSI driver reports' }] };
  const own = registered ? node : reregistered(host, node, snapshot.plugins !== undefined);
  const next = withPluginDrivers(own, snapshot.csiNode, snapshot.plugins ?? []);
  if (next !== node) {
    return { actions: [{ do: 'update-node', object: next }], reasons: [{ code: 'NodeDiffers', text: 'the node was registered in another way before' }] };
  }
  const start: NodeAction[] = registered ? [] : [...startEvents(node), { do: 'registered' }];
  return updateNode({ ...snapshot, node }, { start, now });
}

function refusal(plugin: PluginDriver, node: Node): NodeAction[] {
  if (plugin.phase !== 'installing') return [];
  const { name: driver } = plugin;
  const error = topologyCollision(plugin, node) ?? invalidEntry(plugin);
  return error === undefined ? [] : [{ do: 'refuse-driver', driver, error }];
}

/** What the API server would say of the driver's entry in the CSINode. */
function invalidEntry(plugin: PluginDriver): string | undefined {
  if (plugin.nodeID === '') return 'error adding CSI driver node info: driverNodeID must not be empty';
  const entry = { apiVersion: 'storage.k8s.io/v1', kind: 'CSINode', metadata: {}, spec: { drivers: [csiNodeDriver(plugin)] } };
  const [wrong] = csiNodeKind.validate?.(entry) ?? [];
  return wrong === undefined ? undefined : `error updating CSINode object with CSI driver node info: ${wrong.field}: ${wrong.detail}`;
}

/** A kubelet's events when it starts; those about its resources only when the Node is new. */
function startEvents(node: Node): RecordNodeEvent[] {
  const says = (reason: string, message: string): RecordNodeEvent => ({ do: 'record-event', about: node, reason, message });
  const starting = says('Starting', 'Starting kubelet.');
  if (isNodeReady(node.status)) return [starting];
  const becomes = (reason: string) => says(reason, statusIsNow(node, reason));
  return [
    starting,
    ...['NodeHasSufficientMemory', 'NodeHasNoDiskPressure', 'NodeHasSufficientPID'].map(becomes),
    says('NodeAllocatableEnforced', 'Updated Node Allocatable limit across pods'),
  ];
}

const statusIsNow = ({ metadata }: Node, event: string): string => `Node ${metadata.name ?? ''} status is now: ${event}`;

type RegisteredSnapshot = NodeRegistrationSnapshot & { readonly node: Node };

function updateNode(snapshot: RegisteredSnapshot, { start, now }: { readonly start: readonly NodeAction[]; readonly now: number }): NodeDecision {
  const { csiNode, node, host } = snapshot;
  const told = [...start, ...schedulableEvents(snapshot)];
  if (csiNode === undefined) {
    return { actions: [...told, { do: 'create-csi-node', object: newCsiNode(host, node) }], reasons: [{ code: 'CSINodeMissing', text: 'it has no CSINode' }] };
  }
  if (!isOwnedBy(csiNode, node)) {
    const reasons = [{ code: 'CSINodeOfAnother', text: 'its CSINode belongs to a node of the same name that is gone' }];
    return { actions: [...told, { do: 'delete-csi-node', object: csiNode }], reasons };
  }
  const current = currentCsiNode(host, node, { csiNode, plugins: snapshot.plugins });
  const updates: NodeAction[] =
    current === csiNode ? (snapshot.plugins ?? []).flatMap((plugin) => confirmation(plugin, csiNode)) : [{ do: 'update-csi-node', object: current }];
  return report(snapshot, { start: [...told, ...updates], now });
}

function confirmation({ name, phase }: PluginDriver, csiNode: CSINode): NodeAction[] {
  const isNamed = csiNode.spec.drivers?.some((driver) => driver.name === name) === true;
  if (phase === 'installing' && isNamed) return [{ do: 'driver-installed', driver: name }];
  return phase === 'leaving' && !isNamed ? [{ do: 'driver-uninstalled', driver: name }] : [];
}

function schedulableEvents({ node, unschedulableRecorded: toldUnschedulable }: RegisteredSnapshot): RecordNodeEvent[] {
  const unschedulable = node.spec.unschedulable ?? false;
  if (unschedulable === toldUnschedulable) return [];
  const reason = unschedulable ? 'NodeNotSchedulable' : 'NodeSchedulable';
  return [{ do: 'record-event', about: node, reason, message: statusIsNow(node, reason), remember: { unschedulable } }];
}

function report({ host, node, volumesInUse, reportDue }: RegisteredSnapshot, { start, now }: { start: readonly NodeAction[]; now: number }): NodeDecision {
  const status = nodeStatus({ host, old: node.status, volumesInUse, ready: true }, now);
  if (now < reportDue && saysTheSame(status, node.status)) {
    return { actions: start, reasons: [{ code: 'UpToDate', text: 'the node says what there is to say' }], again: reportDue };
  }
  const ready: RecordNodeEvent = { do: 'record-event', about: node, reason: 'NodeReady', message: statusIsNow(node, 'NodeReady') };
  return {
    actions: [...start, { do: 'report', object: { ...node, status } }, ...(isNodeReady(node.status) ? [] : [ready])],
    reasons: [{ code: 'ReportDue', text: 'the node has something to say' }],
  };
}
