/**
 * Adoption and release (pkg/controller/controller_ref_manager.go). A pod, ReplicaSet or ControllerRevision belongs to the controller that
 * its owner references name, by uid. An object without controller is adopted by a controller that selects it; an object that does
 * not match any more is released.
 */
import type { OwnerReference } from '../../api/generated/types.ts';
import type { Stored } from '../../api/stored.ts';
import type { KubeObject } from '../../api/object.ts';

export const controllerOf = ({ metadata }: KubeObject): OwnerReference | undefined => metadata.ownerReferences?.find(({ controller }) => controller === true);

/** An index function: the uid of the controller, if there is one. */
export const controllerUid = (object: KubeObject): readonly string[] => {
  const controller = controllerOf(object);
  return controller === undefined ? [] : [controller.uid];
};

/** An index function: the uid of the controller, or the namespace of an object that has none. */
export const controllerUidOrNamespace = (object: Stored): readonly string[] => [controllerOf(object)?.uid ?? orphansOf(object.metadata.namespace)];

/** The index value of a namespace's orphans in `controllerUidOrNamespace`; no uid looks like this. */
export const orphansOf = (namespace: string | undefined): string => `orphans of ${namespace ?? ''}`;

export interface ObjectsByOwner<T> {
  readonly owned: readonly T[];
  readonly toAdopt: readonly T[];
  readonly toRelease: readonly T[];
}

/** Objects of other controllers are left out. An owner that is being deleted adopts and releases nothing. */
export function sortByOwner<T extends Stored>(owner: Stored, candidates: Iterable<T>, matches: (candidate: T) => boolean): ObjectsByOwner<T> {
  const owned: T[] = [];
  const toAdopt: T[] = [];
  const toRelease: T[] = [];
  const ownerGoes = owner.metadata.deletionTimestamp !== undefined;
  for (const candidate of candidates) {
    if (candidate.metadata.namespace !== owner.metadata.namespace) continue;
    const controller = controllerOf(candidate);
    if (controller === undefined) {
      if (!ownerGoes && candidate.metadata.deletionTimestamp === undefined && matches(candidate)) toAdopt.push(candidate);
    } else if (controller.uid === owner.metadata.uid) {
      if (matches(candidate)) owned.push(candidate);
      else if (!ownerGoes) toRelease.push(candidate);
    }
  }
  return { owned, toAdopt, toRelease };
}

export type OwnershipAction =
  /** Before any adoption: goes on only if the server still has the owner and it is not being deleted. The cache may be old. */
  | { readonly do: 'confirmOwner'; readonly owner: Stored }
  | { readonly do: 'adopt'; readonly object: Stored; readonly reference: OwnerReference; readonly finalizers?: readonly string[] }
  | { readonly do: 'release'; readonly object: Stored; readonly ownerUid: string; readonly finalizers?: readonly string[] };

/** A pass with these actions decides nothing else: the next pass sees their result. */
export function ownershipActions<T extends Stored>(
  reference: OwnerReference,
  owner: Stored,
  { toAdopt, toRelease }: Pick<ObjectsByOwner<T>, 'toAdopt' | 'toRelease'>,
): readonly OwnershipAction[] {
  return [
    ...toRelease.map((object) => ({ do: 'release', object, ownerUid: reference.uid }) as const),
    ...(toAdopt.length === 0 ? [] : [{ do: 'confirmOwner', owner } as const]),
    ...toAdopt.map((object) => ({ do: 'adopt', object, reference }) as const),
  ];
}
