import { type Client, type ClientOptions, createClient } from '../machinery/client.ts';
import type { Api, User } from '../server/api.ts';
import { createInProcessTransport } from './in-process-transport.ts';

/** The server itself: what it makes for a new cluster, and what it looks up to check a token. */
export function systemClient(api: Api, agent: string): Client {
  return createClient({
    transport: createInProcessTransport(api, { name: 'system:apiserver', groups: ['system:masters', 'system:authenticated'] }, `moor/${agent}`),
  });
}

/** A controller acts under its own name, as in Kubernetes: 'system:serviceaccount:kube-system:namespace-controller'. */
export function controllerUser(name: string): User {
  return {
    name: `system:serviceaccount:kube-system:${name}`,
    groups: ['system:serviceaccounts', 'system:serviceaccounts:kube-system', 'system:authenticated'],
  };
}

export function controllerClient(api: Api, name: string, options: Omit<ClientOptions, 'transport'>): Client {
  return createClient({ ...options, transport: createInProcessTransport(api, controllerUser(name), `moor/${name}`) });
}
