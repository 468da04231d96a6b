import type { CertificateSigningRequest, SubjectAccessReview } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { certificateSigningRequestKind as requestKind } from '../../../api/kinds/certificates/certificate-signing-request.ts';
import { reviewKinds } from '../../../api/kinds/authorization/reviews.ts';
import type { Client } from '../../../client/client.ts';
import type { Decision, ObjectWrite } from '../../../client/decision.ts';
import { type Outcome, outcomeOf } from '../../../client/controller/loop.ts';

/** A virtual subresource of CertificateSigningRequests: a user who may create it gets such requests approved automatically. */
export interface Permission {
  readonly subresource: string;
  /** The message of the Approved condition. */
  readonly message: string;
}

export type CertificateAction =
  /** Approves if the requesting user has one of these permissions. */
  | { readonly do: 'approveIfAllowed'; readonly request: Stored<CertificateSigningRequest>; readonly permissions: readonly Permission[] }
  | { readonly do: 'sign'; readonly request: Stored<CertificateSigningRequest> }
  | { readonly do: 'fail'; readonly request: Stored<CertificateSigningRequest>; readonly message: string }
  | ObjectWrite<CertificateSigningRequest>;

export type CertificateDecision = Decision<CertificateAction>;

/** Signs an approved and valid request; returns PEM in base64. */
export type Sign = (request: Stored<CertificateSigningRequest>) => Promise<string>;

/** `sign` undefined: this process does not sign. */
export const certificateHandlers = (client: Client, sign: Sign | undefined) => ({
  approveIfAllowed: (action: ApproveIfAllowed) => approveIfAllowed(action, client),
  sign: async ({ request }: { readonly request: Stored<CertificateSigningRequest> }): Promise<Outcome> =>
    sign === undefined
      ? 'done'
      : outcomeOf(await client.updateStatus(requestKind, { ...request, status: { ...request.status, certificate: await sign(request) } })),
  fail: async ({ request, message }: { readonly request: Stored<CertificateSigningRequest>; readonly message: string }): Promise<Outcome> =>
    outcomeOf(await client.updateStatus(requestKind, withCondition(request, { type: 'Failed', reason: 'SignerValidationFailure', message }))),
});

type ApproveIfAllowed = Extract<CertificateAction, { do: 'approveIfAllowed' }>;

async function approveIfAllowed({ request, permissions }: ApproveIfAllowed, client: Client): Promise<Outcome> {
  for (const { subresource, message } of permissions) {
    const review = await client.createReview<SubjectAccessReview>(reviewKinds.access, { spec: questionAbout(request, subresource) });
    if (!review.ok) return outcomeOf(review);
    if (review.value.status.allowed) {
      const approved = withCondition(request, { type: 'Approved', reason: 'AutoApproved', message });
      return outcomeOf(await client.update(requestKind, approved, { subresource: 'approval' }));
    }
  }
  // The user may get the permission later: the review is repeated with back-off, without a warning.
  return 'conflict';
}

function questionAbout({ spec }: CertificateSigningRequest, subresource: string): Partial<SubjectAccessReview['spec']> {
  return {
    user: spec.username ?? '',
    ...(spec.uid === undefined ? {} : { uid: spec.uid }),
    groups: spec.groups ?? [],
    extra: spec.extra ?? {},
    resourceAttributes: { group: 'certificates.k8s.io', resource: 'certificatesigningrequests', verb: 'create', subresource, version: '*' },
  };
}

/** The server sets the times. */
function withCondition(
  request: Stored<CertificateSigningRequest>,
  added: { type: string; reason: string; message: string },
): Stored<CertificateSigningRequest> {
  const condition = { ...added, status: 'True', lastUpdateTime: null, lastTransitionTime: null };
  return { ...request, status: { ...request.status, conditions: [...(request.status.conditions ?? []), condition] } };
}
