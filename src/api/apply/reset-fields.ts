/** The fields that the server resets in a request: it gives no ownership of them. As GetResetFields of v1.36's strategies. */
import type { Kind } from '../kind.ts';
import { emptySet, type FieldSet, setOf } from './field-set.ts';
import { fieldElement } from './path-element.ts';

const fields = (...paths: readonly string[]): FieldSet => setOf(...paths.map((path) => path.split('.').map(fieldElement)));

const spec = fields('spec');
const status = fields('status');
const allButStatus = fields('metadata', 'spec');

/** Status writes that reset other fields than the spec. */
const ofStatus: Readonly<Record<string, FieldSet>> = {
  '/pods': fields('spec', 'metadata.deletionTimestamp', 'metadata.ownerReferences'),
  'apps/deployments': fields('spec', 'metadata.labels'),
  'admissionregistration.k8s.io/validatingadmissionpolicies': allButStatus,
  'certificates.k8s.io/certificatesigningrequests': fields('spec', 'status.conditions'),
  'flowcontrol.apiserver.k8s.io/flowschemas': allButStatus,
  'flowcontrol.apiserver.k8s.io/prioritylevelconfigurations': allButStatus,
  'networking.k8s.io/servicecidrs': allButStatus,
  'resource.k8s.io/resourceclaims': allButStatus,
  'storage.k8s.io/volumeattachments': allButStatus,
  'apiextensions.k8s.io/customresourcedefinitions': allButStatus,
};

type Described = Pick<Kind, 'group' | 'plural' | 'status' | 'custom'>;

/** `subresource`: of the request; '' for the object itself. */
export function resetFields(kind: Described, subresource: string): FieldSet {
  const name = `${kind.group}/${kind.plural}`;
  switch (subresource) {
    case '':
      if (name === 'certificates.k8s.io/certificatesigningrequests') return fields('spec', 'status');
      return kind.status === undefined ? emptySet : status;
    case 'status':
      return ofStatus[name] ?? (kind.custom === undefined ? spec : allButStatus);
    case 'approval':
      return fields('spec', 'status.certificate');
    case 'finalize':
      return status;
    default:
      return emptySet;
  }
}
