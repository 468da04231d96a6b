import { expect, test } from 'vitest';
import { isSignedWith, parseAuthorization, signRequest } from './signature-v4.ts';

const credentials = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' };
const now = Date.UTC(2015, 7, 30, 12, 36, 0);

test('the signature of the published example (get-vanilla)', () => {
  const request = { method: 'GET', path: '/', headers: { host: 'example.amazonaws.com' }, body: '' };
  const { authorization = '' } = signRequest(request, { credentials, region: 'us-east-1', service: 'service', now });
  expect(authorization).toBe(
    'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31',
  );
});

test('a changed body, header, region or secret is noticed', () => {
  const request = { method: 'POST', path: '/', headers: { host: 'ec2', 'content-type': 'a' }, body: 'Action=DescribeRegions' };
  const headers = signRequest(request, { credentials, region: 'us-west-2', service: 'ec2', now });
  const authorization = parseAuthorization(headers.authorization) ?? expect.unreachable();
  const check = (changes: object, secret = credentials.secretAccessKey) => isSignedWith(secret, { ...request, headers, ...changes }, authorization);
  expect(check({})).toBe(true);
  expect(check({ body: 'Action=DescribeVpcs' })).toBe(false);
  expect(check({ headers: { ...headers, 'content-type': 'b' } })).toBe(false);
  expect(check({}, 'other')).toBe(false);
  expect(isSignedWith(credentials.secretAccessKey, { ...request, headers }, { ...authorization, scope: { ...authorization.scope, region: 'eu-west-1' } })).toBe(
    false,
  );
});

test.each([undefined, '', 'Basic abc', 'AWS4-HMAC-SHA256 Credential=a'])('%o is no signature', (header) => {
  expect(parseAuthorization(header)).toBeUndefined();
});
