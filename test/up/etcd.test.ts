/** `moor up --store etcd` on a real etcd with TLS: a life without and with etcd, and what a wrong command line gets told. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { issueCertificate } from '../../src/apiserver/certificates/issue-certificates.ts';
import { type MoorProcess, runMoor, startMoor } from '../moor-process.ts';
import { etcdProgram, RealEtcd } from '../store/etcd/real-etcd.ts';

const validity = { notBefore: 0, notAfter: Date.parse('2099-01-01') };

describe.runIf(etcdProgram !== undefined)('moor up --store etcd', () => {
  const etcd = new RealEtcd(1);
  const folder = mkdtempSync(path.join(tmpdir(), 'mooring-etcd-up-'));
  const at = (name: string): string => path.join(folder, name);
  const flags = (...tls: string[]): string[] => ['--store', 'etcd', '--etcd-servers', etcd.servers.join(','), ...tls];
  const own = ['--etcd-cafile', at('ca.crt'), '--etcd-certfile', at('client.crt'), '--etcd-keyfile', at('client.key')];

  beforeAll(async () => {
    const authority = await issueCertificate({ type: 'authority', commonName: 'etcd', ...validity });
    const server = await issueCertificate({ type: 'server', commonName: 'etcd', hosts: etcd.addresses, authority, ...validity });
    const client = await issueCertificate({ type: 'client', name: 'moor', groups: [], authority, ...validity });
    const stranger = await issueCertificate({ type: 'authority', commonName: 'stranger', ...validity });
    const files = { 'ca.crt': authority.certificate, 'client.crt': client.certificate, 'client.key': client.key, 'stranger.crt': stranger.certificate };
    for (const [name, text] of Object.entries(files)) writeFileSync(at(name), text, { mode: 0o600 });
    etcd.useTls({ ca: authority.certificate, cert: server.certificate, key: server.key });
    etcd.startAll();
  });
  afterAll(async () => {
    await etcd.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test('objects are in etcd: the next start finds them, also on another machine, and a start without etcd is refused', async () => {
    const dataDir = at('data');
    {
      await using moor = await startWhenThere(() => startMoor({ dataDir, bare: false, args: flags(...own) }));
      expect(moor.output()).toContain('keys under /mooring');
      await applied(moor, 'kept');
    }
    {
      await using elsewhere = await startWhenThere(() => startMoor({ dataDir: at('elsewhere'), args: flags(...own) }));
      await isThere(elsewhere, 'kept');
    }
    await using again = await startWhenThere(() => startMoor({ dataDir, bare: false, args: flags(...own) }));
    await isThere(again, 'kept');

    // A server whose etcd is away says so, and goes on when it is back.
    await etcd.signal(0, 'SIGKILL');
    const refused = await again.kubectl('create', 'configmap', 'later', '--request-timeout=60s');
    expect(refused.code).not.toBe(0);
    const why = (...args: string[]) => runMoor('why', ...args, '--kubeconfig', again.kubeconfig);
    const waits = expect.stringMatching(/^Everything waits for the store of the API server: etcd does not answer/) as string;
    expect(await why()).toMatchObject({ code: 3, stdout: waits });
    expect(await why('pvc/data', '-o', 'json')).toMatchObject({ code: 3, stdout: expect.stringContaining('"code": "StoreNotAvailable"') as string });
    etcd.start(0);
    await isThere(again, 'kept');
    await applied(again, 'back');
    expect(await again.stop()).toBe(0);

    const embedded = await refusedStart('--data-dir', dataDir);
    expect(embedded).toMatchObject({ code: 1, stderr: expect.stringContaining('objects are in etcd: start it with --store etcd') });
    const elsewhere = await refusedStart('--data-dir', dataDir, '--etcd-prefix', '/elsewhere', ...flags(...own));
    expect(elsewhere).toMatchObject({ code: 1, stderr: expect.stringContaining('etcd has no data under /elsewhere/') });
  });

  test.each([
    ['an authority that did not sign', ['--etcd-cafile', at('stranger.crt'), ...own.slice(2)], "server's certificate is not accepted: --etcd-cafile"],
    ['no certificate of a client', own.slice(0, 2), 'etcd does not accept this client: --etcd-certfile and --etcd-keyfile'],
  ])('%s', async (_, tls, message) => {
    const refused = await refusedStart('--data-dir', at('wrong'), ...flags(...tls));
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining(message) });
  });

  test('clear text where etcd expects TLS', async () => {
    const clear = etcd.servers.map((server) => server.replace('https:', 'http:')).join(',');
    const refused = await refusedStart('--data-dir', at('clear'), '--store', 'etcd', '--etcd-servers', clear);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('The URL has to begin with https://') });
  });
});

/** On a machine that stands still, a call to etcd may take too long: the user tries again. */
const patience = { timeout: 240_000, interval: 500 };

async function applied(moor: MoorProcess, name: string): Promise<void> {
  const object = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });
  await expect.poll(() => moor.kubectlWith(object, 'apply', '-f', '-'), patience).toMatchObject({ code: 0 });
}

async function isThere(moor: MoorProcess, name: string): Promise<void> {
  await expect.poll(async () => (await moor.kubectl('get', 'configmap', name, '-o', 'name')).stdout, patience).toBe(`configmap/${name}\n`);
}

/** etcd needs a moment until it has a leader. */
async function startWhenThere<T>(start: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await start();
    } catch (error) {
      if (!/etcd (does not answer|cannot be reached|did not take)/.test(String(error))) throw error;
    }
  }
}

/** Again while the only answer is that the machine, or an election, took too long. */
async function refusedStart(...args: string[]): ReturnType<typeof runMoor> {
  for (;;) {
    const result = await runMoor('up', '--bare', '--listen', '127.0.0.1:0', ...args);
    if (!/DeadlineExceeded|no leader|request timed out|leader changed/.test(result.stderr)) return result;
  }
}
