import {
  Controller,
  ControllerServiceCapability_RPC_Type as Rpc,
  GroupController,
  GroupControllerServiceCapability_RPC_Type as GroupRpc,
  Identity,
  Node,
  NodeServiceCapability_RPC_Type as NodeRpc,
  PluginCapability_Service_Type as Service,
} from '../../grpc/generated/csi.ts';
import { type DriverAnswer, failed, succeeded } from '../contract.ts';
import type { CsiConnection } from './controller-connection.ts';

/** What a driver says about itself. */
export interface CsiIdentity {
  readonly name: string;
  readonly version: string;
  readonly services: ReadonlySet<Service>;
  readonly controller: ReadonlySet<Rpc>;
  readonly group: ReadonlySet<GroupRpc>;
  /** NodeExpandVolume, where the socket has the node service too: such volumes are expanded on the node alone. */
  readonly expandsOnNode: boolean;
}

/** One round of questions. `Unavailable`: the driver is not ready yet. */
export async function identify(connection: CsiConnection): Promise<DriverAnswer<CsiIdentity>> {
  const probe = await connection.call(Identity.method.probe, {}, { timeoutMs: probeTimeoutMs });
  if (!probe.ok) return probe;
  // An absent value means ready.
  if (probe.value.ready === false) return failed('Unavailable', 'the driver is not ready');
  const info = await connection.call(Identity.method.getPluginInfo, {});
  if (!info.ok) return info;
  const { name, vendorVersion: version } = info.value;
  if (!isDriverName(name)) return failed('InvalidArgument', `the driver's name is ${JSON.stringify(name.slice(0, 100))}: ${nameRule}`);
  const plugin = await connection.call(Identity.method.getPluginCapabilities, {});
  if (!plugin.ok) return plugin;
  const services = new Set(plugin.value.capabilities.flatMap(({ type }) => (type.case === 'service' ? [type.value.type] : [])));
  const base = { name, version, services };
  const node = await nodeExpands(connection);
  if (!node.ok) return node;
  if (!services.has(Service.CONTROLLER_SERVICE)) return succeeded({ ...base, controller: new Set(), group: new Set(), expandsOnNode: node.value });
  const controller = await connection.call(Controller.method.controllerGetCapabilities, {});
  if (!controller.ok) return controller;
  const group = await groupCapabilities(connection, services);
  if (!group.ok) return group;
  const rpcs = new Set(controller.value.capabilities.flatMap(({ type }) => (type.case === 'rpc' ? [type.value.type] : [])));
  return succeeded({ ...base, controller: rpcs, group: group.value, expandsOnNode: node.value });
}

async function groupCapabilities(connection: CsiConnection, services: ReadonlySet<Service>): Promise<DriverAnswer<ReadonlySet<GroupRpc>>> {
  if (!services.has(Service.GROUP_CONTROLLER_SERVICE)) return succeeded(new Set());
  const group = await connection.call(GroupController.method.groupControllerGetCapabilities, {});
  return group.ok ? succeeded(new Set(group.value.capabilities.flatMap(({ type }) => (type.case === 'rpc' ? [type.value.type] : [])))) : group;
}

/** A controller's socket need not have the node service. */
async function nodeExpands(connection: CsiConnection): Promise<DriverAnswer<boolean>> {
  const node = await connection.call(Node.method.nodeGetCapabilities, {});
  if (!node.ok) return node.code === 'Unimplemented' ? succeeded(false) : node;
  return succeeded(node.value.capabilities.some(({ type }) => type.case === 'rpc' && type.value.type === NodeRpc.EXPAND_VOLUME));
}

const probeTimeoutMs = 5000;
const nameRule = 'CSI allows at most 63 letters, digits, "-" and ".", with a letter or a digit at both ends';

export const isDriverName = (name: string): boolean => name.length <= 63 && /^[a-zA-Z0-9]([-a-zA-Z0-9.]*[a-zA-Z0-9])?$/.test(name);
