import { createPrivateKey, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import type { SecretFiles } from '../../world/secret-files.ts';
import type { IssueRequest, IssuedCertificate } from './issue-certificates.ts';

/** A certificate and its private key, PEM. */
export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

export interface Certificates {
  readonly authority: KeyPair;
  readonly serving: KeyPair;
  /** For the kubeconfig: the user that may do everything. */
  readonly admin: KeyPair;
  /** By which servers behind APIServices know this one; `authority` signs nothing else. */
  readonly frontProxy: { readonly authority: KeyPair; readonly client: KeyPair };
  /** A client certificate for another user. */
  issueClient(client: ClientName, days?: number): Promise<KeyPair>;
}

export interface ClientName {
  readonly name: string;
  readonly groups: readonly string[];
}

export interface CertificateOptions {
  readonly files: SecretFiles;
  /** Names and addresses under which the server is reached, besides those it always has. */
  readonly hosts: readonly string[];
  /** Milliseconds since 1970. */
  readonly now: number;
}

const day = 24 * 60 * 60 * 1000;
const authorityDays = 3650;
const leafDays = 365;
/** A certificate is renewed so many days before it expires. */
const renewDays = 60;

const frontProxyCa = 'front-proxy-ca';
/** The name in the certificate; servers behind APIServices trust no other. */
export const frontProxyClient = 'front-proxy-client';

export const adminName: ClientName = { name: 'kubernetes-admin', groups: ['system:masters'] };

/** How clients inside and beside a cluster call its API. */
const wellKnownHosts = [
  'localhost',
  '127.0.0.1',
  '::1',
  'kubernetes',
  'kubernetes.default',
  'kubernetes.default.svc',
  'kubernetes.default.svc.cluster.local',
  '10.96.0.1',
];

/** The authority is not valid yet. A new one would lock out every client of the cluster, so the clock has to be put right first. */
export class AuthorityNotYetValid extends Error {
  constructor(validFrom: string, now: number) {
    super(
      `the cluster's certificate authority (pki/ca.crt) is valid from ${new Date(validFrom).toISOString()} on, and this machine's clock says ${new Date(now).toISOString()}: put the clock right, and start again`,
    );
  }
}

/**
 * The certificates of a server: those of the last start if they are still good, new ones otherwise.
 * A new authority makes everything below it new; the serving certificate is also made anew when the server gets another name.
 * @throws AuthorityNotYetValid
 */
export async function ensureCertificates(options: CertificateOptions): Promise<Certificates> {
  const { files, now } = options;
  const hosts = [...new Set([...wellKnownHosts, ...options.hosts])];
  const { authority, frontProxy } = await ensureAuthorities(files, now);
  const leaf = async (name: string, request: LeafCertificateRequest, { signer = authority, wanted = [] }: LeafOptions = {}): Promise<KeyPair> => {
    const pair = await readPair(files, name);
    if (pair !== undefined && isUsable(pair, { now, authority: signer, hosts: wanted })) return pair;
    return replace(files, name, { ...request, ...validity(now, leafDays), authority: signer });
  };
  return {
    authority,
    serving: await leaf('server', { type: 'server', commonName: 'mooring', hosts }, { wanted: hosts }),
    admin: await leaf('admin', { type: 'client', ...adminName }),
    frontProxy: { authority: frontProxy, client: await leaf(frontProxyClient, { type: 'client', name: frontProxyClient, groups: [] }, { signer: frontProxy }) },
    issueClient: (client, days = leafDays) => issue({ type: 'client', ...client, ...validity(now, days), authority }),
  };
}

interface LeafOptions {
  readonly signer?: KeyPair;
  readonly wanted?: readonly string[];
}

/** The certificate authorities: those of the last start if they are still good, new ones otherwise. @throws AuthorityNotYetValid */
export async function ensureAuthorities(files: SecretFiles, now: number): Promise<{ readonly authority: KeyPair; readonly frontProxy: KeyPair }> {
  const kept = await readPair(files, 'ca');
  const validFrom = kept === undefined ? undefined : parse(kept)?.validFrom;
  if (validFrom !== undefined && Date.parse(validFrom) > now) throw new AuthorityNotYetValid(validFrom, now);
  return {
    authority: await ensureAuthority(files, { name: 'ca', commonName: 'mooring-ca', kept, now }),
    frontProxy: await ensureAuthority(files, { name: frontProxyCa, commonName: frontProxyCa, kept: await readPair(files, frontProxyCa), now }),
  };
}

interface AuthorityFiles {
  readonly name: string;
  readonly commonName: string;
  readonly kept: KeyPair | undefined;
  readonly now: number;
}

async function ensureAuthority(files: SecretFiles, { name, commonName, kept, now }: AuthorityFiles): Promise<KeyPair> {
  if (kept !== undefined && isUsable(kept, { now })) return kept;
  return replace(files, name, { type: 'authority', commonName, ...validity(now, authorityDays) });
}

type LeafCertificateRequest =
  | { readonly type: 'server'; readonly commonName: string; readonly hosts: readonly string[] }
  | ({ readonly type: 'client' } & ClientName);

const validity = (now: number, days: number): { notBefore: number; notAfter: number } => ({ notBefore: now - day, notAfter: now + days * day });

async function replace(files: SecretFiles, name: string, request: IssueRequest): Promise<KeyPair> {
  const pair = await issue(request);
  // The key first: a crash between the two leaves a pair that does not match, which the next start replaces.
  await files.write(`${name}.key`, pair.key);
  await files.write(`${name}.crt`, pair.certificate);
  return pair;
}

/** The library that signs is loaded only when there is something to sign: a later start does without. */
async function issue(request: IssueRequest): Promise<IssuedCertificate> {
  const { issueCertificate } = await import('./issue-certificates.ts');
  return issueCertificate(request);
}

/** Undefined: one of the two files is missing. */
export async function readPair(files: SecretFiles, name: string): Promise<KeyPair | undefined> {
  const [certificate, key] = [await files.read(`${name}.crt`), await files.read(`${name}.key`)];
  return certificate === undefined || key === undefined ? undefined : { certificate, key };
}

function isUsable(pair: KeyPair, wanted: { now: number; authority?: KeyPair; hosts?: readonly string[] }): boolean {
  const certificate = parse(pair);
  if (certificate === undefined) return false;
  const { now, authority, hosts = [] } = wanted;
  const until = Date.parse(certificate.validTo);
  if (until - now < renewDays * day || Date.parse(certificate.validFrom) > now) return false;
  if (authority !== undefined && !signedBy(certificate, authority)) return false;
  return hosts.every((host) => (isIP(host) === 0 ? certificate.checkHost(host) : certificate.checkIP(host)) !== undefined);
}

function signedBy(certificate: X509Certificate, authority: KeyPair): boolean {
  return certificate.verify(new X509Certificate(authority.certificate).publicKey);
}

/** undefined: unreadable, or key and certificate do not belong together. */
function parse({ certificate, key }: KeyPair): X509Certificate | undefined {
  try {
    const parsed = new X509Certificate(certificate);
    return parsed.checkPrivateKey(createPrivateKey(key)) ? parsed : undefined;
  } catch {
    return undefined;
  }
}
