import { chownSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { crc32 } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import { runMoor, startMoor, unprivilegedUser } from '../moor-process.ts';

const directories: string[] = [];
function directory(): string {
  const made = mkdtempSync(path.join(tmpdir(), 'mooring-up-'));
  directories.push(made);
  return made;
}
afterEach(() => {
  for (const each of directories.splice(0)) rmSync(each, { recursive: true, force: true });
});

describe('moor up', () => {
  test('prints its URL, writes a kubeconfig that only its owner can read, and stops cleanly on SIGTERM', async () => {
    await using moor = await startMoor();
    expect(moor.output()).toMatch(/Mooring is ready: https:\/\/127\.0\.0\.1:\d+/);
    expect(moor.output()).toContain(`export KUBECONFIG=${moor.kubeconfig}`);
    expect(statSync(moor.kubeconfig).mode & 0o777).toBe(0o600);
    expect(await moor.kubectl('get', 'namespaces', '-o', 'name')).toMatchObject({
      stdout: 'namespace/default\nnamespace/kube-node-lease\nnamespace/kube-public\nnamespace/kube-system\n',
    });
    expect(await moor.stop()).toBe(0);
  });

  test('stops on SIGINT during a watch', async () => {
    await using moor = await startMoor();
    const watching = moor.spawnKubectl('get', 'cm', '-A', '-w', '-o', 'name');
    await new Promise((resolve) => watching.stdout.once('data', resolve));
    expect(await moor.stop('SIGINT')).toBe(0);
    watching.kill();
  });

  test.each(['SIGTERM', 'SIGKILL'] as const)('continues after %s with the same data, the same certificates and newer revisions', async (signal) => {
    const dataDir = directory();
    const first = await startMoor({ dataDir });
    expect(await first.kubectl('create', 'configmap', 'kept', '--from-literal=a=1')).toMatchObject({ code: 0 });
    const before = await first.kubectl('get', 'cm', 'kept', '-o', 'jsonpath={.metadata.uid} {.metadata.resourceVersion}');
    const authority = readFileSync(path.join(dataDir, 'pki/ca.crt'), 'utf8');
    await first.stop(signal);
    await using second = await startMoor({ dataDir });
    expect((await second.kubectl('get', 'cm', 'kept', '-o', 'jsonpath={.metadata.uid} {.metadata.resourceVersion}')).stdout).toBe(before.stdout);
    await second.kubectl('create', 'configmap', 'later');
    const later = await second.kubectl('get', 'cm', 'later', '-o', 'jsonpath={.metadata.resourceVersion}');
    expect(Number(later.stdout)).toBeGreaterThan(Number(before.stdout.split(' ')[1]));
    expect(readFileSync(path.join(dataDir, 'pki/ca.crt'), 'utf8')).toBe(authority);
  });

  test('without root: nodes are hollow, and the ready screen says why', async () => {
    const dataDir = directory();
    const user = unprivilegedUser();
    if (user !== undefined) chownSync(dataDir, user, user);
    await using moor = await startMoor({ bare: false, dataDir, ...(user === undefined ? {} : { user }) });
    expect(moor.output()).toMatch(/^ {2}nodes {7}3 hollow, nothing runs on them:/m);
    // Where the test cannot change its uid, they are hollow by --runtime.
    const why = 'hollow      pods cannot run here: containers need root';
    expect(moor.output().includes(why)).toBe(user !== undefined);
    await expect.poll(() => moor.kubectl('get', 'nodes', '-o', 'name')).toMatchObject({ stdout: 'node/node-1\nnode/node-2\nnode/node-3\n' });
  });

  test('--store memory keeps nothing', async () => {
    const dataDir = directory();
    const first = await startMoor({ dataDir, args: ['--store', 'memory'] });
    await first.kubectl('create', 'configmap', 'gone');
    await first.stop();
    expect(readdirSync(dataDir)).not.toContain('store');
    await using second = await startMoor({ dataDir, args: ['--store', 'memory'] });
    expect((await second.kubectl('get', 'cm', 'gone')).stderr).toContain('not found');
  });

  test('a port in use is named, with the remedy', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => holder.once('listening', resolve));
    const { port } = holder.address() as { port: number };
    const result = await runMoor('up', '--listen', `127.0.0.1:${port}`, '--data-dir', directory());
    holder.close();
    expect(result).toMatchObject({ code: 1 });
    expect(result.stderr).toContain(`127.0.0.1:${port} is in use by another program`);
    expect(result.stderr).toContain('--listen');
  });

  test('a directory that another moor uses is not touched', async () => {
    await using first = await startMoor();
    const second = await runMoor('up', '--listen', '127.0.0.1:0', '--data-dir', first.dataDir);
    expect(second).toMatchObject({ code: 1 });
    expect(second.stderr).toContain(`${first.dataDir} is in use by another moor`);
    expect(await first.kubectl('get', '--raw', '/readyz')).toMatchObject({ code: 0, stdout: 'ok' });
  });

  test('data of a newer version, and damaged data, are not changed', async () => {
    const dataDir = directory();
    await (await startMoor({ dataDir })).stop();
    const log = path.join(dataDir, 'store', readdirSync(path.join(dataDir, 'store')).find((name) => name.startsWith('log-')) ?? '');
    const good = readFileSync(log);
    const damaged = Buffer.from(good);
    damaged.writeUInt8(damaged.readUInt8(good.length >> 1) ^ 0x55, good.length >> 1);
    // A header of the next format: its number, and the checksum over the header.
    const newer = Buffer.from(good);
    newer.writeUInt32LE(3, 8);
    newer.writeUInt32LE(crc32(newer.subarray(0, 28)), 28);
    for (const [bytes, message, code] of [
      [damaged, 'is damaged and was not changed', 3],
      [newer, 'was written by a newer version of Mooring', 1],
    ] as const) {
      writeFileSync(log, bytes);
      const refused = await runMoor('up', '--listen', '127.0.0.1:0', '--data-dir', dataDir);
      expect(refused).toMatchObject({ code });
      expect(refused.stderr).toContain(`the data in ${dataDir} ${message}`);
      expect(readFileSync(log)).toEqual(bytes);
    }
    writeFileSync(log, good);
    await using again = await startMoor({ dataDir });
    expect(await again.kubectl('get', '--raw', '/readyz')).toMatchObject({ stdout: 'ok' });
  });

  test('a kubeconfig with other entries is changed only with --merge-kubeconfig', async () => {
    const dataDir = directory();
    const shared = path.join(dataDir, 'config');
    const text =
      'apiVersion: v1\nkind: Config\nclusters: []\nusers: []\ncontexts:\n- name: work\n  context: {cluster: work, user: me}\ncurrent-context: work\n';
    writeFileSync(shared, text);
    const refused = await runMoor('up', '--listen', '127.0.0.1:0', '--data-dir', dataDir, '--kubeconfig', shared);
    expect(refused).toMatchObject({ code: 1 });
    expect(refused.stderr).toContain(`${shared} exists and holds more than Mooring's own entries`);
    expect(readFileSync(shared, 'utf8')).toBe(text);
    await using moor = await startMoor({ dataDir, args: ['--kubeconfig', shared, '--merge-kubeconfig'] });
    expect((await moor.kubectl('--kubeconfig', shared, 'config', 'get-contexts', '-o', 'name')).stdout.split('\n').sort()).toEqual(['', 'mooring', 'work']);
    expect((await moor.kubectl('--kubeconfig', shared, 'get', 'namespace', 'default', '-o', 'name')).stdout).toBe('namespace/default\n');
    await moor.stop();
    expect(await runMoor('delete', '--data-dir', dataDir, '--yes')).toMatchObject({ code: 0 });
    expect(readFileSync(shared, 'utf8')).not.toContain('mooring');
    expect(readFileSync(shared, 'utf8')).toContain('name: work');
  });

  test.each([
    [['up', '--store', 'paper'], '--store must be one of embedded, etcd, memory, not "paper"'],
    [['up', '--listen', 'nowhere'], '--listen must be HOST:PORT'],
    [['up', '--data-dirr', 'x'], 'did you mean --data-dir?'],
  ])('rejects %j', async (args, message) => {
    const result = await runMoor(...args);
    expect(result.code).toBe(2);
    expect(result.stderr).toContain(message);
  });

  test('help and version', async () => {
    expect((await runMoor('--help')).stdout).toContain('moor up');
    expect((await runMoor('up', '--help')).stdout).toContain('--merge-kubeconfig');
    expect((await runMoor('version')).stdout).toMatch(/^moor \d+\.\d+\.\d+ \(Kubernetes 1\.36/);
  });
});
