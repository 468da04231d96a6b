import { expect, test } from 'vitest';
import type { CertificateSigningRequest, SubjectAccessReview } from '../../../api/generated/types.ts';
import { signers } from '../../../api/kinds/certificates/signer-name.ts';
import { nodeRequest } from '../../../api/kinds/samples.ts';
import { statusErrors } from '../../../api/status.ts';
import type { Stored } from '../../../api/stored.ts';
import { type CertificateClient, certificateHandlers } from './actions.ts';

const request: Stored<CertificateSigningRequest> = {
  apiVersion: 'certificates.k8s.io/v1',
  kind: 'CertificateSigningRequest',
  metadata: { name: 'r', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-03-01T12:00:00Z' },
  spec: { request: nodeRequest, signerName: signers.nodeClient, usages: ['client auth'], username: 'system:bootstrap:x', groups: ['system:bootstrappers'] },
  status: {},
};

const permissions = [{ subresource: 'nodeclient', message: 'approving' }];

/** A server with the Node n1, or without it, on which the requesting user has these permissions. */
class Server {
  hasNode = false;
  readonly written: string[] = [];
  readonly #permissions: readonly string[];

  constructor(permissionsOfUser: readonly string[]) {
    this.#permissions = permissionsOfUser;
  }

  readonly #write = (object: unknown) => {
    const { status } = object as CertificateSigningRequest;
    this.written.push(
      [...(status.conditions ?? []).map(({ type, reason = '' }) => `${type} ${reason}`), ...(status.certificate === undefined ? [] : ['certificate'])].join(),
    );
    return Promise.resolve({ ok: true as const, value: object as never });
  };

  readonly client: CertificateClient = {
    get: ({ kind, group, plural }, { name }) => {
      if (this.hasNode && kind === 'Node' && name === 'n1') return Promise.resolve({ ok: true, value: { metadata: { name } } as never });
      return Promise.resolve({ ok: false, reason: 'notFound', error: statusErrors.notFound({ kind, group, plural }, name) });
    },
    update: (_kind, object) => this.#write(object),
    updateStatus: (_kind, object) => this.#write(object),
    createReview: (_kind, review) => {
      const { spec } = review as unknown as SubjectAccessReview;
      const { verb = '', subresource = '', name = '' } = spec.resourceAttributes ?? {};
      const allowed = this.#permissions.includes(verb === 'approve' ? `approve ${name}` : subresource);
      return Promise.resolve({ ok: true, value: { spec, status: { allowed } } as never });
    },
  };
}

const bootstrapper = () => new Server(['nodeclient']);
const administrator = () => new Server(['nodeclient', `approve ${signers.nodeClient}`]);
const handlersOn = ({ client }: Server, beforeSigned: () => void = () => undefined) =>
  certificateHandlers(client, () => {
    beforeSigned();
    return Promise.resolve('cGVt');
  });

test.each([
  ['a new node is approved', bootstrapper(), false, ['Approved AutoApproved']],
  ['an existing node is denied', bootstrapper(), true, ['Denied NodeExists']],
  ['an existing node is approved for a user who may approve it', administrator(), true, ['Approved AutoApproved']],
])('a request for %s', async (_, server, hasNode, written) => {
  server.hasNode = hasNode;
  expect(await handlersOn(server).approveIfAllowed({ do: 'approveIfAllowed', request, permissions, newNode: 'n1' })).toBe('done');
  expect(server.written).toEqual(written);
});

test.each([
  ['bootstrap credential', bootstrapper(), ['Failed SignerValidationFailure']],
  ['user who may approve it', administrator(), ['certificate']],
])('a node that is created between approval and signature: the request of a %s', async (_, server, written) => {
  const handlers = handlersOn(server, () => {
    server.hasNode = true;
  });
  expect(await handlers.sign({ do: 'sign', request, newNode: 'n1' })).toBe('done');
  expect(server.written).toEqual(written);
});

test("the node's own request is signed although the node exists", async () => {
  const server = bootstrapper();
  server.hasNode = true;
  expect(await handlersOn(server).sign({ do: 'sign', request, newNode: undefined })).toBe('done');
  expect(server.written).toEqual(['certificate']);
});
