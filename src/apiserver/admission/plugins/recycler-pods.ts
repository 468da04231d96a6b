import type { Pod } from '../../../api/generated/types.ts';
import { type AdmissionPlugin, isResource } from '../chain.ts';
import { admissionForbidden } from '../forbidden.ts';
import { nodeOf } from '../../user.ts';

/**
 * The pods that empty volumes with the policy Recycle are recycler-for-<volume> in default. Their success offers the volume to the next claim, so only
 * the node that ran the pod may write it: another user would hand one tenant's data to another. Kubernetes has no such rule.
 */
export const recyclerPods: AdmissionPlugin = {
  name: 'RecyclerPods',
  handles: (operation, resource, subresource) => operation === 'update' && isResource(resource, '', 'pods') && subresource === 'status',
  validate: (request) => {
    const [pod, old] = [request.object as Pod, request.old as Pod | undefined];
    const { nodeName = '' } = pod.spec;
    if (request.namespace !== 'default' || !request.name.startsWith('recycler-for-') || nodeName === '') return;
    if (pod.status.phase !== 'Succeeded' || old?.status.phase === 'Succeeded' || nodeOf(request.user) === nodeName) return;
    throw admissionForbidden(request, `status.phase: only node ${JSON.stringify(nodeName)}, which runs this recycler pod, may write Succeeded`);
  },
};
