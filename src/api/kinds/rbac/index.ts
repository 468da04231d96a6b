import { untypedKind, type Kind } from '../../kind.ts';
import { clusterRoleBindingKind, roleBindingKind } from './role-bindings.ts';
import { clusterRoleKind, roleKind } from './roles.ts';

/** Who may do what. */
export const rbacKinds: readonly Kind[] = [
  untypedKind(roleKind),
  untypedKind(clusterRoleKind),
  untypedKind(roleBindingKind),
  untypedKind(clusterRoleBindingKind),
];
