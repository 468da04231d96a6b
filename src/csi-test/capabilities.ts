import {
  type Controller,
  ControllerServiceCapability_RPC_Type,
  type GroupController,
  GroupControllerServiceCapability_RPC_Type,
  type Identity,
  type Node,
  NodeServiceCapability_RPC_Type,
  PluginCapability_Service_Type,
  PluginCapability_VolumeExpansion_Type,
} from '../grpc/generated/csi.ts';
import type { Client } from '../grpc/client.ts';

/**
 * What a case needs: a capability as `service:NAME`, or something of this run. `restart`: this command started the driver, and may kill it.
 * `second-node`: two instances of the node service.
 */
export type Need = `${'plugin' | 'controller' | 'node' | 'group'}:${string}` | 'controller-service' | 'restart' | 'second-node' | 'mount' | 'mounts';

export interface CsiClients {
  readonly identity: Client<typeof Identity>;
  readonly controller: Client<typeof Controller>;
  readonly group: Client<typeof GroupController>;
  readonly node: Client<typeof Node>;
}

/** What the driver says that it can do, as needs of cases: 'controller:CREATE_DELETE_VOLUME'. */
export async function readCapabilities({ identity, controller, group, node }: CsiClients): Promise<ReadonlySet<Need>> {
  const offered = new Set<Need>();
  for (const { type } of (await identity.getPluginCapabilities({})).capabilities) {
    if (type.case === 'service') offered.add(`plugin:${nameOf(PluginCapability_Service_Type, type.value.type)}`);
    if (type.case === 'volumeExpansion') offered.add(`plugin:${nameOf(PluginCapability_VolumeExpansion_Type, type.value.type)}`);
  }
  if (offered.has('plugin:CONTROLLER_SERVICE')) {
    offered.add('controller-service');
    for (const { type } of (await controller.controllerGetCapabilities({})).capabilities)
      if (type.case === 'rpc') offered.add(`controller:${nameOf(ControllerServiceCapability_RPC_Type, type.value.type)}`);
  }
  if (offered.has('plugin:GROUP_CONTROLLER_SERVICE'))
    for (const { type } of (await group.groupControllerGetCapabilities({})).capabilities)
      if (type.case === 'rpc') offered.add(`group:${nameOf(GroupControllerServiceCapability_RPC_Type, type.value.type)}`);
  for (const { type } of (await node.nodeGetCapabilities({})).capabilities)
    if (type.case === 'rpc') offered.add(`node:${nameOf(NodeServiceCapability_RPC_Type, type.value.type)}`);
  return offered;
}

const nameOf = (names: Readonly<Record<string, number>>, value: number): string =>
  Object.entries(names).find(([, each]) => each === value)?.[0] ?? `number ${value}`;

/** Why a case cannot be tried; undefined: it can. */
export function missingNeed(needs: readonly Need[], offered: ReadonlySet<Need>): string | undefined {
  const missing = needs.find((need) => !offered.has(need));
  if (missing === undefined) return undefined;
  return reasons[missing] ?? `the driver has no capability ${missing.replace(':', ' ')}`;
}

const reasons: Readonly<Partial<Record<Need, string>>> = {
  'controller-service': 'the driver has no controller service',
  restart: 'the driver was not started by this command, so it is not killed',
  'second-node': 'there is one instance of the node service (--nodes 2, --second-endpoint)',
  mount: 'volumes are block devices (--access-type block)',
  mounts: 'the driver mounts nothing that this process sees',
};
