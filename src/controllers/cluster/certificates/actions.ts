import type { CertificateSigningRequest, SubjectAccessReview } from '../../../api/generated/types.ts';
import { certificateSigningRequestKind as requestKind } from '../../../api/kinds/certificates/certificate-signing-request.ts';
import { reviewKinds } from '../../../api/kinds/authorization/reviews.ts';
import type { Client } from '../../../client/client.ts';
import type { Decision } from '../../../client/decision.ts';
import { type Outcome, outcomeOf } from '../../../client/controller/loop.ts';

/** A part of the requests for certificates that nobody serves: who may create it gets what it stands for without being asked. */
export interface Permission {
  readonly subresource: string;
  /** Why a request was approved because of it. */
  readonly message: string;
}

export type CertificateAction =
  /** Approves if the requester has one of these permissions. */
  | { readonly type: 'approve-if-allowed'; readonly request: CertificateSigningRequest; readonly permissions: readonly Permission[] }
  | { readonly type: 'sign'; readonly request: CertificateSigningRequest }
  | { readonly type: 'fail'; readonly request: CertificateSigningRequest; readonly message: string }
  | { readonly type: 'delete'; readonly request: CertificateSigningRequest };

export type CertificateDecision = Decision<CertificateAction>;

/** PEM in base64, for a request that has an approved and valid one. */
export type Sign = (request: CertificateSigningRequest) => Promise<string>;

export interface CertificateContext {
  readonly client: Client;
  /** Absent: nothing is signed here. */
  readonly sign: Sign | undefined;
}

export async function perform(action: CertificateAction, { client, sign }: CertificateContext): Promise<Outcome> {
  const { request } = action;
  switch (action.type) {
    case 'approve-if-allowed':
      return approveIfAllowed(action, client);
    case 'sign':
      if (sign === undefined) return 'done';
      return outcomeOf(await client.updateStatus(requestKind, { ...request, status: { ...request.status, certificate: await sign(request) } }));
    case 'fail':
      return outcomeOf(
        await client.updateStatus(requestKind, withCondition(request, { type: 'Failed', reason: 'SignerValidationFailure', message: action.message })),
      );
    case 'delete': {
      const { name = '', uid = '' } = request.metadata;
      const deleted = await client.delete(requestKind, { name }, { preconditions: { uid } });
      return !deleted.ok && deleted.reason === 'notFound' ? 'done' : outcomeOf(deleted);
    }
  }
}

async function approveIfAllowed({ request, permissions }: Extract<CertificateAction, { type: 'approve-if-allowed' }>, client: Client): Promise<Outcome> {
  for (const { subresource, message } of permissions) {
    const review = await client.createReview<SubjectAccessReview>(reviewKinds.access, { spec: questionAbout(request, subresource) });
    if (!review.ok) return outcomeOf(review);
    if (review.value.status.allowed) {
      const approved = withCondition(request, { type: 'Approved', reason: 'AutoApproved', message });
      return outcomeOf(await client.update(requestKind, approved, { subresource: 'approval' }));
    }
  }
  // The requester may get the permission later: asked again, more and more seldom, and no reason to complain.
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

/** The server says when. */
function withCondition(request: CertificateSigningRequest, added: { type: string; reason: string; message: string }): CertificateSigningRequest {
  const condition = { ...added, status: 'True', lastUpdateTime: null, lastTransitionTime: null };
  return { ...request, status: { ...request.status, conditions: [...(request.status.conditions ?? []), condition] } };
}
