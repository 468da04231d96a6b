import { expect, test } from 'vitest';
import { parseKubeconfig } from './http-transport-kubeconfig.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');

const config = (user: string, cluster = 'server: https://127.0.0.1:6443') => `
apiVersion: v1
kind: Config
current-context: moor
contexts:
- name: moor
  context: { cluster: local, user: admin, namespace: team }
- name: other
  context: { cluster: local, user: admin }
- name: dangling
  context: { cluster: nowhere, user: admin }
clusters:
- name: local
  cluster: { ${cluster} }
users:
- name: admin
  user: { ${user} }
`;

const files: Readonly<Record<string, string>> = { 'ca.crt': 'CA', 'tls.crt': 'CERT', 'tls.key': 'KEY', token: 'from file\n' };
const readFile = (name: string): string => {
  const text = files[name];
  if (text === undefined) throw new Error(`no such file: ${name}`);
  return text;
};
const parse = (text: string, context?: string) => parseKubeconfig(text, { readFile, ...(context === undefined ? {} : { context }) });

test('certificates by value or by file', () => {
  const byValue = config(
    `client-certificate-data: ${base64('CERT')}, client-key-data: ${base64('KEY')}`,
    `server: https://127.0.0.1:6443, certificate-authority-data: ${base64('CA')}`,
  );
  const byFile = config('client-certificate: tls.crt, client-key: tls.key', 'server: https://127.0.0.1:6443, certificate-authority: ca.crt');
  const expected = { url: 'https://127.0.0.1:6443', insecure: false, ca: 'CA', cert: 'CERT', key: 'KEY', namespace: 'team' };
  expect(parse(byValue)).toEqual(expected);
  expect(parse(byFile)).toEqual(expected);
});

test('tokens by value or by file, and another context than the current one', () => {
  expect(parse(config('token: secret'))).toMatchObject({ token: 'secret', namespace: 'team' });
  expect(parse(config('tokenFile: token'), 'other')).toMatchObject({ token: 'from file', namespace: 'default' });
});

test('a server may be told by another name, or not be checked at all', () => {
  const cluster = 'server: https://10.0.0.1, tls-server-name: kubernetes, insecure-skip-tls-verify: true';
  expect(parse(config('token: x', cluster))).toMatchObject({ serverName: 'kubernetes', insecure: true });
});

const refused: readonly [text: string, message: RegExp, context?: string][] = [
  ['', /empty/],
  [': : :', /no YAML/],
  ['kind: Config', /no current-context/],
  [config('token: x'), /no context named "absent"/, 'absent'],
  [config('token: x'), /no cluster named "nowhere"/, 'dangling'],
  [config('token: x', 'server: "not a url"'), /no URL/],
  [config('token: x', 'server: https://a, proxy-url: http://b'), /proxy-url is not supported/],
  [config('exec: { command: aws }'), /uses exec, which is not supported/],
  [config('auth-provider: { name: gcp }'), /uses auth-provider/],
  [config('username: admin, password: x'), /uses username/],
  [config('client-certificate: tls.crt'), /certificate without its key/],
  [config('client-certificate: absent.crt, client-key: tls.key'), /no such file: absent.crt/],
];

test.each(refused.map(([text, message, context]) => ({ text, message, context })))(
  'what cannot be used is said plainly: $message',
  ({ text, message, context }) => {
    expect(() => parse(text, context)).toThrow(message);
  },
);
