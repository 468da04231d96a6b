/** Webhooks over real HTTPS, and admission policies, with the real kubectl. The texts are those of v1.36.4. */
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { issueCertificate } from '../../src/apiserver/certificates/issue-certificates.ts';
import { type MoorProcess, startMoor } from '../moor-process.ts';

/** Decoded JSON, loosely typed. */
type Json = ReturnType<typeof JSON.parse>;

let moor: MoorProcess;
let hooks: Server;
let url = '';
let port = 0;
let caBundle = '';
const seen: Json[] = [];

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** By path, the answer to a request. */
const behaviours: Readonly<Record<string, (request: Json) => Json>> = {
  '/deny-red': ({ object }) => ({
    allowed: object.data?.color !== 'red',
    status: { message: 'no red, please', code: 403, reason: 'Forbidden' },
    warnings: ['colors are looked at'],
  }),
  '/label': ({ object }) => {
    const operations = [{ op: object.metadata.labels === undefined ? 'add' : 'test', path: '/metadata/labels', value: { hooked: 'yes' } }];
    return { allowed: true, patchType: 'JSONPatch', patch: base64(JSON.stringify(operations)) };
  },
  '/hang': () => undefined,
  '/flood': () => `"${'x'.repeat(7 * 1024 * 1024)}"`,
};

beforeAll(async () => {
  const [notBefore, notAfter] = [Date.now() - 60_000, Date.now() + 3_600_000];
  const authority = await issueCertificate({ type: 'authority', commonName: 'hooks', notBefore, notAfter });
  const serving = await issueCertificate({ type: 'server', commonName: 'hooks', hosts: ['127.0.0.1', 'hooks.default.svc'], authority, notBefore, notAfter });
  hooks = createServer({ key: serving.key, cert: serving.certificate }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const review: Json = JSON.parse(Buffer.concat(chunks).toString());
      seen.push(review.request);
      const made = behaviours[new URL(request.url ?? '', url).pathname]?.(review.request);
      if (made === undefined) return;
      response.setHeader('content-type', 'application/json');
      response.end(typeof made === 'string' ? made : JSON.stringify({ ...review, request: undefined, response: { uid: review.request.uid, ...made } }));
    });
  });
  await new Promise<void>((resolve) => void hooks.listen(0, '127.0.0.1', resolve));
  ({ port } = hooks.address() as AddressInfo);
  url = `https://127.0.0.1:${port}`;
  caBundle = base64(authority.certificate);
  moor = await startMoor({ args: ['--store', 'memory'] });
});

afterAll(async () => {
  hooks.closeAllConnections();
  hooks.close();
  await moor[Symbol.asyncDispose]();
});

const apply = async (object: object): Promise<void> => {
  const result = await moor.kubectlWith(JSON.stringify(object), 'apply', '-f', '-');
  expect(result).toMatchObject({ code: 0 });
};

const configuration = (kind: string, name: string, clientConfig: object, more: object = {}) => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind,
  metadata: { name },
  webhooks: [
    {
      name: `${name}.example.com`,
      clientConfig,
      rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['configmaps'] }],
      objectSelector: { matchExpressions: [{ key: 'spared', operator: 'DoesNotExist' }] },
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'default' } },
      sideEffects: 'None',
      admissionReviewVersions: ['v1', 'v1beta1'],
      timeoutSeconds: 30,
      ...more,
    },
  ],
});

const createMap = (name: string, ...args: string[]) => moor.kubectl('create', 'configmap', name, ...args);
const forget = (kind: string, name: string) => moor.kubectl('delete', kind, name, '--wait=false');

describe('webhooks', () => {
  test('deny, warn, and are listed', async () => {
    await apply(configuration('ValidatingWebhookConfiguration', 'colors', { url: `${url}/deny-red`, caBundle }));
    expect(await createMap('blue', '--from-literal=color=blue')).toMatchObject({ code: 0, stderr: 'Warning: colors are looked at\n' });
    expect(await createMap('red', '--from-literal=color=red')).toMatchObject({
      code: 1,
      stderr: 'Warning: colors are looked at\nerror: failed to create configmap: admission webhook "colors.example.com" denied the request: no red, please\n',
    });
    const edited = await moor.kubectl('patch', 'configmap', 'blue', '-p', '{"data":{"color":"red"}}');
    expect(edited).toMatchObject({ code: 1, stderr: expect.stringContaining('Error from server (Forbidden): admission webhook "colors.example.com" denied') });
    expect((await moor.kubectl('get', 'validatingwebhookconfigurations')).stdout).toMatch(/^NAME +WEBHOOKS +AGE\ncolors +1 +\d+\S*s\n$/);
    await forget('validatingwebhookconfiguration', 'colors');
  });

  test('mutate the stored object, and are told of a dry run', async () => {
    await apply(configuration('MutatingWebhookConfiguration', 'labels', { url: `${url}/label`, caBundle }));
    expect(await createMap('labelled')).toMatchObject({ code: 0 });
    expect((await moor.kubectl('get', 'configmap', 'labelled', '-o', 'jsonpath={.metadata.labels}')).stdout).toBe('{"hooked":"yes"}');
    const dry = await createMap('dry', '--dry-run=server', '-o', 'jsonpath={.metadata.labels.hooked}');
    expect(dry).toMatchObject({ code: 0, stdout: 'yes' });
    expect(seen.at(-1)).toMatchObject({ dryRun: true, name: 'dry' });
    expect(await moor.kubectl('get', 'configmap', 'dry')).toMatchObject({ code: 1 });
    await forget('mutatingwebhookconfiguration', 'labels');
  });

  test('are reached through a Service, by the DNS name of their certificate', async () => {
    expect(await moor.kubectl('create', 'service', 'externalname', 'hooks', '--external-name=127.0.0.1.nip.invalid')).toMatchObject({ code: 0 });
    await moor.kubectl('patch', 'service', 'hooks', '-p', '{"spec":{"externalName":"localhost"}}');
    await apply(
      configuration('ValidatingWebhookConfiguration', 'service', { service: { namespace: 'default', name: 'hooks', path: '/deny-red', port }, caBundle }),
    );
    expect(await createMap('crimson', '--from-literal=color=red')).toMatchObject({ code: 1, stderr: expect.stringContaining('no red, please') });
    await forget('validatingwebhookconfiguration', 'service');
  });

  test('fail the request if they are not trusted, unreachable, too slow or send garbage', async () => {
    const failure = async (clientConfig: object, more: object = {}): Promise<string> => {
      await apply(configuration('ValidatingWebhookConfiguration', 'failing', clientConfig, more));
      const { stderr } = await createMap('failing');
      await forget('validatingwebhookconfiguration', 'failing');
      return stderr.replace(
        'error: failed to create configmap: Internal error occurred: failed calling webhook "failing.example.com": failed to call webhook: ',
        '',
      );
    };
    const post = (path: string, seconds = 30) => `Post "${url}${path}?timeout=${seconds}s": `;
    expect(await failure({ url: `${url}/deny-red` })).toBe(
      `${post('/deny-red')}tls: failed to verify certificate: x509: certificate signed by unknown authority\n`,
    );
    expect(await failure({ url: `https://127.0.0.1:1/x`, caBundle })).toBe(
      'Post "https://127.0.0.1:1/x?timeout=30s": dial tcp 127.0.0.1:1: connect: connection refused\n',
    );
    expect(await failure({ url: `https://localhost:${port}/deny-red`, caBundle })).toContain(
      'x509: certificate is valid for 127.0.0.1, hooks.default.svc, not localhost',
    );
    expect(await failure({ url: `${url}/hang`, caBundle }, { timeoutSeconds: 1 })).toBe(`${post('/hang', 1)}context deadline exceeded\n`);
    expect(await failure({ url: `${url}/flood`, caBundle })).toContain('unexpected error when reading response body');
    await apply(configuration('ValidatingWebhookConfiguration', 'open', { url: 'https://127.0.0.1:1/x', caBundle }, { failurePolicy: 'Ignore' }));
    expect(await createMap('open')).toMatchObject({ code: 0 });
    await forget('validatingwebhookconfiguration', 'open');
  });

  test('of a Helm chart for its own kinds, which get their certificates later', async () => {
    const chart = {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: 'cert-manager-webhook', annotations: { 'cert-manager.io/inject-ca-from-secret': 'cert-manager/cert-manager-webhook-ca' } },
      webhooks: [
        {
          name: 'webhook.cert-manager.io',
          namespaceSelector: { matchExpressions: [{ key: 'cert-manager.io/disable-validation', operator: 'NotIn', values: ['true'] }] },
          rules: [{ apiGroups: ['cert-manager.io', 'acme.cert-manager.io'], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['*/*'] }],
          admissionReviewVersions: ['v1'],
          matchPolicy: 'Equivalent',
          timeoutSeconds: 30,
          failurePolicy: 'Fail',
          sideEffects: 'None',
          clientConfig: { service: { name: 'cert-manager-webhook', namespace: 'cert-manager', path: '/validate' } },
        },
      ],
    };
    await apply(chart);
    await apply(chart);
    const injected = `[{"op":"add","path":"/webhooks/0/clientConfig/caBundle","value":"${caBundle}"}]`;
    expect(await moor.kubectl('patch', 'validatingwebhookconfiguration', 'cert-manager-webhook', '--type=json', '-p', injected)).toMatchObject({ code: 0 });
    const kept = await moor.kubectl(
      'get',
      'validatingwebhookconfiguration',
      'cert-manager-webhook',
      '-o',
      'jsonpath={.metadata.generation} {.webhooks[0].clientConfig.service.port}',
    );
    expect(kept.stdout).toBe('2 443');
    expect(await createMap('unrelated')).toMatchObject({ code: 0 });
  });
});

describe('policies', () => {
  const policy = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: 'classes.example.com' },
    spec: {
      matchConstraints: {
        resourceRules: [{ apiGroups: ['storage.k8s.io'], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['storageclasses'] }],
      },
      variables: [{ name: 'retained', expression: "object.reclaimPolicy == 'Retain'" }],
      validations: [{ expression: 'variables.retained', messageExpression: "'class ' + object.metadata.name + ' would lose data'", reason: 'Forbidden' }],
    },
  };
  const binding = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name: 'classes' },
    spec: { policyName: 'classes.example.com', validationActions: ['Deny'] },
  };
  const storageClass = (name: string, reclaimPolicy: string) =>
    JSON.stringify({ apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata: { name }, provisioner: 'example.com/x', reclaimPolicy });

  test('deny with their own message, and are listed', async () => {
    await apply(policy);
    await apply(binding);
    expect(await moor.kubectlWith(storageClass('fast', 'Delete'), 'apply', '-f', '-')).toMatchObject({
      code: 1,
      stderr:
        'Error from server (Forbidden): error when creating "STDIN": storageclasses.storage.k8s.io "fast" is forbidden: ' +
        "ValidatingAdmissionPolicy 'classes.example.com' with binding 'classes' denied request: class fast would lose data\n",
    });
    expect(await moor.kubectlWith(storageClass('safe', 'Retain'), 'apply', '-f', '-')).toMatchObject({ code: 0 });
    expect((await moor.kubectl('get', 'validatingadmissionpolicies,validatingadmissionpolicybindings')).stdout).toMatch(
      /VALIDATIONS +PARAMKIND +AGE\n\S+classes.example.com +1 +<unset> +\d+\S*s\n\n.*POLICYNAME +PARAMREF +AGE\n\S+classes +classes.example.com +<unset> +\d+\S*s\n/,
    );
  });

  test('with an invalid expression are rejected', async () => {
    const broken = { ...policy, metadata: { name: 'broken' }, spec: { ...policy.spec, variables: [], validations: [{ expression: 'nothing.known' }] } };
    const { stderr } = await moor.kubectlWith(JSON.stringify(broken), 'apply', '-f', '-');
    expect(stderr).toContain('The ValidatingAdmissionPolicy "broken" is invalid: spec.validations[0].expression: Invalid value: "nothing.known": ');
    expect(stderr).toContain("compilation failed: ERROR: <input>:1:1: undeclared reference to 'nothing' (in container '')");
  });
});
