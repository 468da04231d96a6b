import type { Pod } from '../../api/generated/types.ts';

/** An index function: the node that a pod is on, if it is on any. */
export const nodeOfPod = ({ spec }: Pod): readonly string[] => (spec.nodeName === undefined || spec.nodeName === '' ? [] : [spec.nodeName]);
