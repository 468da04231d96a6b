/** Certificates of a node, requested by CertificateSigningRequests and kept in files. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import type { CertificateSigningRequest } from '../../api/generated/types.ts';
import { certificateSigningRequestKind } from '../../api/kinds/certificates/certificate-signing-request.ts';
import { signers } from '../../api/kinds/certificates/signer-name.ts';
import { createClient } from '../../client/client.ts';
import { Informer } from '../../client/informers/informer.ts';
import type { Transport } from '../../client/transport.ts';
import type { SecretFiles } from '../../world/secret-files.ts';
import type { World } from '../../world/world.ts';
import { DataDamage } from '../data-directory/data-damage.ts';
import type { KeyAndCertificate } from './certificate-manager.ts';

export interface NodeCertificateOptions {
  readonly node: string;
  readonly use: 'client' | 'serving';
  /** Names and addresses of a serving certificate; empty for a client certificate. */
  readonly hosts: readonly string[];
  /** For the key and its certificate: the key never leaves the machine. */
  readonly files: SecretFiles;
  readonly world: World;
  /** Absent: the cluster's default. */
  readonly expirationSeconds?: number | undefined;
  /** Told the name of the CertificateSigningRequest, which may need an approval by hand. */
  readonly onRequested?: ((name: string) => void) | undefined;
  /** Aborted: the request ends and keeps the process alive no longer. */
  readonly signal?: AbortSignal | undefined;
}

/** Key and certificate in one file: a crash never leaves a key beside the certificate of another key. */
const uses = {
  client: { file: 'node-client.pem', signerName: signers.nodeClient, usage: 'client auth' },
  serving: { file: 'node-serving.pem', signerName: signers.nodeServing, usage: 'server auth' },
} as const;

/** The certificate in the file; undefined: there is none, or it cannot be used any more. @throws DataDamage if the file holds something else */
export async function loadNodeCertificate({ files, use, node, hosts, world }: NodeCertificateOptions): Promise<KeyAndCertificate | undefined> {
  const { file } = uses[use];
  const text = await files.read(file);
  if (text === undefined) return undefined;
  const kept = split(text);
  if (kept === undefined || !isPair(kept)) {
    throw new DataDamage({
      file: `pki/${file}`,
      expected: 'a private key and its certificate in PEM',
      found: text === '' ? 'an empty file' : `${text.length} characters that are none`,
      advice: 'Restore it, or remove it: the node then requests a new certificate with its kubeconfig.',
    });
  }
  return isUsable(kept, { node, hosts, now: world.clock.now() }) ? kept : undefined;
}

function isPair({ key, certificate }: KeyAndCertificate): boolean {
  try {
    return new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}

/** Requests a certificate for a new key and stores both when it is issued, which may need an approval by hand. */
export async function requestNodeCertificate(transport: Transport, options: NodeCertificateOptions): Promise<KeyAndCertificate> {
  const { node, use, hosts, files, world, expirationSeconds, onRequested, signal } = options;
  const { file, signerName, usage } = uses[use];
  // Loaded here: a node with a valid certificate does not need it.
  const { createCsr: makeRequest } = await import('../../apiserver/certificates/create-csr.ts');
  const { request, key } = await makeRequest({ name: `system:node:${node}`, groups: ['system:nodes'], hosts });
  const client = createClient({ transport });
  const spec = {
    request: Buffer.from(request).toString('base64'),
    signerName,
    usages: ['digital signature', usage],
    ...(expirationSeconds === undefined ? {} : { expirationSeconds }),
  };
  const asked = await client.create(certificateSigningRequestKind, { metadata: { generateName: use === 'client' ? 'node-csr-' : 'csr-' }, spec });
  if (!asked.ok) throw asked.error;
  const { name } = asked.value.metadata;
  onRequested?.(name);
  world.log.info('waiting for a certificate of the node', { request: name, use, approve: `kubectl certificate approve ${name}` });
  const informer = new Informer({ client, world, kind: certificateSigningRequestKind, selection: { fieldSelector: `metadata.name=${name}` } });
  try {
    const certificate = await new Promise<string>((resolve, reject) => {
      const giveUp = () => reject(new Error(`the CertificateSigningRequest ${name} of the node was abandoned`));
      if (signal?.aborted === true) return giveUp();
      signal?.addEventListener('abort', giveUp, { once: true });
      informer.cache.subscribe(({ after }) => {
        const outcome = after === undefined ? { refused: 'it was deleted' } : outcomeOf(after);
        if (outcome === undefined) return;
        if (typeof outcome === 'string') resolve(outcome);
        else reject(new Error(`the CertificateSigningRequest ${name} of the node was denied: ${outcome.refused}`));
      });
      informer.start();
    });
    await files.write(file, `${key.trim()}\n${certificate.trim()}\n`);
    return { key, certificate };
  } finally {
    informer.stop();
  }
}

/** The certificate, or why the request failed; undefined: not decided yet. */
function outcomeOf({ status }: CertificateSigningRequest): string | { readonly refused: string } | undefined {
  const refusal = status.conditions?.find(({ type }) => type === 'Denied' || type === 'Failed');
  if (refusal !== undefined) return { refused: refusal.message ?? refusal.reason ?? refusal.type };
  const { certificate = '' } = status;
  return certificate === '' ? undefined : Buffer.from(certificate, 'base64').toString('utf8');
}

function split(text: string): KeyAndCertificate | undefined {
  const at = text.indexOf('-----BEGIN CERTIFICATE-----');
  return at <= 0 ? undefined : { key: text.slice(0, at), certificate: text.slice(at) };
}

interface CertificateUse {
  readonly node: string;
  readonly hosts: readonly string[];
  readonly now: number;
}

/** For this node with its present addresses, and not expired. */
function isUsable({ certificate }: KeyAndCertificate, { node, hosts, now }: CertificateUse): boolean {
  const read = new X509Certificate(certificate);
  if (!read.subject.split('\n').includes(`CN=system:node:${node}`) || Date.parse(read.validTo) <= now) return false;
  return hosts.every((host) => (isIP(host) === 0 ? read.checkHost(host) : read.checkIP(host)) !== undefined);
}
