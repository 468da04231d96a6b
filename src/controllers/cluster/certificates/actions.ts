import type { CertificateSigningRequest, SubjectAccessReview } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { certificateSigningRequestKind as requestKind } from '../../../api/kinds/certificates/certificate-signing-request.ts';
import { nodeKind } from '../../../api/kinds/core/node.ts';
import { reviewKinds } from '../../../api/kinds/authorization/reviews.ts';
import type { Client } from '../../../client/client.ts';
import type { Decision, ObjectWrite } from '../../../client/decision.ts';
import type { Result } from '../../../client/result.ts';
import { type Outcome, outcomeOf } from '../../../client/controller/loop.ts';

/** The reason of this controller's approvals. */
export const autoApproved = 'AutoApproved';

/** A virtual subresource of CertificateSigningRequests: a user who may create it gets such requests approved automatically. */
export interface Permission {
  readonly subresource: string;
  /** The message of the Approved condition. */
  readonly message: string;
}

export type CertificateAction =
  /** Approves if the requesting user has one of these permissions. */
  | (NodeCertificate & { readonly do: 'approveIfAllowed'; readonly permissions: readonly Permission[] })
  | (NodeCertificate & { readonly do: 'sign' })
  | { readonly do: 'fail'; readonly request: Stored<CertificateSigningRequest>; readonly message: string }
  | ObjectWrite<CertificateSigningRequest>;

interface NodeCertificate {
  readonly request: Stored<CertificateSigningRequest>;
  /** The request is for this node's client certificate, and does not come from the node: it is refused if the node exists. */
  readonly newNode?: string | undefined;
}

export type CertificateDecision = Decision<CertificateAction>;

/** What the actions need of the client. */
export type CertificateClient = Pick<Client, 'get' | 'update' | 'updateStatus' | 'createReview'>;

/** Signs an approved and valid request; returns PEM in base64. */
export type Sign = (request: Stored<CertificateSigningRequest>) => Promise<string>;

/** `sign` undefined: this process does not sign. */
export const certificateHandlers = (client: CertificateClient, sign: Sign | undefined) => ({
  approveIfAllowed: (action: ActionOf<'approveIfAllowed'>) => approveIfAllowed(action, client),
  sign: (action: ActionOf<'sign'>): Promise<Outcome> => (sign === undefined ? Promise.resolve('done' as const) : signUnlessTaken(action, client, sign)),
  fail: ({ request, message }: ActionOf<'fail'>): Promise<Outcome> => fail(client, request, message),
});

type ActionOf<T extends CertificateAction['do']> = Extract<CertificateAction, { do: T }>;

async function approveIfAllowed(action: ActionOf<'approveIfAllowed'>, client: CertificateClient): Promise<Outcome> {
  const { request } = action;
  const settle = async (condition: AddedCondition): Promise<Outcome> =>
    outcomeOf(await client.update(requestKind, withCondition(request, condition), { subresource: 'approval' }));
  for (const { subresource, message } of action.permissions) {
    const review = await isAllowed(client, request, { resource: 'certificatesigningrequests', verb: 'create', subresource, version: '*' });
    if (!review.ok) return outcomeOf(review);
    if (!review.value) continue;
    const taken = await takenNode(action, client);
    if (!taken.ok) return outcomeOf(taken);
    return settle(
      taken.value === undefined ? { type: 'Approved', reason: autoApproved, message } : { type: 'Denied', reason: 'NodeExists', message: taken.value },
    );
  }
  // The user may get the permission later: the review is repeated with back-off, without a warning.
  return 'conflict';
}

/** The node may have been created since the approval. */
async function signUnlessTaken(action: ActionOf<'sign'>, client: CertificateClient, sign: Sign): Promise<Outcome> {
  const { request } = action;
  const certificate = await sign(request);
  // Read last, right before the certificate is handed out.
  const taken = await takenNode(action, client);
  if (!taken.ok) return outcomeOf(taken);
  if (taken.value !== undefined) return fail(client, request, taken.value);
  return outcomeOf(await client.updateStatus(requestKind, { ...request, status: { ...request.status, certificate } }));
}

const fail = async (client: CertificateClient, request: Stored<CertificateSigningRequest>, message: string): Promise<Outcome> =>
  outcomeOf(await client.updateStatus(requestKind, withCondition(request, { type: 'Failed', reason: 'SignerValidationFailure', message })));

/**
 * Why a user who is not the node gets no certificate for it. With a certificate for an existing node, a bootstrap credential would read the secrets of
 * that node's pods. A user who may approve the request has it anyway.
 */
async function takenNode({ request, newNode }: NodeCertificate, client: CertificateClient): Promise<Result<string | undefined>> {
  if (newNode === undefined) return { ok: true, value: undefined };
  const node = await client.get(nodeKind, { name: newNode });
  if (!node.ok) return node.reason === 'notFound' ? { ok: true, value: undefined } : node;
  const approver = await isAllowed(client, request, { resource: 'signers', verb: 'approve', name: request.spec.signerName, version: '*' });
  if (!approver.ok || approver.value) return approver.ok ? { ok: true, value: undefined } : approver;
  return {
    ok: true,
    value: `node "${newNode}" exists, and the request does not come from it: delete the Node object if another machine takes its name`,
  };
}

type Attributes = NonNullable<SubjectAccessReview['spec']['resourceAttributes']>;

/** Whether the requesting user may do something in the group of certificates. */
async function isAllowed(client: CertificateClient, { spec }: CertificateSigningRequest, attributes: Attributes): Promise<Result<boolean>> {
  const question: Partial<SubjectAccessReview['spec']> = {
    user: spec.username ?? '',
    ...(spec.uid === undefined ? {} : { uid: spec.uid }),
    groups: spec.groups ?? [],
    extra: spec.extra ?? {},
    resourceAttributes: { group: 'certificates.k8s.io', ...attributes },
  };
  const review = await client.createReview<SubjectAccessReview>(reviewKinds.access, { spec: question });
  return review.ok ? { ok: true, value: review.value.status.allowed } : review;
}

interface AddedCondition {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
}

/** The server sets the times. */
function withCondition(request: Stored<CertificateSigningRequest>, added: AddedCondition): Stored<CertificateSigningRequest> {
  const condition = { ...added, status: 'True', lastUpdateTime: null, lastTransitionTime: null };
  return { ...request, status: { ...request.status, conditions: [...(request.status.conditions ?? []), condition] } };
}
