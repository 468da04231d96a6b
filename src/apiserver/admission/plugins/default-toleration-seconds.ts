import type { Pod, Toleration } from '../../../api/generated/types.ts';
import { type AdmissionPlugin, isResource } from '../chain.ts';

const SECONDS = 300;
const taints = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'] as const;

/** A pod tolerates a node that is not ready or unreachable for five minutes, unless it has its own toleration. */
export const defaultTolerationSeconds: AdmissionPlugin = {
  name: 'DefaultTolerationSeconds',
  handles: (operation, resource, subresource) => operation !== 'delete' && subresource === '' && isResource(resource, '', 'pods'),
  mutate: ({ object }) => {
    const { spec } = object as Pod;
    const given = spec.tolerations ?? [];
    const added = taints.filter((taint) => !given.some((toleration) => tolerates(toleration, taint))).map(tolerating);
    if (added.length > 0) spec.tolerations = [...given, ...added];
  },
};

const tolerates = ({ key = '', effect = '' }: Toleration, taint: string): boolean => (key === taint || key === '') && (effect === 'NoExecute' || effect === '');

const tolerating = (key: string): Toleration => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: SECONDS });
