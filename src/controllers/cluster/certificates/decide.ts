import type { CertificateSigningRequest, CertificateSigningRequestCondition } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { signers } from '../../../api/kinds/certificates/signer-name.ts';
import { parseIp } from '../../../api/validation/ip.ts';
import { type CertificateRequest, parseCertificateRequest } from '../../../api/x509/certificate-request.ts';
import { endOfCertificate } from '../../../api/x509/certificates.ts';
import { autoApproved, type CertificateAction, type CertificateDecision, type Permission } from './actions.ts';
import { nodeClientProblem, nodeServingProblem, nodeUserPrefix, signerRules } from './signer-rules.ts';

export interface CertificateSnapshot {
  readonly request: Stored<CertificateSigningRequest>;
  /** Whether this process has the CA key. */
  readonly signs: boolean;
  /** Name and addresses of the requesting node; empty if the user is not a node, or the Node object does not exist yet. */
  readonly announced: readonly string[];
}

const HOUR = 60 * 60_000;
/** How long issued and denied requests are kept, and how long pending ones (v1.36: pkg/controller/certificates/cleaner). */
const SETTLED_MS = HOUR;
const PENDING_MS = 24 * HOUR;

const own: Permission = { subresource: 'selfnodeclient', message: 'Auto approving self kubelet client certificate after SubjectAccessReview.' };
/** Kubernetes removed this approval and leaves serving certificates to administrators. */
const serving: Permission = { subresource: 'selfnodeserver', message: 'Auto approving self kubelet server certificate after SubjectAccessReview.' };
const any: Permission = { subresource: 'nodeclient', message: 'Auto approving kubelet client certificate after SubjectAccessReview.' };

/** A node's request is approved if the node may have it; an approved request is signed; an old one is deleted. */
export function decideRequest(snapshot: CertificateSnapshot, now: number): CertificateDecision {
  const { request } = snapshot;
  const until = keptUntil(request);
  if (until !== undefined && now > until) {
    return { actions: [{ do: 'delete', object: request }], reasons: [{ code: 'Old', text: 'it is done, or was pending for a day' }] };
  }
  return { actions: actionsFor(snapshot), reasons: [], ...(until === undefined ? {} : { again: until + 1 }) };
}

const conditionOf = ({ status }: CertificateSigningRequest, type: string): CertificateSigningRequestCondition | undefined =>
  status.conditions?.find((condition) => condition.type === type);

function actionsFor({ request, signs, announced }: CertificateSnapshot): readonly CertificateAction[] {
  const { status, spec } = request;
  if ((status.certificate ?? '') !== '' || conditionOf(request, 'Denied') !== undefined) return [];
  const parsed = parseCertificateRequest(spec.request);
  if (!parsed.ok) return [];
  if (conditionOf(request, 'Approved') === undefined) return approvals(request, parsed.request, announced);
  return signs && !hasFailed(request) ? signatures(request, parsed.request) : [];
}

const hasFailed = ({ status }: CertificateSigningRequest): boolean =>
  (status.conditions ?? []).some((condition) => condition.type === 'Failed' && (condition.status === '' || condition.status === 'True'));

function approvals(request: Stored<CertificateSigningRequest>, parsed: CertificateRequest, announced: readonly string[]): readonly CertificateAction[] {
  const { signerName, usages = [], username = '' } = request.spec;
  const isOwn = username === parsed.subject.commonName;
  if (signerName === signers.nodeServing) {
    const isNodes = isOwn && nodeServingProblem(parsed, usages) === undefined && areAnnounced(parsed, announced);
    return isNodes ? [{ do: 'approveIfAllowed', request, permissions: [serving] }] : [];
  }
  if (signerName !== signers.nodeClient || nodeClientProblem(parsed, usages) !== undefined) return [];
  return [{ do: 'approveIfAllowed', request, permissions: isOwn ? [own, any] : [any], newNode: newNodeOf(request, parsed) }];
}

/** A serving certificate may hold only names and addresses of the Node object. */
function areAnnounced({ names }: CertificateRequest, announced: readonly string[]): boolean {
  const addresses = announced.map((each) => parseIp(each)?.bytes.join('.'));
  return names.dns.every((name) => announced.includes(name)) && names.ip.every((ip) => addresses.includes(ip.join('.')));
}

function signatures(request: Stored<CertificateSigningRequest>, parsed: CertificateRequest): readonly CertificateAction[] {
  const rule = signerRules.get(request.spec.signerName);
  if (rule === undefined) return [];
  const message = rule(parsed, request.spec.usages ?? []);
  if (message !== undefined) return [{ do: 'fail', request, message }];
  // An administrator's approval stands.
  const isAutomatic = conditionOf(request, 'Approved')?.reason === autoApproved;
  return [{ do: 'sign', request, newNode: isAutomatic ? newNodeOf(request, parsed) : undefined }];
}

/** The node that gets its first client certificate, requested by another user; undefined: the request is for something else. */
function newNodeOf({ spec }: CertificateSigningRequest, { subject: { commonName } }: CertificateRequest): string | undefined {
  return spec.signerName === signers.nodeClient && spec.username !== commonName ? commonName.slice(nodeUserPrefix.length) : undefined;
}

/** Undefined: without limit. */
function keptUntil(request: CertificateSigningRequest): number | undefined {
  const { status, metadata } = request;
  const certificate = status.certificate ?? '';
  const settled = (type: string, ms: number) => after(conditionOf(request, type)?.lastUpdateTime, ms);
  const ends = [
    settled('Denied', SETTLED_MS),
    settled('Failed', SETTLED_MS),
    settled('Approved', certificate === '' ? PENDING_MS : SETTLED_MS),
    certificate === '' || conditionOf(request, 'Approved') === undefined ? undefined : endOfCertificate(certificate),
    (status.conditions ?? []).length === 0 ? after(metadata.creationTimestamp, PENDING_MS) : undefined,
  ].filter((end) => end !== undefined);
  return ends.length === 0 ? undefined : Math.min(...ends);
}

const after = (time: string | null | undefined, ms: number): number | undefined => (time === null || time === undefined ? undefined : Date.parse(time) + ms);
