import type { CertificateSigningRequest, Node } from '../../../api/generated/types.ts';
import { untypedKind } from '../../../api/kind.ts';
import type { Stored } from '../../../api/stored.ts';
import { certificateSigningRequestKind as requestKind } from '../../../api/kinds/certificates/certificate-signing-request.ts';
import { signers } from '../../../api/kinds/certificates/signer-name.ts';
import { nodeKind } from '../../../api/kinds/core/node.ts';
import type { Client } from '../../../client/client.ts';
import type { Informers } from '../../../client/informers/informers.ts';
import { defineController } from '../../../client/controller/define-controller.ts';
import { type Controller, source } from '../../../client/controller/loop.ts';
import { ObjectWriter } from '../../../client/controller/object-writer.ts';
import { type CertificateAction, certificateHandlers, type Sign } from './actions.ts';
import { decideRequest, type CertificateSnapshot } from './decide.ts';
import { nodeUserPrefix } from './signer-rules.ts';

export interface CertificatesOptions {
  readonly client: Client;
  readonly informers: Informers;
  readonly sign: Sign | undefined;
}

/** Approves, signs and cleans up CertificateSigningRequests. Keys are their names. */
export function certificates({ client, informers, sign }: CertificatesOptions): Controller<string, CertificateSnapshot, CertificateAction> {
  const requests = informers.cache(requestKind);
  const nodes = informers.cache(nodeKind);
  const waiting = requests.addIndex(waitsForNode);
  return defineController({
    name: 'certificates',
    sources: [
      source(requestKind, ({ after }) => (after === undefined ? [] : [after.metadata.name])),
      // A kubelet may request a certificate before its Node object has addresses.
      source(nodeKind, ({ after }) => waiting.get(after?.metadata.name ?? '').map(({ metadata }) => metadata.name)),
    ],
    snapshot(name) {
      const request = requests.getKey(name);
      if (request === undefined) return undefined;
      const node = nodes.getKey(requesterOf(request) ?? '');
      return { request, signs: sign !== undefined, announced: node === undefined ? [] : announcedBy(node) };
    },
    decide: decideRequest,
    writer: new ObjectWriter(client, [untypedKind(requestKind)]),
    actions: certificateHandlers(client, sign),
    parallelism: 5,
    backoff: { firstMs: 200, longestMs: 1_000_000 },
  });
}

/** The name of the node that made the request; undefined: the user is not a node. */
function requesterOf({ spec: { username = '' } }: CertificateSigningRequest): string | undefined {
  return username.startsWith(nodeUserPrefix) ? username.slice(nodeUserPrefix.length) : undefined;
}

/** The node whose addresses decide about this request. */
function waitsForNode(request: CertificateSigningRequest): readonly string[] {
  const { spec, status } = request;
  return spec.signerName === signers.nodeServing && (status.conditions ?? []).length === 0 ? [requesterOf(request) ?? []].flat() : [];
}

const announcedBy = ({ metadata: { name }, status }: Stored<Node>): readonly string[] => [name, ...(status.addresses ?? []).map(({ address }) => address)];
