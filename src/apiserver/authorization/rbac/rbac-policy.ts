import type { ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding, RoleRef, Subject } from '../../../api/generated/types.ts';
import type { User } from '../../api.ts';
import { serviceAccountUser } from '../../user.ts';

/** A rule that a user has, and the binding that gives it. */
export interface GrantedRule {
  readonly rule: PolicyRule;
  /** 'ClusterRoleBinding "cluster-admin" of ClusterRole "cluster-admin" to Group "system:masters"' */
  readonly source: () => string;
}

/** What a user has in a namespace, and the roles that bindings name but that are not there. */
export interface Grants {
  readonly rules: readonly GrantedRule[];
  readonly errors: readonly string[];
}

export type ResolvedRole = { readonly found: true; readonly rules: readonly PolicyRule[] } | { readonly found: false; readonly error: string };

export type RbacObject = Role | ClusterRole | RoleBinding | ClusterRoleBinding;

interface IndexedBinding {
  readonly binding: RoleBinding | ClusterRoleBinding;
  readonly subject: Subject;
  readonly position: number;
}

/** The bindings of one namespace, or of the cluster, by subject. */
type BySubject = Map<string, Map<string, IndexedBinding>>;

/**
 * Who may do what, by the roles and bindings that there are.
 *
 * Guarantee: `grants` looks only at bindings that name the user or one of its groups.
 */
export class RbacPolicy {
  readonly #roles = new Map<string, readonly PolicyRule[]>();
  readonly #clusterRoles = new Map<string, readonly PolicyRule[]>();
  /** '': of the cluster. */
  readonly #bindings = new Map<string, BySubject>();
  /** Each as it was indexed, by namespace and name. */
  readonly #indexed = new Map<string, RoleBinding | ClusterRoleBinding>();

  put(object: RbacObject): void {
    const { namespace = '', name = '' } = object.metadata;
    switch (object.kind) {
      case 'Role':
        this.#roles.set(`${namespace}/${name}`, (object as Role).rules ?? []);
        return;
      case 'ClusterRole':
        this.#clusterRoles.set(name, (object as ClusterRole).rules ?? []);
        return;
      default:
        this.#unbind(object as RoleBinding);
        this.#bind(object as RoleBinding);
    }
  }

  remove(object: RbacObject): void {
    const { namespace = '', name = '' } = object.metadata;
    if (object.kind === 'Role') this.#roles.delete(`${namespace}/${name}`);
    else if (object.kind === 'ClusterRole') this.#clusterRoles.delete(name);
    else this.#unbind(object as RoleBinding);
  }

  /** `namespace` ''; what the user has in the whole cluster. */
  grants(user: User, namespace: string): Grants {
    const rules: GrantedRule[] = [];
    const errors: string[] = [];
    for (const scope of namespace === '' ? [''] : ['', namespace]) {
      for (const { binding, subject } of this.#bindingsOf(user, scope)) {
        const role = this.resolve(binding.roleRef, scope);
        if (!role.found) errors.push(role.error);
        else for (const rule of role.rules) rules.push({ rule, source: () => describe(binding, subject) });
      }
    }
    return { rules, errors: [...new Set(errors)] };
  }

  /** The rules of the role that a binding names. `namespace`: the binding's. */
  resolve({ kind, name }: RoleRef, namespace: string): ResolvedRole {
    if (kind !== 'Role' && kind !== 'ClusterRole') return { found: false, error: `unsupported role reference kind: ${JSON.stringify(kind)}` };
    const rules = kind === 'Role' ? this.#roles.get(`${namespace}/${name}`) : this.#clusterRoles.get(name);
    return rules === undefined
      ? { found: false, error: `${kind.toLowerCase()}.rbac.authorization.k8s.io ${JSON.stringify(name)} not found` }
      : { found: true, rules };
  }

  /** Each binding once, by the first of its subjects that the user is. */
  #bindingsOf(user: User, scope: string): Iterable<IndexedBinding> {
    const bySubject = this.#bindings.get(scope);
    const found = new Map<string, IndexedBinding>();
    if (bySubject === undefined) return [];
    for (const key of [userKey(user.name), ...user.groups.map(groupKey)]) {
      for (const [name, indexed] of bySubject.get(key) ?? []) {
        const before = found.get(name);
        if (before === undefined || indexed.position < before.position) found.set(name, indexed);
      }
    }
    return found.values();
  }

  #bind(binding: RoleBinding | ClusterRoleBinding): void {
    const { namespace = '', name = '' } = binding.metadata;
    const scope = ofMap(this.#bindings, namespace);
    this.#indexed.set(`${namespace}/${name}`, binding);
    for (const [position, subject] of (binding.subjects ?? []).entries()) {
      const key = subjectKey(subject, namespace);
      if (key === undefined) continue;
      const ofSubject = ofMap(scope, key);
      if (!ofSubject.has(name)) ofSubject.set(name, { binding, subject, position });
    }
  }

  /** From whatever subjects it was for before. */
  #unbind({ metadata: { namespace = '', name = '' } }: RoleBinding | ClusterRoleBinding): void {
    const before = this.#indexed.get(`${namespace}/${name}`);
    const scope = this.#bindings.get(namespace);
    if (before === undefined || scope === undefined) return;
    this.#indexed.delete(`${namespace}/${name}`);
    for (const subject of before.subjects ?? []) {
      const key = subjectKey(subject, namespace) ?? '';
      const ofSubject = scope.get(key);
      if (ofSubject?.delete(name) === true && ofSubject.size === 0) scope.delete(key);
    }
    if (scope.size === 0) this.#bindings.delete(namespace);
  }
}

function ofMap<V>(map: Map<string, Map<string, V>>, key: string): Map<string, V> {
  const found = map.get(key) ?? new Map<string, V>();
  map.set(key, found);
  return found;
}

const userKey = (name: string): string => `User ${name}`;
const groupKey = (name: string): string => `Group ${name}`;

/** A service account without a namespace is one of the binding's namespace. */
function subjectKey({ kind, name, namespace = '' }: Subject, bindingNamespace: string): string | undefined {
  if (kind === 'User') return userKey(name);
  if (kind === 'Group') return groupKey(name);
  const home = namespace === '' ? bindingNamespace : namespace;
  return kind === 'ServiceAccount' && home !== '' ? userKey(serviceAccountUser(home, name)) : undefined;
}

function describe({ kind, metadata: { name = '', namespace = '' }, roleRef }: RoleBinding | ClusterRoleBinding, subject: Subject): string {
  const who = subject.kind === 'ServiceAccount' ? `${subject.name}/${subject.namespace ?? namespace}` : subject.name;
  const which = kind === 'RoleBinding' ? `${name}/${namespace}` : name;
  return `${kind} ${JSON.stringify(which)} of ${roleRef.kind} ${JSON.stringify(roleRef.name)} to ${subject.kind} ${JSON.stringify(who)}`;
}
