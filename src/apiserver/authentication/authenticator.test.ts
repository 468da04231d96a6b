import { describe, expect, test } from 'vitest';
import { type ClientCertificate, createAuthenticator, staticToken } from './authenticator.ts';

const none: ClientCertificate = { type: 'none' };
const invalid: ClientCertificate = { type: 'invalid' };
const jane: ClientCertificate = { type: 'valid', commonName: 'jane', organizations: ['dev'], fingerprint: '0a1b' };

describe('authentication', () => {
  const authenticator = createAuthenticator([staticToken('secret', { name: 'admin', groups: ['system:masters'] })]);

  test.each<[string, ClientCertificate, string | undefined, string, readonly string[]]>([
    ['a certificate', jane, undefined, 'jane', ['dev', 'system:authenticated']],
    ['a certificate, before a token', jane, 'Bearer secret', 'jane', ['dev', 'system:authenticated']],
    ['a token', none, 'Bearer secret', 'admin', ['system:masters', 'system:authenticated']],
    ['a token, however the scheme is written', none, 'bEaReR  secret', 'admin', ['system:masters', 'system:authenticated']],
    ['a token beside a certificate of an unknown CA', invalid, 'Bearer secret', 'admin', ['system:masters', 'system:authenticated']],
    ['nothing', none, undefined, 'system:anonymous', ['system:unauthenticated']],
    ['a scheme that is not ours', none, 'Basic c2VjcmV0', 'system:anonymous', ['system:unauthenticated']],
  ])('%s', async (_case, certificate, authorization, name, groups) => {
    expect(await authenticator.authenticate({ certificate, authorization })).toMatchObject({ name, groups });
  });

  test('a certificate tells which one it was', async () => {
    const user = await authenticator.authenticate({ certificate: jane, authorization: undefined });
    expect(user.extra).toEqual({ 'authentication.kubernetes.io/credential-id': ['X509SHA256=0a1b'] });
  });

  test.each<[string, ClientCertificate, string | undefined]>([
    ['an unknown token', none, 'Bearer other'],
    ['a token that begins like the right one', none, 'Bearer secre'],
    ['a certificate of an unknown CA', invalid, undefined],
    ['a certificate without a name', { type: 'valid', commonName: '', organizations: [], fingerprint: '' }, undefined],
  ])('%s is 401', async (_case, certificate, authorization) => {
    await expect(authenticator.authenticate({ certificate, authorization })).rejects.toMatchObject({ code: 401, message: 'Unauthorized' });
  });
});
