/** Real repositories, from a real server, by the real git. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Pod } from '../../src/api/generated/types.ts';
import { describeNodeDriver } from '../../src/drivers/conformance.ts';
import { gitRepoNode } from '../../src/drivers/git-repo/node.ts';
import { realHostFiles } from '../../src/host/files.ts';
import { realMounts } from '../../src/host/mounts.ts';
import { realPrograms } from '../../src/host/programs.ts';
import { thisMachine } from './this-machine.ts';

let root = '';
let server: Server;
let base = '';
let first = '';

beforeAll(async () => {
  root = realpathSync(mkdtempSync(path.join(tmpdir(), 'moor-git-')));
  const work = path.join(root, 'work');
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', '-c', 'init.defaultBranch=main', ...args], {
      cwd: work,
      encoding: 'utf8',
      stdio: 'pipe',
    }).trim();
  mkdirSync(work);
  git('init', '-q');
  writeFileSync(path.join(work, 'file'), 'one');
  git('add', '.');
  git('commit', '-qm', 'one');
  first = git('rev-parse', 'HEAD');
  writeFileSync(path.join(work, 'file'), 'two');
  git('commit', '-qam', 'two');
  git('clone', '-q', '--bare', work, path.join(root, 'served', 'site.git'));
  execFileSync('git', ['update-server-info'], { cwd: path.join(root, 'served', 'site.git') });
  server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    readFile(path.join(root, 'served', path.normalize(pathname))).then(
      (bytes) => response.end(bytes),
      () => response.writeHead(404).end(),
    );
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(() => {
  server.close();
  rmSync(root, { recursive: true, force: true });
});

const clock = { now: () => 0, monotonic: () => 0 };
const pod = { metadata: { namespace: 'default', name: 'web', uid: 'uid' }, spec: { containers: [] } } as unknown as Pod;

describeNodeDriver('gitRepo', {
  machine: thisMachine().empty,
  make: async (host) => gitRepoNode({ ...host, clock }),
  volume: {
    source: {
      gitRepo: {
        get repository() {
          return `${base}/site.git`;
        },
      },
    },
  },
  // Without fsGroup: the suite would crash it once for each file of the repository.
  pod,
  data: undefined,
  content: 'as old as its pod',
  holds: ['site/file', 'two'],
  readOnly: 'container',
});

function publish(gitRepo: { readonly repository: string; readonly revision?: string; readonly directory?: string }) {
  const target = path.join(mkdtempSync(path.join(root, 'pod-')), 'volume');
  const driver = gitRepoNode({ mounts: realMounts(), files: realHostFiles, programs: realPrograms, clock });
  const plain = { persistentVolume: undefined, readOnly: false, mountOptions: [], mode: 'Filesystem' as const, publishContext: {} };
  const request = { volume: { name: 'site', source: { gitRepo }, ...plain }, pod, target, stagingPath: undefined, recordEvent: () => undefined };
  return { target, driver, answer: driver.nodePublishVolume(request) };
}

test('a repository is cloned, at its head or at a revision, into a subdirectory or into the volume itself', async () => {
  const newest = publish({ repository: `${base}/site.git` });
  expect(await newest.answer).toEqual({ ok: true, value: { path: newest.target } });
  expect(readFileSync(path.join(newest.target, 'site/file'), 'utf8')).toBe('two');
  const old = publish({ repository: `${base}/site.git`, revision: first, directory: '.' });
  expect(await old.answer).toMatchObject({ ok: true });
  expect(readFileSync(path.join(old.target, 'file'), 'utf8')).toBe('one');
  expect(await old.driver.nodeUnpublishVolume({ target: old.target, name: 'site', podUid: 'uid' })).toMatchObject({ ok: true });
  expect(existsSync(old.target)).toBe(false);
});

test('git runs no program and reads nothing of the machine: only network protocols are allowed', async () => {
  const marker = path.join(root, 'was-run');
  for (const repository of [`ext::sh -c touch% ${marker}`, path.join(root, 'served/site.git'), `file://${root}/served/site.git`]) {
    const { answer, target } = publish({ repository });
    expect(await answer).toMatchObject({ ok: false, message: expect.stringContaining('not allowed') });
    expect(readdirSync(path.dirname(target))).toEqual([]);
  }
  expect(existsSync(marker)).toBe(false);
});

test('a missing repository is refused, and leaves nothing behind', async () => {
  const { answer, target } = publish({ repository: `${base}/site.git`, revision: 'nowhere' });
  expect(await answer).toMatchObject({ ok: false, message: expect.stringMatching(/^failed to exec 'git checkout nowhere': .*exit status 1$/s) });
  expect(readdirSync(path.dirname(target))).toEqual([]);
});
