/** The kubelet API of a remote node: authentication, the API server's proxy, and certificates that are rotated. */
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect as connectPlain } from 'node:net';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { connect as connectTls } from 'node:tls';
import { createGunzip, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Pod, SelfSubjectReview } from '../../src/api/generated/types.ts';
import { endpointsKind } from '../../src/api/kinds/core/endpoints.ts';
import { nodeKind } from '../../src/api/kinds/core/node.ts';
import { serviceKind } from '../../src/api/kinds/core/service.ts';
import { reviewKinds } from '../../src/api/kinds/authorization/reviews.ts';
import { podKind } from '../../src/api/kinds/pod/pod.ts';
import { type Cluster, startCluster } from '../../src/cluster/cluster.ts';
import { type OpenEndpoint, openEndpoint } from '../../src/cluster/nodes/node-endpoint.ts';
import { NodeIdentity } from '../../src/cluster/nodes/node-identity.ts';
import { createRealWorld } from '../../src/host/world.ts';
import { secretFiles } from '../../src/host/secret-files.ts';
import { type Client, createClient } from '../../src/client/client.ts';
import { type HttpAccess, HttpTransport } from '../../src/client/http-transport.ts';
import { loadKubeconfig } from '../../src/client/http-transport-kubeconfig.ts';
import { issueCertificate } from '../../src/apiserver/certificates/issue-certificates.ts';
import type { PodStreams } from '../../src/streams/contract.ts';

const pod = (status: object = {}) => ({
  metadata: { name: 'web', namespace: 'default' },
  spec: { nodeName: 'far', containers: [{ name: 'c', image: 'i' }] },
  status,
});

/** A page with a link; '/page.gz' is compressed. */
function answerPage(asked: string, answer: ServerResponse): void {
  const page = Buffer.from('<a href="/there">there</a>');
  const encoding = asked.endsWith('.gz') ? { 'content-encoding': 'gzip' } : {};
  answer.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'access-control-allow-origin': '*', ...encoding });
  answer.end(asked.endsWith('.gz') ? gzipSync(page) : page);
}

/** The program of every pod, whatever its port. */
const program = {
  server: createServer((asked, answer) => {
    void text(asked).then((body) => {
      if (asked.url === '/switch') return void answer.socket?.end('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: other\r\n\r\n');
      if (asked.url === '/moved') return void answer.writeHead(302, { location: '/page' }).end();
      if (asked.url?.startsWith('/page') === true) return answerPage(asked.url, answer);
      const { authorization, 'x-forwarded-uri': forwarded, 'x-own': own } = asked.headers;
      answer.writeHead(asked.url?.startsWith('/teapot') === true ? 418 : 200, { 'x-program': 'yes' });
      answer.end(JSON.stringify({ method: asked.method, url: asked.url, host: asked.headers.host, authorization, forwarded, own, body }));
    });
  }).listen(0, '127.0.0.1'),
  port: (): number => (program.server.address() as AddressInfo).port,
};

/** Answers with the request. */
const streams: PodStreams = {
  logs: (_, container, { tailLines }) => Promise.resolve({ ok: true, value: Readable.from([Buffer.from(`the last ${tailLines} lines of ${container}\n`)]) }),
  exec: () => Promise.resolve({ ok: false, code: 500, message: 'container not found ("c")' }),
  attach: () => Promise.resolve({ ok: false, code: 500, message: 'nothing to attach to' }),
  portForward: () =>
    Promise.resolve({ ok: true, value: { connect: () => Promise.resolve({ ok: true, value: connectPlain(program.port()) }), close: () => undefined } }),
  proxy: ({ path: asked, query }) =>
    Promise.resolve({ code: asked === '/healthz' ? 200 : 404, contentType: 'text/plain', body: Readable.from([Buffer.from(`page ${asked} ${query}`)]) }),
};

interface Answered {
  readonly code: number;
  readonly body: string;
}

interface Asked extends HttpAccess {
  readonly path: string;
  readonly headers?: Record<string, string>;
}

const ask = async (asked: Asked, body?: Buffer): Promise<Answered> => {
  const answer = await send(asked, body);
  return { code: answer.statusCode ?? 0, body: await text(answer) };
};

function send(access: Asked & { readonly method?: string }, body?: Buffer): Promise<IncomingMessage> {
  const { url, path: asked, ca, cert, key, token, headers = {} } = access;
  return new Promise((resolve, reject) => {
    const sent = request(
      new URL(asked, url),
      {
        agent: false,
        ca,
        cert,
        key,
        method: access.method ?? (body === undefined ? 'GET' : 'POST'),
        headers: { ...headers, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
      },
      resolve,
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

describe('the kubelet API of a node', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'moor-endpoint-'));
  const world = createRealWorld({ logLevel: 'silent' });
  let cluster: Cluster;
  let admin: HttpAccess;
  let bootstrap: HttpAccess;
  let adminTransport: HttpTransport;
  let adminClient: Client;
  let endpoint: OpenEndpoint;
  let node: NodeIdentity;
  let stop: () => Promise<void>;
  /** How often the next certificates are due at once. */
  const early = { client: 1, serving: 1 };
  const renewAt = (use: keyof typeof early) => () => (early[use]-- > 0 ? 0 : 0.9);
  const files = secretFiles(path.join(directory, 'node'));
  const direct = (): string => `https://127.0.0.1:${endpoint.port}`;

  beforeAll(async () => {
    const bootstrapKubeconfig = path.join(directory, 'bootstrap');
    cluster = await startCluster({ bare: true, dataDir: path.join(directory, 'server'), bootstrapKubeconfig });
    [admin, bootstrap] = [loadKubeconfig(cluster.kubeconfig), loadKubeconfig(bootstrapKubeconfig)];
    adminTransport = new HttpTransport({ access: admin, world, userAgent: 'test' });
    adminClient = createClient({ transport: adminTransport });
    node = await NodeIdentity.open({ access: bootstrap, node: 'far', files, world, userAgent: 'test', expirationSeconds: 600, renewAt: renewAt('client') });
    const opened = await openEndpoint({ access: bootstrap, listen: { host: '127.0.0.1', port: 0 }, world });
    if (opened === undefined) throw new Error('there is no endpoint');
    endpoint = opened;
    const agent = { client: createClient({ transport: node }), pods: (): readonly Pod[] => [{ apiVersion: 'v1', kind: 'Pod', ...pod() } as Pod] };
    const host = { name: 'far', ip: '127.0.0.1' };
    stop = await endpoint.serve({ agent, streams, host, own: node, files, expirationSeconds: 600, renewAt: renewAt('serving') });
    const status = { addresses: [{ type: 'InternalIP', address: '127.0.0.1' }], daemonEndpoints: { kubeletEndpoint: { Port: endpoint.port } } };
    expect(await agent.client.create(nodeKind, { metadata: { name: 'far' }, status })).toMatchObject({ ok: true });
    await adminClient.create(podKind, pod());
    // From then on it has a certificate.
    const isServing = async () => (await viaServer('/api/v1/nodes/far/proxy/healthz?a=b')).body === 'page /healthz a=b';
    await vi.waitUntil(isServing, { timeout: 60_000 });
  });
  afterAll(async () => {
    await stop();
    node.close();
    adminTransport.close();
    await cluster.stop();
    program.server.close();
    rmSync(directory, { recursive: true, force: true });
  });

  const viaServer = (asked: string): Promise<Answered> => ask({ ...admin, path: asked });

  test('serves logs and pages to the API server, which passes on its errors', async () => {
    expect(await viaServer('/api/v1/namespaces/default/pods/web/log?tailLines=3')).toEqual({ code: 200, body: 'the last 3 lines of c\n' });
    expect(await viaServer('/api/v1/nodes/far/proxy/nothing')).toEqual({ code: 404, body: 'page /nothing ' });
    expect(await viaServer('/api/v1/nodes/far/proxy')).toMatchObject({ code: 301 });
    expect(await viaServer('/api/v1/nodes/missing/proxy/healthz')).toMatchObject({ code: 404, body: expect.stringContaining('nodes \\"missing\\" not found') });
    const headers = { connection: 'Upgrade', upgrade: 'SPDY/3.1', 'x-stream-protocol-version': 'v4.channel.k8s.io' };
    const refused = await ask({ ...admin, path: '/api/v1/namespaces/default/pods/web/exec?command=true', headers }, Buffer.alloc(0));
    expect(refused).toEqual({ code: 500, body: 'container not found ("c")' });
  });

  test('links of pages that a pod serves lead through the API server again', async () => {
    const proxy = '/api/v1/namespaces/default/pods/web/proxy';
    const page = `<a href="${proxy}/there">there</a>`;
    const plain = await send({ ...admin, path: `${proxy}/page` });
    expect(plain.headers).not.toHaveProperty('access-control-allow-origin');
    expect(await text(plain)).toBe(page);
    expect(await text((await send({ ...admin, path: `${proxy}/page.gz` })).pipe(createGunzip()))).toBe(page);
    const moved = await send({ ...admin, path: `${proxy}/moved` });
    expect([moved.statusCode, moved.headers.location]).toEqual([302, `${proxy}/page`]);
    const head = await send({ ...admin, path: `${proxy}?a=b`, method: 'HEAD' });
    expect([head.statusCode, head.headers.location]).toEqual([301, `${proxy}/?a=b`]);
  });

  test('the API server passes requests on to a port of a pod, and of a Service', async () => {
    const pods = '/api/v1/namespaces/default/pods';
    const services = '/api/v1/namespaces/default/services';
    const said = async (asked: string, headers: Record<string, string> = {}, body?: Buffer): Promise<unknown> => {
      const answer = await ask({ ...admin, path: asked, headers }, body);
      return { code: answer.code, ...(JSON.parse(answer.body) as object) };
    };
    expect(await said(`${pods}/web:8080/proxy/a/b?c=d`, { 'x-own': 'kept', 'impersonate-user': 'admin', 'impersonate-group': 'system:masters' })).toEqual({
      code: 200,
      method: 'GET',
      url: '/a/b?c=d',
      host: 'web:8080',
      forwarded: `${pods}/web:8080/proxy/a/b`,
      own: 'kept',
      body: '',
    });
    expect(await said(`${pods}/web/proxy/teapot`, {}, Buffer.from('tea'))).toMatchObject({ code: 418, method: 'POST', host: 'web:80', body: 'tea' });
    expect(await viaServer(`${pods}/web/proxy`)).toMatchObject({ code: 301 });
    const unanswered = 'error trying to reach service: the connection ended without an answer';
    expect(await said(`${pods}/web/proxy/switch`)).toMatchObject({ code: 503, message: unanswered });
    expect(await said(`${pods}/web:no/proxy/`)).toMatchObject({ code: 400, message: 'invalid port "no" of a pod: it is a number from 1 to 65535' });
    expect(await said(`${pods}/a:b:c:d/proxy/`)).toMatchObject({ code: 400, message: 'invalid pod request "a:b:c:d"' });
    expect(await said(`${pods}/none/proxy/`)).toMatchObject({ code: 404 });

    const ports = [{ name: 'http', port: 80, targetPort: 8080 }];
    expect(await adminClient.create(serviceKind, { metadata: { name: 'web', namespace: 'default' }, spec: { ports } })).toMatchObject({ ok: true });
    expect(await said(`${services}/web/proxy/`)).toMatchObject({ code: 503, message: 'no endpoints available for service "web"' });
    const addresses = [{ ip: '10.0.0.1', targetRef: { kind: 'Pod', name: 'web', namespace: 'default' } }];
    const subsets = [{ addresses, ports: [{ name: 'http', port: 8080 }] }];
    expect(await adminClient.create(endpointsKind, { metadata: { name: 'web', namespace: 'default' }, subsets })).toMatchObject({ ok: true });
    for (const name of ['web', 'web:80', 'http:web:http', 'web:http']) {
      expect(await said(`${services}/${name}/proxy/x`)).toMatchObject({ code: 200, url: '/x', host: 'web:8080' });
    }
    expect(await said(`${services}/web:81/proxy/`)).toMatchObject({ code: 503, message: 'no service port "81" found for service "web"' });
  });

  test('that does not listen: the API server reports it as Kubernetes does (v1.36.4)', async () => {
    // Nothing listens on port 1.
    const status = { addresses: [{ type: 'InternalIP', address: '127.0.0.1' }], daemonEndpoints: { kubeletEndpoint: { Port: 1 } } };
    expect(await adminClient.create(nodeKind, { metadata: { name: 'dead' }, status })).toMatchObject({ ok: true });
    expect(
      await adminClient.create(podKind, { ...pod(), metadata: { name: 'lost', namespace: 'default' }, spec: { ...pod().spec, nodeName: 'dead' } }),
    ).toMatchObject({ ok: true });
    const log = JSON.parse((await viaServer('/api/v1/namespaces/default/pods/lost/log')).body) as object;
    const refused = 'dial tcp 127.0.0.1:1: connect: connection refused';
    const message = `Get "https://127.0.0.1:1/containerLogs/default/lost/c": ${refused}`;
    expect(log).toEqual({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, code: 500 });
    expect(await viaServer('/api/v1/nodes/dead/proxy/healthz')).toMatchObject({
      code: 503,
      body: expect.stringContaining(`error trying to reach service: ${refused}`),
    });
  });

  test('serves clients that the API server authenticates and authorizes, and no others', async () => {
    const ca = { url: direct(), ...(admin.ca === undefined ? {} : { ca: admin.ca }) };
    const stranger = await issueCertificate({ type: 'authority', commonName: 'other', notBefore: 0, notAfter: Date.parse('2099-01-01') });
    const forged = await issueCertificate({
      type: 'client',
      name: 'kubernetes-admin',
      groups: ['system:masters'],
      notBefore: 0,
      notAfter: Date.parse('2099-01-01'),
      authority: stranger,
    });
    expect(await ask({ ...ca, path: '/healthz' })).toEqual({ code: 401, body: 'Unauthorized' });
    expect(await ask({ ...ca, path: '/healthz', cert: forged.certificate, key: forged.key })).toEqual({ code: 401, body: 'Unauthorized' });
    expect(await ask({ ...ca, path: '/healthz', token: 'nonsense' })).toEqual({ code: 401, body: 'Unauthorized' });
    expect(await ask({ ...admin, url: direct(), path: '/healthz' })).toEqual({ code: 200, body: 'page /healthz ' });
    const { cert = '', key = '' } = bootstrap;
    const machine = bootstrap.token === undefined ? { cert, key } : { token: bootstrap.token };
    expect(await ask({ ...ca, ...machine, path: '/metrics' })).toEqual({
      code: 403,
      body: 'Forbidden (user=system:bootstrap:mooring, verb=get, resource=nodes, subresource(s)=[metrics])\n',
    });
  });

  test.each([
    ['/containerLogs/default/missing/c', 404, 'pod "missing" does not exist'],
    ['/containerLogs/default/web/x', 404, 'container "x" not found in pod "web"'],
    ['/containerLogs/default/web/c?tailLines=-1', 422, '{"message": "Invalid request."}'],
    ['/containerLogs/default/web/c?tailLines=x', 400, '{"message": "Unable to decode query."}'],
    ['/containerLogs/default', 404, '404 page not found\n'],
    ['/exec/default/web/c?command=true&output=1', 400, 'Upgrade request required'],
    ['/exec/default/web/c?command=true', 400, 'You must specify at least one of stdin, stdout, stderr'],
    ['/attach/default/missing/c?output=1', 404, 'pod does not exist'],
    ['/portForward/default/web/another-uid', 404, 'pod not found'],
  ])('answers %s as a kubelet does', async (asked, code, body) => {
    expect(await ask({ ...admin, url: direct(), path: asked })).toEqual({ code, body });
  });

  test('survives large bodies, broken requests, and clients that send nothing', async () => {
    const large = Buffer.alloc(8 * 1024 * 1024);
    // The connection may be closed while the client still sends.
    const outcome = await ask({ ...admin, url: direct(), path: '/healthz' }, large).then(
      ({ code }) => code,
      () => 'cut off',
    );
    expect([200, 'cut off']).toContain(outcome);
    const silent = connectPlain(endpoint.port, '127.0.0.1');
    const broken = connectTls({ port: endpoint.port, host: '127.0.0.1', ca: admin.ca, servername: '' });
    broken.on('error', () => undefined);
    const closed = new Promise((resolve) => broken.on('close', resolve));
    broken.resume();
    broken.write('\u0000 nonsense\r\n\r\n');
    await closed;
    expect(await viaServer('/api/v1/nodes/far/proxy/healthz')).toMatchObject({ code: 200 });
    silent.destroy();
  });

  test('rotates its certificates while it serves', async () => {
    const whoAmI = async (): Promise<unknown> => {
      const review = await createClient({ transport: node }).createReview<SelfSubjectReview>(reviewKinds.selfSubject, {});
      return review.ok ? review.value.status.userInfo?.extra?.['authentication.kubernetes.io/credential-id'] : undefined;
    };
    const presented = (): Promise<string> =>
      new Promise((resolve, reject) => {
        const socket = connectTls({ port: endpoint.port, host: '127.0.0.1', ca: admin.ca, servername: '' }, () => {
          resolve(socket.getPeerCertificate().fingerprint256);
          socket.destroy();
        });
        socket.on('error', reject);
      });
    const requests = async (signer: string): Promise<number> => {
      const { body } = await viaServer('/apis/certificates.k8s.io/v1/certificatesigningrequests');
      return (JSON.parse(body) as { items: { spec: { signerName: string }; status: { certificate?: string } }[] }).items.filter(
        ({ spec, status }) => spec.signerName === signer && status.certificate !== undefined,
      ).length;
    };
    await expect.poll(() => requests('kubernetes.io/kube-apiserver-client-kubelet')).toBe(2);
    await expect.poll(() => requests('kubernetes.io/kubelet-serving')).toBe(2);
    const kept = async (file: string): Promise<string> => new X509Certificate((await files.read(file)) ?? '').fingerprint256;
    await expect.poll(async () => (await presented()) === (await kept('node-serving.pem'))).toBe(true);
    const idOf = (fingerprint: string) => [`X509SHA256=${fingerprint.replaceAll(':', '').toLowerCase()}`];
    await expect.poll(async () => JSON.stringify(await whoAmI()) === JSON.stringify(idOf(await kept('node-client.pem')))).toBe(true);
    expect(await viaServer('/api/v1/nodes/far/proxy/healthz')).toMatchObject({ code: 200 });
  });
});
