/** CertificateSigningRequests with the real kubectl: a machine that becomes a node, a user whom an administrator approves, and one who is denied. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCsr, type KeyAndCsr, type CsrOptions } from '../../src/apiserver/certificates/create-csr.ts';
import { type MoorProcess, startMoor } from '../moor-process.ts';

describe('certificates', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'mooring-certificates-'));
  const bootstrap = path.join(directory, 'bootstrap.kubeconfig');
  let moor: MoorProcess;
  let cluster = '';
  beforeAll(async () => {
    moor = await startMoor({ args: ['--store', 'memory', '--bootstrap-kubeconfig', bootstrap] });
    cluster = (await kubectl('config', 'view', '-o', 'jsonpath={.contexts[0].context.cluster}')).trim();
  });
  afterAll(async () => {
    await moor.stop();
    rmSync(directory, { recursive: true });
  });

  const kubectl = async (...args: string[]) => {
    const result = await moor.kubectl(...args);
    expect(result, `kubectl ${args.join(' ')}`).toMatchObject({ code: 0 });
    return result.stdout;
  };

  /** Creates a CertificateSigningRequest of this name. */
  async function ask(name: string, wanted: CsrOptions, { signerName, usages, as = [] }: { signerName: string; usages: string[]; as?: string[] }) {
    const made = await createCsr(wanted);
    const spec = { request: Buffer.from(made.request).toString('base64'), signerName, usages, expirationSeconds: 3600, username: 'another user' };
    const object = { apiVersion: 'certificates.k8s.io/v1', kind: 'CertificateSigningRequest', metadata: { name }, spec };
    return { made, asked: await moor.kubectlWith(JSON.stringify(object), 'create', '-f', '-', ...as) };
  }

  /** Adds a context of this name, with the issued certificate. */
  async function use(name: string, { key }: KeyAndCsr): Promise<void> {
    await expect.poll(() => kubectl('get', 'csr', name, '-o', 'jsonpath={.status.certificate}')).not.toBe('');
    const certificate = await kubectl('get', 'csr', name, '-o', 'jsonpath={.status.certificate}');
    const files = { certificate: path.join(directory, `${name}.crt`), key: path.join(directory, `${name}.key`) };
    writeFileSync(files.certificate, Buffer.from(certificate, 'base64'));
    writeFileSync(files.key, key);
    await kubectl('config', 'set-credentials', name, `--client-certificate=${files.certificate}`, `--client-key=${files.key}`, '--embed-certs=true');
    await kubectl('config', 'set-context', name, `--cluster=${cluster}`, `--user=${name}`);
  }

  const client = { signerName: 'kubernetes.io/kube-apiserver-client', usages: ['client auth'] };

  test('a machine requests with its bootstrap kubeconfig, is approved, and has the rights of a node', async () => {
    const nodeClient = { signerName: 'kubernetes.io/kube-apiserver-client-kubelet', usages: ['client auth', 'digital signature'] };
    const { made, asked } = await ask('node', { name: 'system:node:n1', groups: ['system:nodes'] }, { ...nodeClient, as: ['--kubeconfig', bootstrap] });
    expect(asked).toMatchObject({ code: 0 });
    expect(await moor.kubectl('get', 'nodes', '--kubeconfig', bootstrap)).toMatchObject({ code: 1 });
    await use('node', made);
    expect(await kubectl('get', 'csr', 'node', '-o', 'jsonpath={.spec.username} {.status.conditions[*].reason}')).toBe('system:bootstrap:mooring AutoApproved');
    expect(await kubectl('auth', 'whoami', '--context=node', '-o', 'jsonpath={.status.userInfo.username} {.status.userInfo.groups}')).toBe(
      'system:node:n1 ["system:nodes","system:authenticated"]',
    );
    const node = (name: string) => JSON.stringify({ apiVersion: 'v1', kind: 'Node', metadata: { name } });
    expect(await moor.kubectlWith(node('n1'), 'create', '-f', '-', '--context=node')).toMatchObject({ code: 0 });
    expect(await moor.kubectlWith(node('n2'), 'create', '-f', '-', '--context=node')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('nodes "n2" is forbidden: node "n1" is not allowed to modify node "n2"') as string,
    });
    expect(await moor.kubectl('label', 'node', 'n1', 'node-role.kubernetes.io/db=', '--context=node')).toMatchObject({
      code: 1,
      stderr: 'Error from server (Forbidden): nodes "n1" is forbidden: is not allowed to modify labels: node-role.kubernetes.io/db\n',
    });
    await kubectl('create', 'secret', 'generic', 'key', '--from-literal=a=b');
    expect(await moor.kubectl('get', 'secret', 'key', '--context=node')).toMatchObject({
      code: 1,
      stderr:
        'Error from server (Forbidden): secrets "key" is forbidden: User "system:node:n1" cannot get resource "secrets" in API group "" in the namespace "default": ' +
        `no relationship found between node 'n1' and this object\n`,
    });
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'web' },
      spec: { nodeName: 'n1', containers: [{ name: 'c', image: 'i', envFrom: [{ secretRef: { name: 'key' } }] }] },
    };
    expect(await moor.kubectlWith(JSON.stringify(pod), 'create', '-f', '-')).toMatchObject({ code: 0 });
    expect(await kubectl('get', 'secret', 'key', '--context=node', '-o', 'name')).toBe('secret/key\n');
    expect(await kubectl('get', 'pods', '-A', '--field-selector=spec.nodeName=n1', '--context=node', '-o', 'name')).toBe('pod/web\n');
    expect(await moor.kubectl('get', 'pods', '--context=node')).toMatchObject({ code: 1 });
  });

  test('a node gets a new certificate for itself, but not for another node', async () => {
    const nodeClient = { signerName: 'kubernetes.io/kube-apiserver-client-kubelet', usages: ['client auth', 'digital signature'], as: ['--context=node'] };
    expect((await ask('again', { name: 'system:node:n1', groups: ['system:nodes'] }, nodeClient)).asked).toMatchObject({ code: 0 });
    await expect.poll(() => kubectl('get', 'csr', 'again', '-o', 'jsonpath={.status.conditions[0].message}')).toMatch(/^Auto approving self kubelet client/);
    expect((await ask('other', { name: 'system:node:n2', groups: ['system:nodes'] }, nodeClient)).asked).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('can only create a node CSR with CN=system:node:n1') as string,
    });
  });

  test('a bootstrap kubeconfig gets no certificate for a node that exists', async () => {
    const nodeClient = {
      signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
      usages: ['client auth', 'digital signature'],
      as: ['--kubeconfig', bootstrap],
    };
    await ask('stolen', { name: 'system:node:n1', groups: ['system:nodes'] }, nodeClient);
    await expect
      .poll(() => kubectl('get', 'csr', 'stolen', '-o', 'jsonpath={.status.conditions[0].type}: {.status.conditions[0].message}'))
      .toBe('Denied: node "n1" exists, and the request does not come from it: delete the Node object if another machine takes its name');
    expect(await kubectl('get', 'csr', 'stolen', '-o', 'jsonpath={.status.certificate}')).toBe('');
  });

  test('a user waits until an administrator approves, and is then the user of the certificate', async () => {
    const { made } = await ask('jane', { name: 'jane', groups: ['team'] }, client);
    expect(await kubectl('get', 'csr', 'jane', '--no-headers')).toMatch(/^jane +\S+ +kubernetes.io\/kube-apiserver-client +kubernetes-admin +60m +Pending\n$/);
    expect(await kubectl('certificate', 'approve', 'jane')).toBe('certificatesigningrequest.certificates.k8s.io/jane approved\n');
    await use('jane', made);
    expect(await kubectl('get', 'csr', 'jane', '--no-headers')).toMatch(/Approved,Issued\n$/);
    expect(await kubectl('describe', 'csr', 'jane')).toMatch(/Requesting User: +kubernetes-admin\n[^]*Common Name: +jane\n[^]*Organization: +team\n/);
    await kubectl('create', 'rolebinding', 'team', '--clusterrole=view', '--group=team');
    const admin = (await kubectl('config', 'current-context')).trim();
    await kubectl('config', 'use-context', 'jane');
    expect(await kubectl('auth', 'can-i', 'list', 'pods')).toBe('yes\n');
    expect(await moor.kubectl('auth', 'can-i', 'list', 'secrets')).toMatchObject({ stdout: 'no\n' });
    await kubectl('config', 'use-context', admin);
  });

  test('an approver needs the verb approve on the signer, and a denied request stays denied', async () => {
    await ask('joe', { name: 'joe', groups: [] }, client);
    await kubectl('create', 'clusterrole', 'approval', '--verb=get,update', '--resource=certificatesigningrequests,certificatesigningrequests/approval');
    await kubectl('create', 'clusterrolebinding', 'approval', '--clusterrole=approval', '--user=clerk');
    expect(await moor.kubectl('certificate', 'approve', 'joe', '--as=clerk')).toMatchObject({
      code: 1,
      stderr:
        'Error from server (Forbidden): certificatesigningrequests.certificates.k8s.io "joe" is forbidden: ' +
        'user not permitted to approve requests with signerName "kubernetes.io/kube-apiserver-client"\n',
    });
    expect(await kubectl('certificate', 'deny', 'joe')).toBe('certificatesigningrequest.certificates.k8s.io/joe denied\n');
    expect(await moor.kubectl('certificate', 'approve', 'joe')).toMatchObject({
      code: 1,
      stderr: 'error: certificate signing request "joe" is already Denied\n',
    });
    expect(await kubectl('get', 'csr', '--field-selector=spec.signerName=kubernetes.io/kube-apiserver-client', '-o', 'name')).toBe(
      'certificatesigningrequest.certificates.k8s.io/jane\ncertificatesigningrequest.certificates.k8s.io/joe\n',
    );
  });

  test('no certificate is issued for system:masters', async () => {
    const { asked } = await ask('root', { name: 'root', groups: ['system:masters'] }, client);
    expect(asked).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed') as string,
    });
  });
});
