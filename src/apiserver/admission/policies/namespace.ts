import type { Namespace } from '../../../api/generated/types.ts';
import type { AdmissionRequest } from '../chain.ts';
import { isNamespaces, namespaceOf } from '../matching/attributes.ts';
import type { PolicyContext } from './policy-context.ts';

/** The Namespace of a namespaced object. @throws ApiError 404 */
export async function namespaceFor(request: AdmissionRequest, { namespaces }: PolicyContext): Promise<Namespace | undefined> {
  const name = isNamespaces(request.resource) ? '' : namespaceOf(request);
  return name === '' ? undefined : namespaces.get(name);
}
