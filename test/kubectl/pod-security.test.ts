/** PodSecurity with the real kubectl: what users see of it, the audit log, and the file with defaults and exemptions. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type MoorProcess, startMoor } from '../moor-process.ts';

let moor: MoorProcess;
let files = '';

const configuration = {
  apiVersion: 'apiserver.config.k8s.io/v1',
  kind: 'AdmissionConfiguration',
  plugins: [
    {
      name: 'PodSecurity',
      configuration: {
        apiVersion: 'pod-security.admission.config.k8s.io/v1',
        kind: 'PodSecurityConfiguration',
        defaults: { audit: 'baseline' },
        exemptions: { namespaces: ['free'] },
      },
    },
  ],
};

beforeAll(async () => {
  files = mkdtempSync(path.join(tmpdir(), 'mooring-pod-security-'));
  writeFileSync(path.join(files, 'admission.yaml'), JSON.stringify(configuration));
  writeFileSync(
    path.join(files, 'audit.yaml'),
    'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata, resources: [{group: "", resources: [pods]}]}]\n',
  );
  const audit = ['--audit-policy-file', path.join(files, 'audit.yaml'), '--audit-log-path', path.join(files, 'audit.log')];
  moor = await startMoor({ args: ['--store', 'memory', '--admission-control-config-file', path.join(files, 'admission.yaml'), ...audit] });
  for (const namespace of ['strict', 'free']) await moor.kubectl('create', 'namespace', namespace);
});

afterAll(async () => {
  await moor[Symbol.asyncDispose]();
  rmSync(files, { recursive: true, force: true });
});

const label = (...labels: string[]) =>
  moor.kubectl('label', '--overwrite', 'namespace', 'strict', ...labels.map((text) => `pod-security.kubernetes.io/${text}`));
const privilegedPod = (namespace: string, name: string) =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace },
    spec: { containers: [{ name: 'app', image: 'pause', securityContext: { privileged: true } }] },
  });
const apply = (object: string) => moor.kubectlWith(object, 'apply', '-f', '-');

const details = 'privileged (container "app" must not set securityContext.privileged=true)';

/** The annotations of the audit event of a pod's creation. */
const annotationsOf = (name: string): Record<string, string> =>
  readFileSync(path.join(files, 'audit.log'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
    .findLast(({ verb, stage, objectRef }) => verb === 'create' && stage === 'ResponseComplete' && objectRef.name === name)?.annotations;

test('a pod that violates only the audited level is created, and noted in the audit log', async () => {
  expect(await apply(privilegedPod('strict', 'noted'))).toMatchObject({ code: 0, stderr: '' });
  await expect
    .poll(() => annotationsOf('noted'))
    .toMatchObject({
      'pod-security.kubernetes.io/enforce-policy': 'privileged:latest',
      'pod-security.kubernetes.io/audit-violations': `would violate PodSecurity "baseline:latest": ${details}`,
    });
});

test('labels are checked, and show which pods violate them', async () => {
  expect((await label('enforce=tough')).stderr).toBe(
    'The Namespace "strict" is invalid: metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: "tough": must be one of privileged, baseline, restricted\n',
  );
  expect(await label('enforce=baseline', 'enforce-version=v1.36')).toEqual({
    code: 0,
    stdout: 'namespace/strict labeled\n',
    stderr: 'Warning: existing pods in namespace "strict" violate the new PodSecurity enforce level "baseline:v1.36"\nWarning: noted: privileged\n',
  });
});

test('a pod that violates the enforced level is refused; one of an exempt namespace is not', async () => {
  const refused = await apply(privilegedPod('strict', 'refused'));
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain(`pods "refused" is forbidden: violates PodSecurity "baseline:v1.36": ${details}`);
  await expect.poll(() => annotationsOf('refused')?.['pod-security.kubernetes.io/enforce-policy']).toBe('baseline:v1.36');
  expect(await apply(privilegedPod('free', 'spared'))).toMatchObject({ code: 0 });
  await expect.poll(() => annotationsOf('spared')).toMatchObject({ 'pod-security.kubernetes.io/exempt': 'namespace' });
  expect((await moor.kubectl('get', '--raw', '/metrics')).stdout).toMatch(/pod_security_exemptions_total\{[^}]*resource="pod"[^}]*\} [1-9]/);
});

test('a Deployment is warned of, and says why its pods are missing', async () => {
  await label('enforce=baseline', 'enforce-version=latest');
  const template = { metadata: { labels: { app: 'x' } }, spec: JSON.parse(privilegedPod('strict', 'x')).spec };
  const deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace: 'strict' },
    spec: { selector: { matchLabels: { app: 'x' } }, template },
  };
  expect(await apply(JSON.stringify(deployment))).toEqual({
    code: 0,
    stdout: 'deployment.apps/web created\n',
    stderr: `Warning: would violate PodSecurity "baseline:latest": ${details}\n`,
  });
  const failure = () => moor.kubectl('get', 'replicasets', '-n', 'strict', '-o', 'jsonpath={.items[0].status.conditions[0].message}');
  await expect
    .poll(async () => (await failure()).stdout, { timeout: 20_000 })
    .toMatch(/pods "web-[a-z0-9]+-[a-z0-9]+" is forbidden: violates PodSecurity "baseline:latest"/);
});
