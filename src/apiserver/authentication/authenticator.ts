import { createHash, timingSafeEqual } from 'node:crypto';
import { statusErrors } from '../../api/status.ts';
import type { User } from '../api.ts';
import { anonymous, authenticated, credentialId } from '../user.ts';

/** What a client shows of itself. */
export interface Credentials {
  readonly certificate: ClientCertificate;
  /** The Authorization header. */
  readonly authorization: string | undefined;
}

/** A certificate that the TLS handshake presented, and whether our authority signed it and it is valid today. */
export type ClientCertificate = { readonly type: 'none' } | { readonly type: 'invalid' } | ValidCertificate;

export interface ValidCertificate {
  readonly type: 'valid';
  readonly commonName: string;
  readonly organizations: readonly string[];
  /** SHA-256 of the certificate, in hexadecimal. */
  readonly fingerprint: string;
}

export interface Authenticator {
  /** @throws ApiError 401 if there are credentials and none of them is valid. Without any: `system:anonymous`. */
  authenticate(credentials: Credentials): Promise<User>;
}

/** The user of a bearer token; undefined: of another issuer, or not valid any more. */
export type TokenVerifier = (token: string) => Promise<User | undefined>;

export function createAuthenticator(verifiers: readonly TokenVerifier[]): Authenticator {
  return {
    async authenticate({ certificate, authorization }) {
      if (certificate.type === 'valid') return userOfCertificate(certificate);
      const token = bearerToken(authorization);
      if (token !== undefined) {
        for (const verify of verifiers) {
          const user = await verify(token);
          if (user !== undefined) return authenticated(user);
        }
        throw statusErrors.unauthorized();
      }
      if (certificate.type === 'invalid') throw statusErrors.unauthorized();
      return anonymous;
    },
  };
}

/** A connection shows the same certificate with every request. */
const usersOfCertificates = new WeakMap<ValidCertificate, User>();

function userOfCertificate(certificate: ValidCertificate): User {
  const before = usersOfCertificates.get(certificate);
  if (before !== undefined) return before;
  const { commonName: name, organizations: groups, fingerprint } = certificate;
  if (name === '') throw statusErrors.unauthorized();
  const user = authenticated({ name, groups, extra: { [credentialId]: [`X509SHA256=${fingerprint}`] } });
  usersOfCertificates.set(certificate, user);
  return user;
}

/** Other schemes than Bearer are ignored, as in Kubernetes. */
function bearerToken(header: string | undefined): string | undefined {
  const match = /^bearer +(\S+) *$/i.exec(header ?? '');
  return match?.[1];
}

/** One token with a fixed owner: for tools that cannot use a client certificate. */
export function staticToken(token: string, user: User): TokenVerifier {
  const expected = digest(token);
  return (given) => Promise.resolve(timingSafeEqual(digest(given), expected) ? user : undefined);
}

/** Of equal length for all tokens: the time of a comparison must not reveal a matching prefix. */
const digest = (token: string): Buffer => createHash('sha256').update(token).digest();
