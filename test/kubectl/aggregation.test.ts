/** An APIService whose requests another server answers, with the real kubectl. The texts are those of v1.36.4. */
import { Agent, createServer, request as httpsRequest, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { IncomingHttpHeaders } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { issueCertificate } from '../../src/apiserver/certificates/issue-certificates.ts';
import { type MoorProcess, startMoor } from '../moor-process.ts';

let moor: MoorProcess;
let extension: Server;
let port = 0;
let caBundle = '';
const seen: { readonly path: string; readonly headers: IncomingHttpHeaders; readonly client: string }[] = [];

const groupVersion = 'wardle.example.com/v1alpha1';
const flunder = { apiVersion: groupVersion, kind: 'Flunder', metadata: { name: 'one', namespace: 'default', creationTimestamp: '2026-01-01T00:00:00Z' } };
const documents: Readonly<Record<string, object>> = {
  [`/apis/${groupVersion}`]: {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion,
    resources: [
      { name: 'flunders', singularName: 'flunder', namespaced: true, kind: 'Flunder', verbs: ['get', 'list'], shortNames: ['fl'] },
      { name: 'flunders/status', singularName: '', namespaced: true, kind: 'Flunder', verbs: ['get'] },
    ],
  },
  [`/apis/${groupVersion}/namespaces/default/flunders`]: { kind: 'FlunderList', apiVersion: groupVersion, metadata: {}, items: [flunder] },
  [`/openapi/v3/apis/${groupVersion}`]: { openapi: '3.0.0', paths: { [`/apis/${groupVersion}/flunders`]: {} } },
  '/openapi/v2': {
    swagger: '2.0',
    paths: { [`/apis/${groupVersion}/flunders`]: {}, '/version/': {} },
    definitions: { 'com.example.Flunder': { type: 'object' } },
  },
};

beforeAll(async () => {
  const [notBefore, notAfter] = [Date.now() - 60_000, Date.now() + 3_600_000];
  const authority = await issueCertificate({ type: 'authority', commonName: 'extension', notBefore, notAfter });
  const serving = await issueCertificate({ type: 'server', commonName: 'x', hosts: ['extension.default.svc'], authority, notBefore, notAfter });
  extension = createServer({ key: serving.key, cert: serving.certificate, requestCert: true, rejectUnauthorized: false }, (request, response) => {
    const path = (request.url ?? '').split('?')[0] ?? '';
    seen.push({ path, headers: request.headers, client: String((request.socket as TLSSocket).getPeerCertificate().subject?.CN ?? '') });
    const found = documents[path];
    response.writeHead(found === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(found ?? { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 404, reason: 'NotFound', message: 'not here' }));
  });
  await new Promise<void>((resolve) => void extension.listen(0, 'localhost', resolve));
  ({ port } = extension.address() as AddressInfo);
  caBundle = Buffer.from(authority.certificate).toString('base64');
  moor = await startMoor({ args: ['--store', 'memory'] });
});

afterAll(async () => {
  extension.closeAllConnections();
  extension.close();
  await moor[Symbol.asyncDispose]();
});

const apply = async (object: object): Promise<void> => {
  expect(await moor.kubectlWith(JSON.stringify(object), 'apply', '-f', '-')).toMatchObject({ code: 0 });
};

const apiService = () => ({
  apiVersion: 'apiregistration.k8s.io/v1',
  kind: 'APIService',
  metadata: { name: 'v1alpha1.wardle.example.com' },
  spec: {
    group: 'wardle.example.com',
    version: 'v1alpha1',
    groupPriorityMinimum: 2000,
    versionPriority: 200,
    caBundle,
    service: { namespace: 'default', name: 'extension', port },
  },
});

const available = async (name: string): Promise<string> => {
  const { stdout } = await moor.kubectl('get', 'apiservice', name, '--no-headers');
  return stdout.trim().split(/ {2,}/).slice(1, 3).join(' ');
};

test('the groups of the server itself have Local APIServices, and those of definitions come and go', async () => {
  await expect.poll(() => available('v1.apps'), { timeout: 30_000 }).toBe('Local True');
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'boats.example.org' },
    spec: {
      group: 'example.org',
      scope: 'Namespaced',
      names: { plural: 'boats', kind: 'Boat' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
  };
  await apply(definition);
  await expect.poll(() => available('v1.example.org'), { timeout: 30_000 }).toBe('Local True');
  expect(await moor.kubectl('delete', 'crd', 'boats.example.org')).toMatchObject({ code: 0 });
  await expect.poll(() => available('v1.example.org'), { timeout: 30_000 }).toBe('');
});

test('an APIService says why its server is not available, and then passes requests on', async () => {
  await apply(apiService());
  await expect.poll(() => available('v1alpha1.wardle.example.com'), { timeout: 30_000 }).toBe('default/extension False (ServiceNotFound)');
  const refused = await moor.kubectl('get', '--raw', `/apis/${groupVersion}/namespaces/default/flunders`);
  expect(refused.stderr).toContain('the server is currently unable to handle the request');
  await apply({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'extension', namespace: 'default' },
    spec: { type: 'ExternalName', externalName: 'localhost' },
  });
  await expect.poll(() => available('v1alpha1.wardle.example.com'), { timeout: 30_000 }).toBe('default/extension True');
  expect((await moor.kubectl('get', 'flunders', '-o', 'name')).stdout).toBe('flunder.wardle.example.com/one\n');
  expect((await moor.kubectl('get', 'fl', '-o', 'name')).stdout).toBe('flunder.wardle.example.com/one\n');
  const { stdout } = await moor.kubectl('get', '--raw', '/apis/wardle.example.com');
  expect(JSON.parse(stdout)).toMatchObject({ name: 'wardle.example.com', preferredVersion: { groupVersion } });
});

/** The code of the answer. */
async function get(path: string, headers: Readonly<Record<string, string>>, agent: Agent | false = false): Promise<number> {
  const [{ cluster }] = JSON.parse((await moor.kubectl('config', 'view', '--raw', '-o', 'json')).stdout).clusters;
  const ca = Buffer.from(cluster['certificate-authority-data'], 'base64').toString();
  return new Promise((resolve, reject) => {
    const sent = httpsRequest(`${cluster.server}${path}`, { agent, ca, headers }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? 0));
    });
    sent.on('error', reject);
    sent.end();
  });
}

test('the server gets the user by the front proxy certificate, and no name that a client made up', async () => {
  const token = (await moor.kubectl('create', 'token', 'default')).stdout.trim();
  const path = `/apis/${groupVersion}/namespaces/default/flunders`;
  expect(await moor.kubectl('create', 'clusterrolebinding', 'all', '--clusterrole=cluster-admin', '--serviceaccount=default:default')).toMatchObject({
    code: 0,
  });
  const before = seen.length;
  expect(await get(path, { authorization: `Bearer ${token}`, 'x-remote-user': 'admin', 'x-remote-group': 'system:masters' })).toBe(200);
  const [asked] = seen.slice(before).filter((one) => one.path === path);
  expect(asked?.client).toBe('front-proxy-client');
  expect(asked?.headers).toMatchObject({
    'x-remote-user': 'system:serviceaccount:default:default',
    'x-remote-group': 'system:serviceaccounts, system:serviceaccounts:default, system:authenticated',
  });
  expect(asked?.headers.authorization).toBeUndefined();
});

test('the server gets the other headers of a client, and the path that was authorized', async () => {
  const token = (await moor.kubectl('create', 'token', 'default')).stdout.trim();
  const path = `/apis/${groupVersion}/namespaces/default/flunders`;
  const before = seen.length;
  const agent = new Agent({ keepAlive: true });
  const sent = { authorization: `Bearer ${token}`, accept: 'text/plain', constructor: 'a', 'x-remote-extra-a': 'b' };
  for (const each of [agent, false] as const) expect(await get(path, sent, each)).toBe(200);
  const asked = seen.slice(before).filter((one) => one.path === path);
  expect(asked.map(({ headers }) => [headers.accept, headers['constructor'], headers['x-remote-extra-a']])).toEqual([
    ['text/plain', 'a', undefined],
    ['text/plain', 'a', undefined],
  ]);
  expect(await get(`${path}/a%2Fstatus`, sent)).toBe(400);
  agent.destroy();
});

test('its OpenAPI is a part of the cluster’s', async () => {
  const raw = async (path: string) => JSON.parse((await moor.kubectl('get', '--raw', path)).stdout);
  expect(Object.keys((await raw('/openapi/v3')).paths)).toContain(`apis/${groupVersion}`);
  expect(await raw(`/openapi/v3/apis/${groupVersion}`)).toEqual(documents[`/openapi/v3/apis/${groupVersion}`]);
  const v2 = await raw('/openapi/v2');
  expect(v2.paths).toHaveProperty([`/apis/${groupVersion}/flunders`]);
  expect(v2.paths).not.toHaveProperty(['/version/']);
  expect(v2.definitions).toHaveProperty(['com.example.Flunder']);
});

test('without its APIService the group is gone', async () => {
  expect(await moor.kubectl('delete', 'apiservice', 'v1alpha1.wardle.example.com')).toMatchObject({ code: 0 });
  expect((await moor.kubectl('get', '--raw', `/apis/${groupVersion}`)).stderr).toContain('the server could not find the requested resource');
});
