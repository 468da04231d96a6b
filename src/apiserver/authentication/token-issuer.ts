import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Clock, Random } from '../../world/world.ts';
import type { User } from '../api.ts';
import { credentialId } from '../user.ts';
import type { SecretFiles } from '../../world/secret-files.ts';

/** Something that a token speaks for, or that it ends with. */
export interface BoundObject {
  readonly kind: 'Pod' | 'Secret' | 'Node';
  readonly name: string;
  readonly uid: string;
}

export interface TokenSpec {
  readonly namespace: string;
  /** Of the service account. */
  readonly name: string;
  readonly uid: string;
  /** None: this server. */
  readonly audiences: readonly string[];
  readonly expirationSeconds: number;
  /** The token ends when this object does. */
  readonly boundObject?: BoundObject;
  /** The node of the pod it is bound to. */
  readonly node?: { readonly name: string; readonly uid: string };
}

export interface IssuedToken {
  readonly token: string;
  readonly audiences: readonly string[];
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

export interface ReviewedToken {
  readonly user: User;
  readonly audiences: readonly string[];
}

export interface TokenIssuer {
  readonly issuer: string;
  issue(spec: TokenSpec): Promise<IssuedToken>;
  /** undefined: of another issuer, expired, for another audience, or bound to an account or object that is gone. */
  verify(token: string, audiences?: readonly string[]): Promise<User | undefined>;
  /** The user of a token, and the audiences among these that it is valid for. None given: this server. */
  review(token: string, audiences: readonly string[]): Promise<ReviewedToken | undefined>;
  /** The public keys, as a JSON Web Key Set. */
  keys(): Promise<object>;
}

/** What a token refers to, as it is now; undefined: it is gone. */
export type TokenReferenceLookup = (reference: {
  readonly kind: 'ServiceAccount' | BoundObject['kind'];
  readonly namespace: string;
  readonly name: string;
}) => Promise<{ readonly uid: string; readonly deletionTimestamp?: string } | undefined>;

export interface TokenIssuerOptions {
  readonly files: SecretFiles;
  /** 'https://kubernetes.default.svc.cluster.local' */
  readonly issuer: string;
  readonly lookUp: TokenReferenceLookup;
  readonly clock: Clock;
  readonly random: Random;
}

interface Claims {
  readonly iss: string;
  readonly sub: string;
  readonly aud: readonly string[];
  readonly exp: number;
  readonly iat: number;
  readonly nbf: number;
  readonly jti: string;
  readonly 'kubernetes.io': PrivateClaims;
}

interface Reference {
  readonly name: string;
  readonly uid: string;
}

interface PrivateClaims {
  readonly namespace: string;
  readonly serviceaccount: Reference;
  readonly pod?: Reference;
  readonly secret?: Reference;
  readonly node?: Reference;
  readonly warnafter?: number;
}

/** Pods ask for this lifetime for their own tokens and get a year: old clients do not renew them (v1.36.4: pkg/serviceaccount/claims.go). */
const podTokenSeconds = 3607;
const extendedSeconds = 365 * 24 * 60 * 60;
/** For which the token of an object that is being deleted stays valid. */
const deletionLeewayMs = 60_000;
/** Tokens whose signature was checked already. */
const maxVerifiedTokens = 1_000;

/** Service account tokens: ES256, signed with a key that is kept with the certificates. */
export async function createTokenIssuer(options: TokenIssuerOptions): Promise<TokenIssuer> {
  const key = await ensureSigningKey(options.files);
  return new SigningIssuer(options, key);
}

/** The key of the last start, or a new one. */
export async function ensureSigningKey(files: SecretFiles): Promise<KeyObject> {
  const kept = await files.read('sa.key');
  if (kept !== undefined) return createPrivateKey(kept);
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  await files.write('sa.key', privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
  return privateKey;
}

class SigningIssuer implements TokenIssuer {
  readonly issuer: string;
  readonly #options: TokenIssuerOptions;
  readonly #privateKey: KeyObject;
  readonly #publicKey: KeyObject;
  readonly #keyId: string;
  readonly #verifiedClaims = new LRUCache<string, Claims>({ max: maxVerifiedTokens });

  constructor(options: TokenIssuerOptions, key: KeyObject) {
    this.#options = options;
    this.issuer = options.issuer;
    this.#privateKey = key;
    this.#publicKey = createPublicKey(key);
    this.#keyId = createHash('sha256')
      .update(this.#publicKey.export({ type: 'spki', format: 'der' }))
      .digest('base64url');
  }

  async issue(spec: TokenSpec): Promise<IssuedToken> {
    const { SignJWT } = await import('jose');
    const now = Math.floor(this.#options.clock.now() / 1000);
    const audiences = spec.audiences.length === 0 ? [this.issuer] : spec.audiences;
    const extended = spec.boundObject?.kind === 'Pod' && spec.expirationSeconds === podTokenSeconds && audiences.every((audience) => audience === this.issuer);
    const expires = now + (extended ? extendedSeconds : spec.expirationSeconds);
    const token = await new SignJWT({ 'kubernetes.io': privateClaims(spec, extended ? now + podTokenSeconds : undefined) })
      .setProtectedHeader({ alg: 'ES256', kid: this.#keyId })
      .setIssuer(this.issuer)
      .setSubject(`system:serviceaccount:${spec.namespace}:${spec.name}`)
      .setAudience([...audiences])
      .setIssuedAt(now)
      .setNotBefore(now)
      .setExpirationTime(expires)
      .setJti(this.#options.random.uuid())
      .sign(this.#privateKey);
    return { token, audiences, expiresAt: (now + spec.expirationSeconds) * 1000 };
  }

  async verify(token: string, audiences: readonly string[] = [this.issuer]): Promise<User | undefined> {
    return (await this.review(token, audiences))?.user;
  }

  async review(token: string, audiences: readonly string[]): Promise<ReviewedToken | undefined> {
    const claims = await this.#claims(token);
    const now = this.#options.clock.now() / 1000;
    if (claims === undefined || claims.exp < now || claims.nbf > now + 1) return undefined;
    const wanted = audiences.length === 0 ? [this.issuer] : audiences;
    const good = wanted.filter((audience) => claims.aud.includes(audience));
    if (good.length === 0 || !(await this.#allReferencesExist(claims['kubernetes.io']))) return undefined;
    return { user: userOf(claims), audiences: good };
  }

  async keys(): Promise<object> {
    const { exportJWK } = await import('jose');
    return { keys: [{ use: 'sig', kid: this.#keyId, alg: 'ES256', ...(await exportJWK(this.#publicKey)) }] };
  }

  /** A signature is checked once; expiry and references are checked every time. */
  async #claims(token: string): Promise<Claims | undefined> {
    const before = this.#verifiedClaims.get(token);
    if (before !== undefined) return before;
    if (token.split('.').length !== 3) return undefined;
    const { jwtVerify } = await import('jose');
    try {
      const { payload } = await jwtVerify(token, this.#publicKey, {
        issuer: this.issuer,
        algorithms: ['ES256'],
        requiredClaims: ['sub', 'aud', 'exp', 'jti', 'kubernetes.io'],
        currentDate: new Date(this.#options.clock.now()),
      });
      const claims = { ...payload, aud: [payload.aud ?? []].flat() } as unknown as Claims;
      this.#verifiedClaims.set(token, claims);
      return claims;
    } catch {
      return undefined;
    }
  }

  async #allReferencesExist({ namespace, serviceaccount, pod, secret, node }: PrivateClaims): Promise<boolean> {
    if (!(await this.#referenceExists('ServiceAccount', namespace, serviceaccount))) return false;
    if (secret !== undefined && !(await this.#referenceExists('Secret', namespace, secret))) return false;
    if (pod !== undefined) return this.#referenceExists('Pod', namespace, pod);
    return node === undefined || this.#referenceExists('Node', '', node);
  }

  async #referenceExists(kind: 'ServiceAccount' | BoundObject['kind'], namespace: string, { name, uid }: Reference): Promise<boolean> {
    const found = await this.#options.lookUp({ kind, namespace, name });
    if (found === undefined || found.uid !== uid) return false;
    return found.deletionTimestamp === undefined || Date.parse(found.deletionTimestamp) + deletionLeewayMs > this.#options.clock.now();
  }
}

function privateClaims(spec: TokenSpec, warnAfter: number | undefined): PrivateClaims {
  const { boundObject, node } = spec;
  const bound = boundObject === undefined ? {} : { [boundObject.kind.toLowerCase()]: { name: boundObject.name, uid: boundObject.uid } };
  return {
    namespace: spec.namespace,
    ...(node === undefined ? {} : { node }),
    ...bound,
    serviceaccount: { name: spec.name, uid: spec.uid },
    ...(warnAfter === undefined ? {} : { warnafter: warnAfter }),
  };
}

/** The user of a token, with the extra fields that admission and authorization read. */
function userOf({ sub, jti, 'kubernetes.io': { namespace, serviceaccount, pod, node } }: Claims): User {
  const extra = {
    [credentialId]: [`JTI=${jti}`],
    ...(pod === undefined ? {} : { 'authentication.kubernetes.io/pod-name': [pod.name], 'authentication.kubernetes.io/pod-uid': [pod.uid] }),
    ...(node === undefined ? {} : { 'authentication.kubernetes.io/node-name': [node.name], 'authentication.kubernetes.io/node-uid': [node.uid] }),
  };
  return { name: sub, uid: serviceaccount.uid, groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`], extra };
}
