import { type ApiError, statusErrors } from '../../api/status.ts';
import type { AdmissionRequest } from './chain.ts';

/** 403 (upstream: admission.NewForbidden). The object may not have a name yet. */
export function admissionForbidden({ resource, name, object }: AdmissionRequest, why: string): ApiError {
  const known = [name, object.metadata.name, object.metadata.generateName].find((text) => text !== undefined && text !== '');
  return statusErrors.forbidden(resource.kind, known ?? 'Unknown', why);
}
