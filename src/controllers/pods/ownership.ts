/**
 * Who manages what. A pod (or ReplicaSet, or ControllerRevision) belongs to the controller that its owner references name, by uid.
 * One that belongs to nobody is adopted by whoever selects it; one that no longer matches is released.
 */
import type { OwnerReference } from '../../api/generated/types.ts';
import type { KubeObject } from '../../api/object.ts';

export const controllerOf = ({ metadata }: KubeObject): OwnerReference | undefined => metadata.ownerReferences?.find(({ controller }) => controller === true);

/** An index function: the uid of the controller, if there is one. */
export const controllerUid = (object: KubeObject): readonly string[] => {
  const controller = controllerOf(object);
  return controller === undefined ? [] : [controller.uid];
};

/** An index function: the uid of the controller, or the namespace of an object that has none. */
export const controllerUidOrNamespace = (object: KubeObject): readonly string[] => [controllerOf(object)?.uid ?? orphansOf(object.metadata.namespace)];

/** Under which value `controllerUidOrNamespace` finds a namespace's orphans: no uid looks like this. */
export const orphansOf = (namespace: string | undefined): string => `orphans of ${namespace ?? ''}`;

export interface ObjectsByOwner<T> {
  readonly owned: readonly T[];
  readonly toAdopt: readonly T[];
  readonly toRelease: readonly T[];
}

/** Sorts candidates by whose they are; those of others are left out. An owner that is being deleted adopts and releases nothing. */
export function sortByOwner<T extends KubeObject>(owner: KubeObject, candidates: Iterable<T>, matches: (candidate: T) => boolean): ObjectsByOwner<T> {
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
  /** Goes on only if the server still has the owner, and it is not being deleted: a cache may be old. Before any adoption. */
  | { readonly do: 'confirmOwner'; readonly owner: KubeObject }
  | { readonly do: 'adopt'; readonly object: KubeObject; readonly reference: OwnerReference; readonly finalizers?: readonly string[] }
  | { readonly do: 'release'; readonly object: KubeObject; readonly ownerUid: string; readonly finalizers?: readonly string[] };

/** The writes that make it so. The pass that does them decides nothing else: the next one sees what came of it. */
export function ownershipActions<T extends KubeObject>(
  reference: OwnerReference,
  owner: KubeObject,
  { toAdopt, toRelease }: Pick<ObjectsByOwner<T>, 'toAdopt' | 'toRelease'>,
): readonly OwnershipAction[] {
  return [
    ...toRelease.map((object) => ({ do: 'release', object, ownerUid: reference.uid }) as const),
    ...(toAdopt.length === 0 ? [] : [{ do: 'confirmOwner', owner } as const]),
    ...toAdopt.map((object) => ({ do: 'adopt', object, reference }) as const),
  ];
}
