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

/** The server itself: what it makes for a new cluster, and what it looks up to check a token. */
export function systemClient(api: Api, agent: string): Client {
  return createClient({
    transport: createInProcessTransport(api, { name: 'system:apiserver', groups: ['system:masters', 'system:authenticated'] }, `moor/${agent}`),
  });
}

const accessible = (api: Api, authorizer: Authorizer, auditor: Auditor | undefined): Api =>
  auditor === undefined ? authorizedApi(api, authorizer) : auditedApi(api, authorizer, auditor);

/** How each controller reaches the server: under its own name, as in Kubernetes. */
export type Connect = (name: ControllerName) => Transport;

/** The server of this process, which holds every controller to its role. */
export function connectInProcess(api: Api, authorizer: Authorizer, auditor?: Auditor): Connect {
  const authorized = accessible(api, authorizer, auditor);
  return (name) => createInProcessTransport(authorized, controllerUser(name), `moor/${name}`);
}

/** How each node reaches the server: under its own name, in the group that nodes have. */
export type ConnectNode = (node: string) => Transport;

export function connectNodesInProcess(api: Api, authorizer: Authorizer, auditor?: Auditor): ConnectNode {
  const authorized = accessible(api, authorizer, auditor);
  return (node) => createInProcessTransport(authorized, nodeUser(node), `moor/${node}`);
}

function controllerUser(name: ControllerName): User {
  return { name: controllerAccount(name), groups: ['system:serviceaccounts', 'system:serviceaccounts:kube-system', 'system:authenticated'] };
}
