/** The rules of Kubernetes' own signers (v1.36: pkg/apis/certificates/helpers.go, pkg/controller/certificates/signer). */
import { signers } from '../../../api/kinds/certificates/signer-name.ts';
import type { CertificateRequest } from '../../../api/x509/certificate-request.ts';

type Rule = (request: CertificateRequest, usages: readonly string[]) => string | undefined;

const NODES = 'system:nodes';
export const nodeUserPrefix = 'system:node:';

const clientUsages = ['client auth', 'digital signature', 'key encipherment'];
const servingUsages = ['digital signature', 'key encipherment', 'server auth'];

/** `key encipherment` is optional: only RSA keys have it. */
function wrongUsages(given: readonly string[], wanted: readonly string[]): string | undefined {
  const optional = 'key encipherment';
  const right = given.every((usage) => wanted.includes(usage)) && wanted.every((usage) => usage === optional || given.includes(usage));
  return right ? undefined : `usages did not match [${wanted.join(' ')}]`;
}

const wrongOrganization = ({ subject }: CertificateRequest): string | undefined =>
  subject.organizations.length === 1 && subject.organizations[0] === NODES ? undefined : 'subject organization is not system:nodes';

const wrongCommonName = ({ subject }: CertificateRequest): string | undefined =>
  subject.commonName.startsWith(nodeUserPrefix) ? undefined : 'subject common name does not begin with system:node:';

const notAllowed = (names: readonly unknown[], kind: string): string | undefined =>
  names.length === 0 ? undefined : `${kind} subjectAltNames are not allowed`;

/** What is wrong with a request for a kubelet's client certificate; undefined: nothing. */
export const nodeClientProblem: Rule = (request, usages) =>
  wrongOrganization(request) ??
  notAllowed(request.names.dns, 'DNS') ??
  notAllowed(request.names.email, 'Email') ??
  notAllowed(request.names.ip, 'IP') ??
  notAllowed(request.names.uri, 'URI') ??
  wrongCommonName(request) ??
  wrongUsages(usages, clientUsages);

/** What is wrong with a request for a kubelet's serving certificate; undefined: nothing. */
export const nodeServingProblem: Rule = (request, usages) =>
  wrongOrganization(request) ??
  (request.names.dns.length + request.names.ip.length === 0 ? 'DNS or IP subjectAltName is required' : undefined) ??
  notAllowed(request.names.email, 'Email') ??
  notAllowed(request.names.uri, 'URI') ??
  wrongUsages(usages, servingUsages) ??
  wrongCommonName(request);

const clientProblem: Rule = (_, usages) => {
  const odd = usages.find((usage) => !clientUsages.includes(usage));
  if (odd !== undefined) return `invalid usage for client certificate: ${odd}`;
  return usages.includes('client auth') ? undefined : 'missing required usage for client certificate: client auth';
};

/** By signer name. Requests to other signers are left to other controllers. */
export const signerRules: ReadonlyMap<string, Rule> = new Map([
  [signers.client, clientProblem],
  [signers.nodeClient, nodeClientProblem],
  [signers.nodeServing, nodeServingProblem],
]);
