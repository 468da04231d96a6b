import { type Client, createClient } from '../../client/client.ts';
import type { Transport } from '../../client/transport.ts';
import type { Api, User } from '../../apiserver/api.ts';
import { auditedApi } from '../../apiserver/audit/audited-api.ts';
import type { Auditor } from '../../apiserver/audit/auditor.ts';
import { authorizedApi } from '../../apiserver/authorization/authorized-api.ts';
import type { Authorizer } from '../../apiserver/authorization/authorizer.ts';
import { nodeUser } from '../../apiserver/user.ts';
import { controllerAccount, type ControllerName } from './controller-roles.ts';
import { createInProcessTransport } from './in-process-transport.ts';
import { RequestTurns } from './request-turns.ts';
import type { World } from '../../world/world.ts';

/** The API server as its own client: it creates the objects of a new cluster, and looks up the objects that tokens name. */
export function systemClient(api: Api, agent: string): Client {
  return createClient({
    transport: createInProcessTransport(api, { name: 'system:apiserver', groups: ['system:masters', 'system:authenticated'] }, `moor/${agent}`),
  });
}

const accessible = (api: Api, authorizer: Authorizer, auditor: Auditor | undefined): Api =>
  auditor === undefined ? authorizedApi(api, authorizer) : auditedApi(api, authorizer, auditor);

/** Connects a controller to the API server under its own ServiceAccount, as in Kubernetes. */
export type Connect = (name: ControllerName) => Transport;

/** To the API server of this process, which enforces every controller's role. */
export function connectInProcess(api: Api, authorizer: Authorizer, auditor?: Auditor): Connect {
  const authorized = accessible(api, authorizer, auditor);
  return (name) => createInProcessTransport(authorized, controllerUser(name), `moor/${name}`);
}

/** Connects a node to the API server as `system:node:NAME`. */
export type ConnectNode = (node: string) => Transport;

export function connectNodesInProcess(api: Api, authorizer: Authorizer, auditor?: Auditor): ConnectNode {
  const authorized = accessible(api, authorizer, auditor);
  return (node) => createInProcessTransport(authorized, nodeUser(node), `moor/${node}`);
}

function controllerUser(name: ControllerName): User {
  return { name: controllerAccount(name), groups: ['system:serviceaccounts', 'system:serviceaccounts:kube-system', 'system:authenticated'] };
}

/** Each controller has its own share of a turn of the event loop. */
export function inTurns(world: Pick<World, 'clock' | 'timers'>, connect: Connect): Connect {
  return (name) => new RequestTurns(world).limit(connect(name));
}

/** All nodes together have one share: there are thousands of them. */
export function inSharedTurns(world: Pick<World, 'clock' | 'timers'>, connect: ConnectNode): ConnectNode {
  const turns = new RequestTurns(world);
  return (node) => turns.limit(connect(node));
}
