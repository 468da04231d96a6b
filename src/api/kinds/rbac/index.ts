import { erased, type Kind } from '../../kind.ts';
import { clusterRoleBindingKind, roleBindingKind } from './role-bindings.ts';
import { clusterRoleKind, roleKind } from './roles.ts';

/** Who may do what. */
export const rbacKinds: readonly Kind[] = [erased(roleKind), erased(clusterRoleKind), erased(roleBindingKind), erased(clusterRoleBindingKind)];
