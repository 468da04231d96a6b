import type { ObjectReference, Pod } from '../../api/generated/types.ts';

/** The involved object of a container's events. */
export function containerReference({ metadata, spec }: Pod, name: string): ObjectReference {
  const lists = ['initContainers', 'ephemeralContainers'] as const;
  const list = lists.find((each) => spec[each]?.some((container) => container.name === name) === true) ?? 'containers';
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    namespace: metadata.namespace ?? '',
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
    resourceVersion: metadata.resourceVersion ?? '',
    fieldPath: `spec.${list}{${name}}`,
  };
}
