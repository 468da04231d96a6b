import type { LabelSelector } from '../../api/generated/types.ts';
import type { KubeObject } from '../../api/object.ts';
import { type Change, keyOf } from '../../machinery/cache.ts';
import { controllerOf } from './ownership.ts';
import { sameEntries, selects } from './selector.ts';

interface Selecting extends KubeObject {
  readonly spec: { readonly selector?: LabelSelector | null };
}

export interface Owners {
  readonly kind: string;
  readonly inNamespace: (namespace: string) => readonly Selecting[];
}

/** Keys of the owner that an object belongs to or belonged to; of one that is nobody's, and that is news, of every owner that selects it. */
export function ownersOf({ before, after }: Change<KubeObject>, { kind, inNamespace }: Owners): readonly string[] {
  const owners = [before, after].flatMap((each) => {
    const owner = each === undefined ? undefined : controllerOf(each);
    return owner?.kind === kind ? [keyOf({ namespace: each?.metadata.namespace, name: owner.name })] : [];
  });
  if (after === undefined || controllerOf(after) !== undefined || !isNews(before, after)) return owners;
  const { namespace = '', labels } = after.metadata;
  return [...owners, ...inNamespace(namespace).flatMap(({ metadata, spec }) => (selects(spec.selector, labels) ? [keyOf(metadata)] : []))];
}

const isNews = (before: KubeObject | undefined, after: KubeObject): boolean =>
  before === undefined || controllerOf(before) !== undefined || !sameEntries(before.metadata.labels, after.metadata.labels);
