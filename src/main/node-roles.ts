import type { User } from '../server/api.ts';
import type { Attributes, Authorizer } from '../server/auth/authorizer.ts';
import { grantsFor, grantsOf, type Role, type Rule } from '../server/auth/roles.ts';

const rule = (verbs: string, group: string, ...resources: readonly string[]): Rule => ({ verbs: verbs.split(' '), group, resources });

/** What a node may do to what bears its own name. When it creates something, the name is not known yet. */
const ownRole: Role = [
  rule('create update', '', 'nodes'),
  rule('update', '', 'nodes/status'),
  rule('create update delete', 'storage.k8s.io', 'csinodes'),
  rule('get create update', 'coordination.k8s.io', 'leases'),
];

/** What it may do to pods. That they are its own is not checked. */
const podRole: Role = [rule('update', '', 'pods/status'), rule('delete', '', 'pods')];

export const nodeRole: Role = [...ownRole, ...podRole];

const group = 'system:nodes';
const prefix = 'system:node:';

export const nodeUser = (node: string): User => ({ name: `${prefix}${node}`, groups: [group, 'system:authenticated'] });

/** Undefined: the user is no node. */
export const nodeOf = ({ name, groups }: User): string | undefined =>
  groups.includes(group) && name.startsWith(prefix) ? name.slice(prefix.length) : undefined;

/** Nodes may do what concerns themselves and their pods; about all others, somebody else decides. */
export function nodesByRole(others: Authorizer, role: Role = nodeRole): Authorizer {
  const granted = new Set(grantsOf(role));
  const own = new Set(grantsOf(ownRole));
  return {
    authorize(user, attributes) {
      const node = nodeOf(user);
      if (node === undefined || attributes.type === 'path') return others.authorize(user, attributes);
      const [grant] = grantsFor(attributes);
      if (!granted.has(grant)) return { allowed: false, reason: '' };
      return own.has(grant) && !isOwn(attributes, node) ? { allowed: false, reason: `it is not what node "${node}" may speak for` } : { allowed: true };
    },
  };
}

function isOwn({ resource, namespace, name, verb }: Extract<Attributes, { type: 'resource' }>, node: string): boolean {
  if (resource === 'leases' && namespace !== 'kube-node-lease') return false;
  return name === node || (name === '' && verb === 'create');
}
