import type { ClusterRole, ClusterRoleBinding, ObjectMeta } from '../../api/generated/types.ts';
import type { Kind } from '../../api/kind.ts';
import { clusterRoleBindingKind, roleBindingKind } from '../../api/kinds/rbac/role-bindings.ts';
import { clusterRoleKind, roleKind } from '../../api/kinds/rbac/roles.ts';
import type { KubeObject } from '../../api/object.ts';
import type { Client, Draft } from '../../client/client.ts';
import { defaultPolicy } from '../../apiserver/authorization/rbac/default-policy.ts';
import { reconcileBinding, type Reconciliation, reconcileRole } from '../../apiserver/authorization/rbac/reconcile.ts';
import { controllerPolicy } from '../access/controller-roles.ts';

const rbac = { group: 'rbac.authorization.k8s.io', version: 'rbac.authorization.k8s.io/v1' } as const;

/**
 * What the network of a joined node reads, beyond the node's own objects: Services and their endpoints, the other nodes' addresses, namespaces, NetworkPolicies and
 * the addresses of the pods that they select. In other clusters, kube-proxy and the network plugin have these rights on each node. Not the pods of other nodes: they
 * name secrets, images and commands (docs/decisions/0024).
 */
const nodeNetworkRole: ClusterRole = {
  apiVersion: rbac.version,
  kind: 'ClusterRole',
  metadata: { name: 'mooring:node-network' },
  rules: [
    { apiGroups: [''], resources: ['services', 'nodes', 'namespaces'], verbs: ['list', 'watch'] },
    { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch'] },
    { apiGroups: ['networking.k8s.io'], resources: ['networkpolicies'], verbs: ['list', 'watch'] },
    { apiGroups: ['mooring.dev'], resources: ['podaddresses'], verbs: ['list', 'watch'] },
  ],
};

const nodeNetworkBinding: ClusterRoleBinding = {
  apiVersion: rbac.version,
  kind: 'ClusterRoleBinding',
  metadata: { name: 'mooring:node-network' },
  roleRef: { apiGroup: rbac.group, kind: 'ClusterRole', name: 'mooring:node-network' },
  subjects: [{ kind: 'Group', apiGroup: rbac.group, name: 'system:nodes' }],
};

/** Another client may change the same role at the same time. */
const MAX_ATTEMPTS = 5;

/**
 * The RBAC roles and bindings of every cluster: created if absent, completed if a rule is missing, as kube-apiserver does at each start. All at
 * once, so that a store on disk writes them together.
 */
export async function ensureDefaultPolicy(client: Client): Promise<void> {
  const { clusterRoles, clusterRoleBindings, roles, roleBindings } = defaultPolicy(controllerPolicy);
  await Promise.all([
    ...[...clusterRoles, nodeNetworkRole].map((role) => ensure(client, clusterRoleKind, { expected: role, reconcile: reconcileRole })),
    ...roles.map((role) => ensure(client, roleKind, { expected: role, reconcile: reconcileRole })),
    ...[...clusterRoleBindings, nodeNetworkBinding].map((binding) =>
      ensure(client, clusterRoleBindingKind, { expected: binding, reconcile: reconcileBinding }),
    ),
    ...roleBindings.map((binding) => ensure(client, roleBindingKind, { expected: binding, reconcile: reconcileBinding })),
  ]);
}

interface Wanted<T> {
  readonly expected: T;
  readonly reconcile: (existing: T, expected: T) => Reconciliation<T>;
}

/** @throws the last error if every attempt fails */
async function ensure<T extends KubeObject>(client: Client, kind: Kind<T>, wanted: Wanted<T>): Promise<void> {
  let refused: Error | undefined;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    refused = await attemptOn(client, kind, wanted);
    if (refused === undefined) return;
  }
  throw refused;
}

/** @returns why the attempt failed */
async function attemptOn<T extends KubeObject>(client: Client, kind: Kind<T>, { expected, reconcile }: Wanted<T>): Promise<Error | undefined> {
  const { namespace, name = '' }: ObjectMeta = expected.metadata;
  const ref = { namespace, name };
  const found = await client.get(kind, ref);
  if (!found.ok && found.reason !== 'notFound') return found.error;
  const todo = found.ok ? reconcile(found.value, expected) : undefined;
  if (todo?.type === 'leave') return undefined;
  if (todo?.type === 'update') return errorOf(await client.update(kind, todo.object));
  if (todo?.type === 'replace') await client.delete(kind, ref);
  return errorOf(await client.create(kind, expected as unknown as Draft<T>));
}

const errorOf = (result: { readonly ok: true } | { readonly ok: false; readonly error: Error }): Error | undefined => (result.ok ? undefined : result.error);
