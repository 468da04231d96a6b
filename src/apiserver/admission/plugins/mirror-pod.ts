import type { Pod } from '../../../api/generated/types.ts';
import { podSecrets } from '../../authorization/node/pod-references.ts';
import type { AdmissionRequest } from '../chain.ts';
import { admissionForbidden } from '../forbidden.ts';

/** A pod that a node runs from a file of its own and only shows to the API. */
export const isMirror = ({ metadata }: Pod): boolean => metadata.annotations?.['kubernetes.io/config.mirror'] !== undefined;

/** What it runs is decided on the node: it may not gain anything from the cluster by being shown. */
export function forbidMirrorReferences(request: AdmissionRequest, pod: Pod): void {
  if ((pod.spec.serviceAccountName ?? '') !== '') throw admissionForbidden(request, 'a mirror pod may not reference service accounts');
  if (podSecrets(pod).some((name) => (name ?? '') !== '')) throw admissionForbidden(request, 'a mirror pod may not reference secrets');
  for (const { projected } of pod.spec.volumes ?? []) {
    if ((projected?.sources ?? []).some((source) => source.serviceAccountToken !== undefined)) {
      throw admissionForbidden(request, 'a mirror pod may not use ServiceAccountToken volume projections');
    }
  }
}
