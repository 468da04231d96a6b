import type { LabelSelector, Pod } from '../../api/generated/types.ts';
import type { KubeObject } from '../../api/object.ts';
import { type Change, keyOf } from '../../machinery/cache.ts';
import { controllerOf } from './ownership.ts';
import { selects } from './selector.ts';

interface Selecting extends KubeObject {
  readonly spec: { readonly selector?: LabelSelector | null };
}

export interface Owners {
  readonly kind: string;
  readonly inNamespace: (namespace: string) => readonly Selecting[];
}

/** Keys of the owner that a pod belongs to or belonged to; of a pod that is nobody's, and that is news, of every owner that selects it. */
export function ownersOfPod({ before, after }: Change<Pod>, { kind, inNamespace }: Owners): readonly string[] {
  const owners = [before, after].flatMap((pod) => {
    const owner = pod === undefined ? undefined : controllerOf(pod);
    return owner?.kind === kind ? [keyOf({ namespace: pod?.metadata.namespace, name: owner.name })] : [];
  });
  if (after === undefined || controllerOf(after) !== undefined || !isNews(before, after)) return owners;
  const { namespace = '', labels } = after.metadata;
  return [...owners, ...inNamespace(namespace).flatMap(({ metadata, spec }) => (selects(spec.selector, labels) ? [keyOf(metadata)] : []))];
}

const isNews = (before: Pod | undefined, after: Pod): boolean =>
  before === undefined || controllerOf(before) !== undefined || before.metadata.labels !== after.metadata.labels;
