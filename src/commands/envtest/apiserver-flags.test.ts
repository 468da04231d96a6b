import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readArguments } from './apiserver-flags.ts';

let directory = '';
beforeAll(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'mooring-envtest-'));
  for (const name of ['apiserver.crt', 'apiserver.key', 'client-cert-auth-ca.crt']) writeFileSync(path.join(directory, name), `PEM of ${name}`);
});
afterAll(() => rmSync(directory, { recursive: true }));

/** As controller-runtime 0.25 starts kube-apiserver. */
const usual = () => [
  '--allow-privileged=true',
  '--authorization-mode=RBAC',
  '--bind-address=127.0.0.1',
  `--cert-dir=${directory}`,
  `--client-ca-file=${directory}/client-cert-auth-ca.crt`,
  '--disable-admission-plugins=ServiceAccount',
  '--etcd-servers=http://127.0.0.1:2379',
  '--secure-port=38123',
  '--service-cluster-ip-range=10.0.0.0/24',
];

describe('the command line of envtest', () => {
  test('is read: address, certificates, plugins', () => {
    expect(readArguments(usual())).toEqual({
      listen: { host: '127.0.0.1', port: 38_123 },
      tls: { serving: { certificate: 'PEM of apiserver.crt', key: 'PEM of apiserver.key' }, clientAuthority: 'PEM of client-cert-auth-ca.crt' },
      disabledPlugins: ['ServiceAccount'],
      unused: ['service-cluster-ip-range'],
    });
  });

  test('names what it does not use, in either form; the last of a flag counts', () => {
    const { unused, listen } = readArguments([...usual(), '--feature-gates=A=true', '--audit-policy-file', '/x', '-v=4', '--secure-port', '1']);
    expect([unused, listen.port]).toEqual([['service-cluster-ip-range', 'feature-gates', 'audit-policy-file'], 1]);
  });

  test('refuses what would be silently wrong', () => {
    expect(() => readArguments([...usual(), '--authorization-mode=AlwaysAllow'])).toThrow('Mooring authorizes by RBAC');
    expect(() => readArguments([...usual(), '--secure-port=x'])).toThrow('--secure-port must be a port, not "x"');
    expect(() => readArguments([...usual(), '--cert-dir=/nowhere'])).toThrow('cannot read /nowhere/apiserver.crt');
  });
});
