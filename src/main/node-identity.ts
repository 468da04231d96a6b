import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { CertificateSigningRequest } from '../api/generated/types.ts';
import { certificateSigningRequestKind } from '../api/kinds/certificates/certificate-signing-request.ts';
import { signers } from '../api/kinds/certificates/signer-name.ts';
import { createClient } from '../machinery/client.ts';
import { type HttpAccess, HttpTransport } from '../machinery/http-transport.ts';
import { Informer } from '../machinery/informer.ts';
import type { Answer, Stream, StreamSink, Transport, TransportRequest } from '../machinery/transport.ts';
import type { SecretFiles } from '../server/auth/certificate-files.ts';
import type { Cancel, World } from '../world/world.ts';

export interface NodeIdentityOptions {
  /** Where the server is, and how to be believed when asking for a certificate. */
  readonly access: HttpAccess;
  readonly node: string;
  /** Where the key and its certificate are kept: the key never leaves the machine. */
  readonly files: SecretFiles;
  readonly world: World;
  readonly userAgent: string;
}

/** PEM. */
interface KeyAndCertificate {
  readonly key: string;
  readonly certificate: string;
}

/** Both in one file: a crash never leaves a key beside another's certificate. */
const fileName = 'node-client.pem';

/** A certificate is replaced when this much of its time is over; kubelets do so between seven and nine tenths. */
const renewAt = 0.8;
const retryMs = 60_000;
/** So long requests that were sent with the old certificate may take. */
const graceMs = 60_000;
const longestTimerMs = 24 * 60 * 60 * 1000;

/**
 * A node as the server knows it: `system:node:NAME`, by a certificate of its own, asked for by a CertificateSigningRequest with whatever
 * the machine was given at first, and renewed by itself in time.
 */
export class NodeIdentity implements Transport {
  readonly #options: NodeIdentityOptions;
  #current: HttpTransport;
  #cancel: Cancel = () => undefined;

  /** Resolves once there is a certificate: perhaps only when somebody approves the request. */
  static async open(options: NodeIdentityOptions): Promise<NodeIdentity> {
    const { files, world, node, access } = options;
    const kept = split((await files.read(fileName)) ?? '');
    const usable = kept !== undefined && isUsable(kept, node, world.clock.now()) ? kept : undefined;
    const identity = usable ?? (await withTransport(options, access, (transport) => ask(transport, options)));
    return new NodeIdentity(options, identity);
  }

  private constructor(options: NodeIdentityOptions, identity: KeyAndCertificate) {
    this.#options = options;
    this.#current = transportOf(options, ownAccess(options, identity));
    this.#plan(identity);
  }

  send(request: TransportRequest): Promise<Answer> {
    return this.#current.send(request);
  }

  watch(request: TransportRequest, sink: StreamSink): Stream {
    return this.#current.watch(request, sink);
  }

  close(): void {
    this.#cancel();
    this.#current.close();
  }

  #plan({ certificate }: KeyAndCertificate): void {
    const { validFrom, validTo } = new X509Certificate(certificate);
    const due = Date.parse(validFrom) + (Date.parse(validTo) - Date.parse(validFrom)) * renewAt;
    this.#renewIn(due - this.#options.world.clock.now());
  }

  #renewIn(ms: number): void {
    const { timers, log } = this.#options.world;
    // Timers cannot be longer than some weeks.
    if (ms > longestTimerMs) {
      this.#cancel = timers.after(longestTimerMs, () => this.#renewIn(ms - longestTimerMs));
      return;
    }
    this.#cancel = timers.after(Math.max(ms, 0), () => {
      this.#renew().catch((error: unknown) => {
        log.warn('cannot renew the certificate of the node', { error });
        this.#renewIn(retryMs);
      });
    });
  }

  async #renew(): Promise<void> {
    const identity = await ask(this.#current, this.#options);
    const old = this.#current;
    this.#current = transportOf(this.#options, ownAccess(this.#options, identity));
    // Watches on the old connections end with them, and are taken up again on new ones.
    this.#options.world.timers.after(graceMs, () => old.close());
    this.#plan(identity);
    this.#options.world.log.info('the certificate of the node was renewed', { until: new X509Certificate(identity.certificate).validTo });
  }
}

const transportOf = ({ world, userAgent }: NodeIdentityOptions, access: HttpAccess): HttpTransport => new HttpTransport({ access, world, userAgent });

async function withTransport<T>(options: NodeIdentityOptions, access: HttpAccess, task: (transport: HttpTransport) => Promise<T>): Promise<T> {
  const transport = transportOf(options, access);
  try {
    return await task(transport);
  } finally {
    transport.close();
  }
}

/** Only the node's own credentials: not those by which it asked for them. */
function ownAccess({ access: { url, ca, serverName, insecure } }: NodeIdentityOptions, { key, certificate }: KeyAndCertificate): HttpAccess {
  return {
    url,
    key,
    cert: certificate,
    ...(ca === undefined ? {} : { ca }),
    ...(serverName === undefined ? {} : { serverName }),
    ...(insecure === undefined ? {} : { insecure }),
  };
}

/** Asks for a certificate for a new key, and keeps both once it is there. */
async function ask(transport: Transport, { node, files, world }: NodeIdentityOptions): Promise<KeyAndCertificate> {
  // Loaded here: a node that has its certificate needs none of it.
  const { makeRequest } = await import('../server/auth/certificates/make-request.ts');
  const { request, key } = await makeRequest({ name: `system:node:${node}`, groups: ['system:nodes'] });
  const client = createClient({ transport });
  const spec = { request: Buffer.from(request).toString('base64'), signerName: signers.nodeClient, usages: ['digital signature', 'client auth'] };
  const asked = await client.create(certificateSigningRequestKind, { metadata: { generateName: 'node-csr-' }, spec });
  if (!asked.ok) throw asked.error;
  const { name = '' } = asked.value.metadata;
  world.log.info('waiting for the certificate of the node', { request: name, otherwise: `kubectl certificate approve ${name}` });
  const informer = new Informer({ client, world, kind: certificateSigningRequestKind, selection: { fieldSelector: `metadata.name=${name}` } });
  try {
    const certificate = await new Promise<string>((resolve, reject) => {
      informer.cache.subscribe(({ after }) => {
        const outcome = after === undefined ? { refused: 'it was deleted' } : outcomeOf(after);
        if (outcome === undefined) return;
        if (typeof outcome === 'string') resolve(outcome);
        else reject(new Error(`the request ${name} for the certificate of the node was refused: ${outcome.refused}`));
      });
      informer.start();
    });
    const identity = { key, certificate };
    await files.write(fileName, `${key.trim()}\n${certificate.trim()}\n`);
    return identity;
  } finally {
    informer.stop();
  }
}

/** The certificate; why there will be none; undefined: it is not decided yet. */
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

/** Made for this node, for this key, and not over. */
function isUsable({ key, certificate }: KeyAndCertificate, node: string, now: number): boolean {
  try {
    const read = new X509Certificate(certificate);
    return read.subject.split('\n').includes(`CN=system:node:${node}`) && Date.parse(read.validTo) > now && read.checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}
