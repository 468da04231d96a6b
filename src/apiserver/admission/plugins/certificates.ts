import { invalid } from '../../../api/field-error.ts';
import type { CertificateSigningRequest } from '../../../api/generated/types.ts';
import { signers } from '../../../api/kinds/certificates/signer-name.ts';
import type { RequestInfo } from '../../../api/request-info.ts';
import { statusErrors } from '../../../api/status.ts';
import { semanticallyEqual } from '../../../api/validation/equality.ts';
import { parseCertificateRequest } from '../../../api/x509/certificate-request.ts';
import type { User } from '../../api.ts';
import type { Authorizer } from '../../authorization/authorizer.ts';
import { signatureProblem } from '../../certificates/csr-signature.ts';
import { superusers } from '../../user.ts';
import { type AdmissionPlugin, type AdmissionRequest, isResource, type Operation } from '../chain.ts';
import type { Resource } from '../../objects/resources.ts';
import { admissionForbidden } from '../forbidden.ts';

const isRequest = (resource: Resource): boolean => isResource(resource, 'certificates.k8s.io', 'certificatesigningrequests');

const onRequests =
  (wanted: Operation, part: string): AdmissionPlugin['handles'] =>
  (operation, resource, subresource) =>
    operation === wanted && subresource === part && isRequest(resource);

/** The request must be signed with the key that it asks a certificate for. */
const requestSignature: AdmissionPlugin = {
  name: 'CertificateRequestSignature',
  handles: onRequests('create', ''),
  validate: ({ resource, object }) => {
    const { metadata, spec } = object as CertificateSigningRequest;
    const parsed = parseCertificateRequest(spec.request);
    const problem = parsed.ok ? signatureProblem(parsed.request) : parsed.error;
    if (problem === undefined) return;
    throw statusErrors.invalid(resource.kind, metadata.name ?? '', [invalid('spec.request', spec.request, problem)]);
  },
};

/** No client certificate makes its user a member of system:masters. */
const subjectRestriction: AdmissionPlugin = {
  name: 'CertificateSubjectRestriction',
  handles: onRequests('create', ''),
  validate: (request) => {
    const { spec } = request.object as CertificateSigningRequest;
    if (spec.signerName !== signers.client) return;
    const parsed = parseCertificateRequest(spec.request);
    if (parsed.ok && parsed.request.subject.organizations.includes(superusers)) {
      throw admissionForbidden(request, `use of ${signers.client} signer with ${superusers} group is not allowed`);
    }
  },
};

/** Whether the user may approve or sign for a signer, or for all signers of its domain. */
async function maySpeakFor(authorizer: Authorizer, user: User, { verb, signerName }: { readonly verb: 'approve' | 'sign'; readonly signerName: string }) {
  const [domain = ''] = signerName.split('/');
  for (const name of [signerName, `${domain}/*`]) {
    const attributes: RequestInfo = {
      type: 'resource',
      verb,
      group: 'certificates.k8s.io',
      version: '*',
      resource: 'signers',
      subresource: '',
      namespace: '',
      name,
    };
    if ((await authorizer.authorize(user, attributes)).allowed) return true;
  }
  return false;
}

/** The signerName is immutable: the stored one counts. */
const signerOf = ({ old }: AdmissionRequest): string => (old as CertificateSigningRequest).spec.signerName;

function approval(authorizer: Authorizer): AdmissionPlugin {
  return {
    name: 'CertificateApproval',
    handles: onRequests('update', 'approval'),
    validate: async (request) => {
      const signerName = signerOf(request);
      if (await maySpeakFor(authorizer, request.user, { verb: 'approve', signerName })) return;
      throw admissionForbidden(request, `user not permitted to approve requests with signerName ${JSON.stringify(signerName)}`);
    },
  };
}

function signing(authorizer: Authorizer): AdmissionPlugin {
  return {
    name: 'CertificateSigning',
    handles: onRequests('update', 'status'),
    validate: async (request) => {
      const [{ status }, { status: old }] = [request.object as CertificateSigningRequest, request.old as CertificateSigningRequest];
      if (semanticallyEqual(status, old)) return;
      const signerName = signerOf(request);
      if (await maySpeakFor(authorizer, request.user, { verb: 'sign', signerName })) return;
      throw admissionForbidden(request, `user not permitted to sign requests with signerName ${JSON.stringify(signerName)}`);
    },
  };
}

/** Admission of CertificateSigningRequests. Without an authorizer, every user may approve and sign. */
export const certificateAdmission = (authorizer: Authorizer | undefined): readonly AdmissionPlugin[] => [
  requestSignature,
  ...(authorizer === undefined ? [] : [approval(authorizer), signing(authorizer)]),
  subjectRestriction,
];
