import type { LabelSelector } from '../../api/generated/types.ts';
import type { KubeObject } from '../../api/object.ts';
import { type Change, keyOf } from '../../client/informers/cache.ts';
import { controllerOf } from './ownership.ts';
import { sameEntries, selects } from './selector.ts';

interface SelectingOwner extends KubeObject {
  readonly spec: { readonly selector?: LabelSelector | null };
}

export interface SelectingOwners {
  readonly kind: string;
  readonly inNamespace: (namespace: string) => readonly SelectingOwner[];
}

/** The keys of an object's former and current controller; for a new or changed orphan also those of every owner that selects it. */
export function ownerKeys({ before, after }: Change<KubeObject>, { kind, inNamespace }: SelectingOwners): readonly string[] {
  const owners = [before, after].flatMap((each) => {
    const owner = each === undefined ? undefined : controllerOf(each);
    return owner?.kind === kind ? [keyOf({ namespace: each?.metadata.namespace, name: owner.name })] : [];
  });
  if (after === undefined || controllerOf(after) !== undefined || !isNewOrphan(before, after)) return owners;
  const { namespace = '', labels } = after.metadata;
  return [...owners, ...inNamespace(namespace).flatMap(({ metadata, spec }) => (selects(spec.selector, labels) ? [keyOf(metadata)] : []))];
}

const isNewOrphan = (before: KubeObject | undefined, after: KubeObject): boolean =>
  before === undefined || controllerOf(before) !== undefined || !sameEntries(before.metadata.labels, after.metadata.labels);
