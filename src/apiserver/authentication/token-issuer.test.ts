import { decodeJwt, decodeProtectedHeader } from 'jose';
import { beforeEach, describe, expect, test } from 'vitest';
import { createTokenIssuer, type TokenReferenceLookup, type TokenIssuer, type TokenSpec } from './token-issuer.ts';

const issuer = 'https://kubernetes.default.svc.cluster.local';

describe('tokens of service accounts', () => {
  const objects = new Map<string, { uid: string; deletionTimestamp?: string }>();
  const contents = new Map<string, string>();
  let now = 0;
  let tokens: TokenIssuer;
  const spec: TokenSpec = { namespace: 'a', name: 'robot', uid: 'u1', audiences: [], expirationSeconds: 3600 };

  const start = (files = contents): Promise<TokenIssuer> => {
    const lookUp: TokenReferenceLookup = ({ kind, namespace, name }) => Promise.resolve(objects.get(`${kind} ${namespace}/${name}`));
    return createTokenIssuer({
      files: { read: (name) => Promise.resolve(files.get(name)), write: (name, text) => Promise.resolve(void files.set(name, text)) },
      issuer,
      lookUp,
      clock: { now: () => now, monotonic: () => now },
      random: { float: () => 0.5, uuid: () => '00000000-0000-4000-8000-000000000001' },
    });
  };

  beforeEach(async () => {
    now = Date.parse('2026-06-01T00:00:00Z');
    contents.clear();
    objects.clear();
    objects.set('ServiceAccount a/robot', { uid: 'u1' });
    tokens = await start();
  });

  test('a token names its account and is good until it expires', async () => {
    const { token, expiresAt, audiences } = await tokens.issue(spec);
    expect(expiresAt).toBe(now + 3_600_000);
    expect(audiences).toEqual([issuer]);
    expect(decodeProtectedHeader(token)).toEqual({ alg: 'ES256', kid: expect.stringMatching(/^[\w-]{43}$/) as string });
    expect(decodeJwt(token)).toEqual({
      iss: issuer,
      sub: 'system:serviceaccount:a:robot',
      aud: [issuer],
      iat: now / 1000,
      nbf: now / 1000,
      exp: now / 1000 + 3600,
      jti: '00000000-0000-4000-8000-000000000001',
      'kubernetes.io': { namespace: 'a', serviceaccount: { name: 'robot', uid: 'u1' } },
    });
    expect(await tokens.verify(token)).toEqual({
      name: 'system:serviceaccount:a:robot',
      uid: 'u1',
      groups: ['system:serviceaccounts', 'system:serviceaccounts:a'],
      extra: { 'authentication.kubernetes.io/credential-id': ['JTI=00000000-0000-4000-8000-000000000001'] },
    });
    now += 3_601_000;
    expect(await tokens.verify(token)).toBe(undefined);
  });

  test('it survives a restart, but not another key', async () => {
    const { token } = await tokens.issue(spec);
    expect(await (await start()).verify(token)).toMatchObject({ uid: 'u1' });
    expect(await (await start(new Map())).verify(token)).toBe(undefined);
  });

  test('it ends with its account, also if another one takes the name', async () => {
    const { token } = await tokens.issue(spec);
    objects.set('ServiceAccount a/robot', { uid: 'u2' });
    expect(await tokens.verify(token)).toBe(undefined);
    objects.clear();
    expect(await tokens.verify(token)).toBe(undefined);
  });

  test('bound to a pod, it ends a minute after the pod was to be gone, or when it is', async () => {
    objects.set('Pod a/web', { uid: 'p1' });
    const { token } = await tokens.issue({ ...spec, boundObject: { kind: 'Pod', name: 'web', uid: 'p1' }, node: { name: 'n', uid: 'n1' } });
    expect(await tokens.verify(token)).toMatchObject({
      extra: { 'authentication.kubernetes.io/pod-name': ['web'], 'authentication.kubernetes.io/node-name': ['n'] },
    });
    objects.set('Pod a/web', { uid: 'p1', deletionTimestamp: new Date(now - 30_000).toISOString() });
    expect(await tokens.verify(token)).toBeDefined();
    objects.set('Pod a/web', { uid: 'p1', deletionTimestamp: new Date(now - 61_000).toISOString() });
    expect(await tokens.verify(token)).toBe(undefined);
  });

  test("a pod's own token lives for a year, says when to worry, and claims to end when asked", async () => {
    const { token, expiresAt } = await tokens.issue({ ...spec, expirationSeconds: 3607, boundObject: { kind: 'Pod', name: 'web', uid: 'p1' } });
    expect(expiresAt).toBe(now + 3_607_000);
    const claims = decodeJwt(token) as { exp: number; 'kubernetes.io': { warnafter: number } };
    expect(claims.exp).toBe(now / 1000 + 365 * 24 * 3600);
    expect(claims['kubernetes.io'].warnafter).toBe(now / 1000 + 3607);
  });

  test('a token for another audience is refused', async () => {
    const { token } = await tokens.issue({ ...spec, audiences: ['vault'] });
    expect(await tokens.verify(token)).toBe(undefined);
    expect(await tokens.verify(token, ['vault'])).toMatchObject({ uid: 'u1' });
  });

  test.each(['', 'x', 'a.b.c', 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.'])('%j is no token', async (text) => {
    expect(await tokens.verify(text)).toBe(undefined);
  });

  test('a changed token is worth nothing', async () => {
    const { token } = await tokens.issue(spec);
    const [head, , signature] = token.split('.');
    const forged = Buffer.from(JSON.stringify({ ...decodeJwt(token), sub: 'system:serviceaccount:kube-system:admin' })).toString('base64url');
    expect(await tokens.verify(`${head}.${forged}.${signature}`)).toBe(undefined);
  });

  test('the public key is published without the private one', async () => {
    const { keys } = (await tokens.keys()) as { keys: Record<string, string>[] };
    expect(keys).toEqual([expect.objectContaining({ kty: 'EC', crv: 'P-256', alg: 'ES256', use: 'sig' })]);
    expect(keys[0]).not.toHaveProperty('d');
  });
});
