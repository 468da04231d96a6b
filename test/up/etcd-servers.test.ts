/** Several `moor server` on one real etcd: all answer alike, and each may end. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { namespaceKind } from '../../src/api/kinds/core/namespace.ts';
import { resourceRequestInfo } from '../../src/api/request-info.ts';
import { HttpTransport } from '../../src/client/http-transport.ts';
import { loadKubeconfig } from '../../src/client/http-transport-kubeconfig.ts';
import { createRealWorld } from '../../src/host/world.ts';
import { kubectlOn, type ServerProcess, startServerProcess } from '../moor-process.ts';
import { etcdProgram, RealEtcd } from '../store/etcd/real-etcd.ts';

const patience = { timeout: 240_000, interval: 200 };

describe.runIf(etcdProgram !== undefined)('two moor server on one etcd', () => {
  const etcd = new RealEtcd(1);
  const folder = mkdtempSync(path.join(tmpdir(), 'mooring-servers-'));
  const servers: ServerProcess[] = [];
  const start = (name: string): Promise<ServerProcess> => startServerProcess(path.join(folder, name), ['--etcd-servers', etcd.servers.join(',')]);
  const on = (server: number, ...args: string[]) => {
    const asked = servers[server];
    if (asked === undefined) throw new Error('it does not run');
    return kubectlOn(asked, ...args);
  };
  const textOn = async (server: number, ...args: string[]): Promise<string> => (await on(server, ...args)).stdout;

  beforeAll(async () => {
    etcd.startAll();
    // At once, on an empty etcd: one of them creates the authority, the keys and the objects of the cluster.
    servers.push(...(await Promise.all([started('a'), started('b')])));
  });
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.stop()));
    await etcd.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** etcd needs a moment until it has a leader. */
  async function started(name: string): Promise<ServerProcess> {
    for (;;) {
      try {
        return await start(name);
      } catch (error) {
        if (!/etcd (does not answer|cannot be reached|did not take)/.test(String(error))) throw error;
      }
    }
  }

  test('a client, and a token, of one server is known to the other', async () => {
    // The kubeconfig of each names its own server, and both have the same authority.
    const [a, b] = servers;
    const crossed = ['--server', b?.url ?? ''];
    expect(await on(0, 'create', 'serviceaccount', 'robot')).toMatchObject({ code: 0 });
    const token = (await textOn(1, 'create', 'token', 'robot')).trim();
    expect(await textOn(0, ...crossed, 'auth', 'whoami', '--token', token, '-o', 'jsonpath={.status.userInfo.username}')).not.toBe('');
    const named = await on(0, ...crossed, 'auth', 'whoami', '-o', 'jsonpath={.status.userInfo.username}');
    expect([named.stdout, a?.url === b?.url]).toEqual(['kubernetes-admin', false]);
  });

  test('what one has written, the other reads at once, lists and counts', async () => {
    for (let i = 0; i < 5; i++) {
      expect(await on(i % 2, 'create', 'configmap', `seen-${i}`)).toMatchObject({ code: 0 });
      expect(await textOn((i + 1) % 2, 'get', 'configmap', `seen-${i}`, '-o', 'name')).toBe(`configmap/seen-${i}\n`);
      expect(await textOn((i + 1) % 2, 'get', 'configmaps', '-o', 'name')).toContain(`configmap/seen-${i}\n`);
    }
    expect(await on(0, 'create', 'quota', 'three', '--hard=secrets=3')).toMatchObject({ code: 0 });
    const created = await Promise.all(Array.from({ length: 8 }, (_, i) => on(i % 2, 'create', 'secret', 'generic', `s${i}`)));
    expect(created.filter(({ code }) => code === 0)).toHaveLength(3);
    const services = await Promise.all(
      Array.from({ length: 6 }, (_, i) => on(i % 2, 'create', 'service', 'nodeport', `n${i}`, '--tcp=80', '--node-port=30007')),
    );
    expect(services.filter(({ code }) => code === 0)).toHaveLength(1);
  });

  test('a definition, and a role, of one server holds on the other', async () => {
    const definition = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'boats.test.dev' },
      spec: {
        group: 'test.dev',
        scope: 'Namespaced',
        names: { kind: 'Boat', plural: 'boats' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: {
              openAPIV3Schema: {
                type: 'object',
                properties: { length: { type: 'integer' } },
                'x-kubernetes-validations': [{ rule: '!has(self.length) || self.length > 2', message: 'too short' }],
              },
            },
          },
        ],
      },
    };
    const boat = (name: string, length: number) => ({ apiVersion: 'test.dev/v1', kind: 'Boat', metadata: { name }, length });
    await applied(0, definition);
    await expect.poll(() => apply(1, boat('long', 3)), patience).toMatchObject({ code: 0 });
    expect(await apply(1, boat('short', 1))).toMatchObject({ code: 1, stderr: expect.stringContaining('too short') });
    await on(0, 'create', 'clusterrole', 'sailor', '--verb=list', '--resource=boats.test.dev');
    await on(0, 'create', 'clusterrolebinding', 'sailors', '--clusterrole=sailor', '--user=jane');
    await expect.poll(async () => (await on(1, 'auth', 'can-i', 'list', 'boats.test.dev', '--as=jane')).stdout.trim(), patience).toBe('yes');
  });

  test('a resourceVersion that no server has yet is waited for, and refused with a time to try again', async () => {
    const access = loadKubeconfig(servers[1]?.kubeconfig ?? '');
    const transport = new HttpTransport({ access, world: createRealWorld({ logLevel: 'silent' }), userAgent: 'test' });
    const query = new URLSearchParams({ resourceVersion: '999999999', resourceVersionMatch: 'NotOlderThan' });
    const answer = await transport.send({ info: resourceRequestInfo('list', namespaceKind, {}), query });
    transport.close();
    expect(answer).toMatchObject({ type: 'failed', error: { code: 504, details: { retryAfterSeconds: 1 } } });
    expect(answer).toHaveProperty('error.message', expect.stringContaining('Too large resource version: 999999999'));
  });

  test('the endpoints of the Service kubernetes are the servers that run; each has its Lease', async () => {
    const ports = async (server: number): Promise<readonly string[]> =>
      (await textOn(server, 'get', 'endpoints', 'kubernetes', '-o', 'jsonpath={.subsets[*].ports[*].port}')).split(' ').sort();
    const leases = async (server: number): Promise<number> =>
      (await textOn(server, 'get', 'leases', '-n', 'kube-system', '-l', 'apiserver.kubernetes.io/identity=kube-apiserver', '-o', 'name')).split('\n').length -
      1;
    const own = servers.map(({ url }) => new URL(url).port).sort();
    await expect.poll(() => ports(0), patience).toEqual(own);
    expect(await leases(1)).toBe(2);
    const [, second] = servers;
    expect(await second?.stop()).toBe(0);
    await expect.poll(() => ports(0), patience).toEqual([new URL(servers[0]?.url ?? '').port]);
    expect(await leases(0)).toBe(1);
  });

  const apply = (server: number, object: object) => on(server, 'apply', '-f', fileOf(object));
  async function applied(server: number, object: object): Promise<void> {
    expect(await apply(server, object)).toMatchObject({ code: 0 });
  }
  function fileOf(object: object): string {
    const file = path.join(folder, 'applied.json');
    writeFileSync(file, JSON.stringify(object));
    return file;
  }
});
