import type { Namespace } from '../../../api/generated/types.ts';
import { ApiError, statusErrors } from '../../../api/status.ts';
import { keyOf, type Resources } from '../../objects/resources.ts';
import { revisionOf } from '../../objects/object-revision.ts';
import { type AdmissionPlugin, type AdmissionRequest, isResource } from '../chain.ts';
import { admissionForbidden } from '../forbidden.ts';

const immortal: ReadonlySet<string> = new Set(['default', 'kube-system', 'kube-public']);

/** Objects are created only in namespaces that exist and are not Terminating. Three namespaces cannot be deleted. */
export function namespaceLifecycle(resources: Resources): AdmissionPlugin {
  const namespaces = resources.require('v1', 'namespaces');
  return {
    name: 'NamespaceLifecycle',
    handles: (operation, resource) => (operation === 'create' ? resource.kind.namespaced : operation === 'delete' && isResource(resource, '', 'namespaces')),
    mutate: async (request) => {
      if (request.operation === 'delete') return forbidImmortal(request);
      // The transaction compares the namespace: no object slips in after its deletion has begun.
      const entry = await request.draft.read(keyOf(namespaces, '', request.namespace));
      if (entry === undefined) throw statusErrors.notFound(namespaces.kind, request.namespace);
      const namespace = revisionOf(namespaces, entry).object as Namespace;
      if (namespace.status.phase === 'Terminating') throw terminating(request);
    },
  };
}

function forbidImmortal({ resource, name }: AdmissionRequest): void {
  if (immortal.has(name)) throw statusErrors.forbidden(resource.kind, name, 'this namespace may not be deleted');
}

function terminating(request: AdmissionRequest): ApiError {
  const { namespace } = request;
  const plain = admissionForbidden(request, `unable to create new content in namespace ${namespace} because it is being terminated`);
  const cause = { reason: 'NamespaceTerminating', message: `namespace ${namespace} is being terminated`, field: 'metadata.namespace' };
  return new ApiError(plain.code, plain.reason, plain.message, { ...plain.details, causes: [cause] });
}
