import { certificateSigningRequestKind as requestKind } from '../../../src/api/kinds/certificates/certificate-signing-request.ts';
import { signers } from '../../../src/api/kinds/certificates/signer-name.ts';
import { nodeRequest, sampleRequest, servingRequest } from '../../../src/api/kinds/samples.ts';
import { nodeKind } from '../../../src/api/kinds/core/node.ts';
import { createInProcessTransport } from '../../../src/cluster/access/in-process-transport.ts';
import { createClient } from '../../../src/client/client.ts';
import { nodeUser } from '../../../src/apiserver/user.ts';
import type { SimulatedCluster } from '../../../src/sim/cluster/simulated-cluster.ts';
import { ok } from '../../../src/sim/cluster/simulated-cluster.ts';

/** An approval may have an old time; requests that were approved an hour ago are deleted. */
const longAgo = '2025-01-01T00:00:00Z';

/** Certificates are requested, approved, signed or not, and old requests are deleted. */
export const certificates = async (cluster: SimulatedCluster): Promise<void> => {
  const ask = (name: string, spec: object) => cluster.create(requestKind, { metadata: { name }, spec });
  await ask('node', { request: nodeRequest, signerName: signers.nodeClient, usages: ['client auth', 'digital signature'] });
  // A kubelet requests its certificate before its Node object has addresses.
  const asNode = createClient({ transport: createInProcessTransport(cluster.server.api, nodeUser('n1'), 'test') });
  const serving = { request: servingRequest, signerName: signers.nodeServing, usages: ['server auth', 'digital signature'] };
  ok(await asNode.create(requestKind, { metadata: { name: 'serving' }, spec: serving }));
  await cluster.wait();
  await cluster.create(nodeKind, { metadata: { name: 'n1' } });
  await ask('person', { request: sampleRequest, signerName: signers.client, usages: ['client auth'] });
  await ask('wrong', { request: sampleRequest, signerName: signers.client, usages: ['server auth'] });
  await ask('foreign', { request: sampleRequest, signerName: 'example.com/other', usages: ['any'] });
  await cluster.wait();
  if ((ok(await asNode.get(requestKind, { name: 'serving' })).status.certificate ?? '') === '') throw new Error('the node has no certificate for its endpoint');
  for (const name of ['person', 'wrong', 'foreign']) {
    const request = ok(await cluster.client.get(requestKind, { name }));
    const conditions = [{ type: 'Approved', status: 'True', reason: 'Test', lastUpdateTime: name === 'person' ? longAgo : null, lastTransitionTime: null }];
    ok(await cluster.client.update(requestKind, { ...request, status: { conditions } }, { subresource: 'approval' }));
  }
  await cluster.wait();
  if (!(await cluster.isGone(requestKind, { name: 'person' }))) throw new Error('it is kept too long');
};
