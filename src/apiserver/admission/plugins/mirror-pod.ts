import type { Pod } from '../../../api/generated/types.ts';
import { podSecrets } from '../../authorization/node/pod-references.ts';
import type { AdmissionRequest } from '../chain.ts';
import { admissionForbidden } from '../forbidden.ts';

/** A static pod that the kubelet shows to the API. */
export const isMirror = ({ metadata }: Pod): boolean => metadata.annotations?.['kubernetes.io/config.mirror'] !== undefined;

/** A mirror pod must not reference objects of the API: the API server does not control what the kubelet runs. */
export function forbidMirrorReferences(request: AdmissionRequest, pod: Pod): void {
  if ((pod.spec.serviceAccountName ?? '') !== '') throw admissionForbidden(request, 'a mirror pod may not reference service accounts');
  if (podSecrets(pod).some((name) => (name ?? '') !== '')) throw admissionForbidden(request, 'a mirror pod may not reference secrets');
  for (const { projected } of pod.spec.volumes ?? []) {
    if ((projected?.sources ?? []).some((source) => source.serviceAccountToken !== undefined)) {
      throw admissionForbidden(request, 'a mirror pod may not use ServiceAccountToken volume projections');
    }
  }
}
