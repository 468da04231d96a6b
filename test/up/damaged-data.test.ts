import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCluster } from '../../src/cluster/cluster.ts';
import { inspectData } from '../../src/cluster/data-directory/repair.ts';
import { explainStartFailure, isDamage } from '../../src/commands/start-failure.ts';
import { asFormat1 } from '../store/damaged-disks.ts';
import { runMoor, startMoor } from '../moor-process.ts';

/** Damage of every kind to a data directory: `moor up` refuses it in one line with exit code 3, and changes nothing. */
const root = mkdtempSync(path.join(tmpdir(), 'mooring-damage-'));
const sound = path.join(root, 'sound');
const other = path.join(root, 'other');

async function makeCluster(dataDir: string, objects = 0): Promise<void> {
  await using moor = await startMoor({ dataDir });
  for (let i = 0; i < objects; i++) expect(await moor.kubectl('create', 'configmap', `c${i}`)).toMatchObject({ code: 0 });
  expect(await moor.stop()).toBe(0);
}

beforeAll(async () => {
  await makeCluster(sound, 2);
  await makeCluster(other);
}, 60_000);
afterAll(() => rmSync(root, { recursive: true, force: true }));

let copies = 0;
function copy(): string {
  const dataDir = path.join(root, `copy-${++copies}`);
  cpSync(sound, dataDir, { recursive: true });
  // A copy gets the modes of this process.
  for (const directory of ['', 'store', 'pki']) chmodSync(path.join(dataDir, directory), 0o700);
  return dataDir;
}

/** Every file with its content, but for the lock. */
function contents(directory: string): Map<string, string> {
  const names = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile() && entry.name !== 'lock');
  const files = names.map((entry) => path.join(entry.parentPath, entry.name)).sort();
  return new Map(files.map((file) => [file, readFileSync(file).toString('base64')]));
}

const log = 'store/log-0000000000000001';
const damages: Readonly<Record<string, [damage: (at: (name: string) => string) => void, file: string, message: string | RegExp]>> = {
  'the log removed': [(at) => rmSync(at(log)), log, /expected the log after revision 1, found no file; at least \d+ acknowledged revisions are missing/],
  'the log emptied': [(at) => truncateSync(at(log), 0), log, 'expected a log, found an empty file'],
  'the log cut to its first bytes': [(at) => truncateSync(at(log), 20), log, 'expected a log, found 20 bytes, cut within the header'],
  'the log cut to its header': [(at) => truncateSync(at(log), 64), log, /expected at least \d+ bytes, up to revision \d+, found 64 bytes, up to revision 1/],
  'the end of the log cut off': [(at) => truncateSync(at(log), statSync(at(log)).size - 1), log, /at least \d+ acknowledged revisions? (is|are) missing/],
  'the log of another cluster': [(at) => copyFileSync(path.join(other, log), at(log)), log, /expected a file of cluster .*, found one of cluster/],
  'the store removed': [(at) => rmSync(at('store'), { recursive: true }), 'store/manifest.json', 'found no file'],
  'the store of another cluster': [
    (at) => {
      rmSync(at('store'), { recursive: true });
      cpSync(path.join(other, 'store'), at('store'), { recursive: true });
      chmodSync(at('store'), 0o700);
    },
    'store/manifest.json',
    /expected the manifest of cluster .*, found the one of cluster/,
  ],
  "the store's manifest removed": [(at) => rmSync(at('store/manifest.json')), 'store/manifest.json', 'found no file'],
  "the store's manifest emptied": [(at) => truncateSync(at('store/manifest.json'), 0), 'store/manifest.json', 'found an empty file'],
  'the notes of the progress removed': [(at) => rmSync(at('store/progress')), 'store/progress', 'found no file'],
  'the manifest removed': [(at) => rmSync(at('manifest.json')), 'manifest.json', 'found no file beside its store'],
  'the manifest changed by hand': [
    (at) => writeFileSync(at('manifest.json'), readFileSync(at('manifest.json'), 'utf8').replace('embedded', 'memory')),
    'manifest.json',
    'fail their checksum',
  ],
  'all but the keys removed': [
    (at) => {
      rmSync(at('store'), { recursive: true });
      rmSync(at('manifest.json'));
    },
    'manifest.json',
    'found no file, and no store',
  ],
  'the keys removed': [(at) => rmSync(at('pki'), { recursive: true }), 'pki/ca.crt', 'found no file'],
  'ca.key removed': [(at) => rmSync(at('pki/ca.key')), 'pki/ca.key', /expected a private key with fingerprint sha256:[0-9a-f]{64}, found no file/],
  'ca.key of another cluster': [(at) => copyFileSync(path.join(other, 'pki/ca.key'), at('pki/ca.key')), 'pki/ca.key', 'found one with fingerprint sha256:'],
  'both files of another CA': [
    (at) => {
      for (const name of ['pki/ca.key', 'pki/ca.crt']) copyFileSync(path.join(other, name), at(name));
    },
    'pki/ca.crt',
    'found one with fingerprint sha256:',
  ],
  'garbage in ca.key': [(at) => writeFileSync(at('pki/ca.key'), 'garbage'), 'pki/ca.key', 'expected a private key in PEM, found 7 characters that are none'],
  'garbage in sa.key': [(at) => writeFileSync(at('pki/sa.key'), '\0\0'), 'pki/sa.key', 'expected a private key in PEM, found 2 characters that are none'],
  'an empty server.crt': [(at) => truncateSync(at('pki/server.crt'), 0), 'pki/server.crt', 'expected a certificate in PEM, found an empty file'],
  'server.key removed': [(at) => rmSync(at('pki/server.key')), 'pki/server.key', 'found no file'],
  'admin.key of another cluster': [(at) => copyFileSync(path.join(other, 'pki/admin.key'), at('pki/admin.key')), 'pki/admin.key', 'found one with'],
  'ca.key readable by others': [(at) => chmodSync(at('pki/ca.key'), 0o644), 'pki/ca.key', 'expected mode 0600, found 0644'],
  'keys that others can list': [(at) => chmodSync(at('pki'), 0o755), 'pki', 'found mode 0755'],
};

/** Why the cluster does not start, as `moor up` says it. */
async function refusal(dataDir: string): Promise<string> {
  try {
    await (await startCluster({ dataDir, store: 'embedded', bare: true, controllers: false })).stop();
  } catch (error) {
    expect(isDamage(error)).toBe(true);
    return explainStartFailure(error, { dataDir }) ?? String(error);
  }
  return 'it started';
}

describe('moor up refuses', () => {
  test.each(Object.entries(damages))('%s', async (_, [damage, file, message]) => {
    const dataDir = copy();
    damage((name) => path.join(dataDir, name));
    const before = contents(dataDir);
    const said = await refusal(dataDir);
    expect(said.split('\n')).toHaveLength(1);
    expect(said).toContain(path.join(dataDir, file));
    expect(said).toMatch(message);
    expect(contents(dataDir)).toEqual(before);
    expect(await inspectData({ dataDir, newId: randomUUID })).not.toEqual([]);
  });

  test('in one line, with exit code 3', async () => {
    const dataDir = copy();
    writeFileSync(path.join(dataDir, 'pki/ca.key'), 'garbage');
    const { code, stderr, stdout } = await runMoor('up', '--bare', '--listen', '127.0.0.1:0', '--data-dir', dataDir);
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
    const lines = stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
    expect(lines).toEqual([
      expect.stringMatching(/^moor up: the data in .* is damaged and was not changed: .*pki\/ca.key is damaged: expected a private key in PEM/),
    ]);
    expect(await runMoor('store', 'verify', '--data-dir', dataDir)).toMatchObject({ code: 3, stdout: expect.stringContaining('pki/ca.key is damaged') });
  });
});

describe('moor store repair', () => {
  test('asks, states what is lost, keeps a copy, and the cluster goes on with newer revisions', async () => {
    const dataDir = copy();
    truncateSync(path.join(dataDir, log), statSync(path.join(dataDir, log)).size - 1);
    const before = contents(path.join(dataDir, 'store'));
    const asked = await runMoor('store', 'repair', '--data-dir', dataDir);
    expect(asked).toMatchObject({ code: 1, stderr: expect.stringContaining('nothing was changed') });
    expect(asked.stdout).toMatch(/The store keeps \d+ keys as of revision \d+; at least \d+ acknowledged revisions after it are lost/);
    expect(contents(path.join(dataDir, 'store'))).toEqual(before);
    const repaired = await runMoor('store', 'repair', '--yes', '--data-dir', dataDir);
    expect(repaired).toMatchObject({ code: 0 });
    const [, copied = ''] = /What was there before is in (.*)\.\n/.exec(repaired.stdout) ?? [];
    expect([...contents(path.join(copied, '1-1/store')).values()]).toEqual([...before.values()]);
    await using moor = await startMoor({ dataDir });
    expect(await moor.kubectl('get', 'cm', 'c0', '-o', 'name')).toMatchObject({ stdout: 'configmap/c0\n' });
    await moor.kubectl('create', 'configmap', 'later');
    expect(Number((await moor.kubectl('get', 'cm', 'later', '-o', 'jsonpath={.metadata.resourceVersion}')).stdout)).toBeGreaterThan(1_000_000);
    expect(await runMoor('store', 'repair', '--yes', '--data-dir', dataDir)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is in use by another'),
    });
  });

  test('makes any refused directory start, or says what to do by hand', async () => {
    for (const [what, [damage]] of Object.entries(damages)) {
      const dataDir = copy();
      damage((name) => path.join(dataDir, name));
      const isByHand = what.includes('others can') || what.includes('readable by others');
      for (let round = 1; round <= 3; round++) {
        for (const [index, { repair }] of (await inspectData({ dataDir, newId: randomUUID })).entries()) {
          expect(repair === undefined, what).toBe(isByHand);
          await repair?.(path.join(dataDir, `before-${round}-${index}`));
        }
      }
      expect(await inspectData({ dataDir, newId: randomUUID }), what).toHaveLength(isByHand ? 1 : 0);
      if (!isByHand) expect(await refusal(dataDir), what).toBe('it started');
    }
  }, 60_000);

  test('that a key which others can read prevents leaves the manifest as it is', async () => {
    const dataDir = copy();
    const manifest = path.join(dataDir, 'manifest.json');
    truncateSync(manifest, 100);
    chmodSync(path.join(dataDir, 'pki/ca.key'), 0o644);
    const before = contents(dataDir);
    const findings = await inspectData({ dataDir, newId: randomUUID });
    const repair = findings.find(({ damage }) => damage.includes(manifest))?.repair;
    await expect(repair?.(path.join(dataDir, 'before'))).rejects.toThrow('expected mode 0600, found 0644');
    expect(contents(dataDir)).toEqual(before);
  });

  test('of a sound directory does nothing', async () => {
    const dataDir = copy();
    const before = contents(dataDir);
    expect(await runMoor('store', 'repair', '--yes', '--data-dir', dataDir)).toMatchObject({ code: 0, stdout: expect.stringContaining('is sound') });
    expect(contents(dataDir)).toEqual(before);
  });
});

test('a data directory of 0.2.0 is upgraded once, and says so', async () => {
  const dataDir = copy();
  const store = path.join(dataDir, 'store');
  const old = asFormat1(new Map(readdirSync(store).map((name) => [name, readFileSync(path.join(store, name))])));
  rmSync(store, { recursive: true });
  rmSync(path.join(dataDir, 'manifest.json'));
  for (const name of readdirSync(path.join(dataDir, 'pki')).filter((each) => each.startsWith('front-proxy-'))) rmSync(path.join(dataDir, 'pki', name));
  mkdirSync(store, { mode: 0o700 });
  for (const [name, bytes] of old) writeFileSync(path.join(store, name), bytes, { mode: 0o600 });
  const first = await startMoor({ dataDir });
  expect(first.output()).toContain('upgraded the data directory: it has a manifest now');
  expect(await first.kubectl('get', 'cm', 'c1', '-o', 'name')).toMatchObject({ stdout: 'configmap/c1\n' });
  await first.stop('SIGKILL');
  await using second = await startMoor({ dataDir });
  expect(second.output()).not.toContain('upgraded');
});

test('keys of a cluster in memory serve an embedded store later, but are never made anew', async () => {
  const dataDir = path.join(root, 'memory');
  await (await startCluster({ dataDir, store: 'memory', bare: true, controllers: false })).stop();
  const authority = readFileSync(path.join(dataDir, 'pki/ca.crt'), 'utf8');
  await (await startCluster({ dataDir, store: 'embedded', bare: true, controllers: false })).stop();
  expect(readFileSync(path.join(dataDir, 'pki/ca.crt'), 'utf8')).toBe(authority);
  rmSync(path.join(dataDir, 'pki/ca.key'));
  await expect(startCluster({ dataDir, store: 'memory', bare: true, controllers: false })).rejects.toThrow('pki/ca.key is damaged');
  expect(existsSync(path.join(dataDir, 'pki/ca.key'))).toBe(false);
});

/** Only root can mount. */
const canMount = process.getuid?.() === 0;

test.runIf(canMount)('a full disk: /readyz fails and writes are refused, reads go on, and all is well once there is room', async () => {
  const dataDir = path.join(root, 'small');
  mkdirSync(dataDir, { mode: 0o700 });
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8m,mode=700', 'tmpfs', dataDir]);
  try {
    await using moor = await startMoor({ dataDir });
    const ready = () => moor.kubectl('get', '--raw', '/readyz?verbose');
    expect((await ready()).stdout).toContain('[+]store ok');
    await moor.kubectl('create', 'configmap', 'before');
    writeFileSync(path.join(dataDir, 'large'), 'x'.repeat(900_000));
    for (let i = 0; i < 20; i++) await fill(path.join(dataDir, `fill-${i}`));
    expect((await ready()).stderr).toContain('[-]store failed');
    expect((await moor.kubectl('get', '--raw', '/readyz/store')).stderr).toContain(`the disk of ${path.join(dataDir, 'store')} is full`);
    expect(await moor.kubectl('get', '--raw', '/livez')).toMatchObject({ stdout: 'ok' });
    // What fits into the room that the log has already is still written.
    const refusals = [];
    for (let i = 0; i < 3; i++) refusals.push((await moor.kubectl('create', 'configmap', `large-${i}`, `--from-file=${path.join(dataDir, 'large')}`)).stderr);
    expect(refusals.at(-1)).toContain(`the disk of ${path.join(dataDir, 'store')} is full`);
    expect(await moor.kubectl('get', 'cm', 'before', '-o', 'name')).toMatchObject({ stdout: 'configmap/before\n' });
    for (let i = 0; i < 20; i++) rmSync(path.join(dataDir, `fill-${i}`), { force: true });
    expect((await ready()).stdout).toContain('[+]store ok');
    expect(await moor.kubectl('create', 'configmap', 'after')).toMatchObject({ code: 0 });
  } finally {
    execFileSync('umount', ['-l', dataDir]);
  }
});

/** Up to a megabyte, as far as there is room. */
async function fill(file: string): Promise<void> {
  try {
    writeFileSync(file, Buffer.alloc(1 << 20));
  } catch (error) {
    expect(error).toMatchObject({ code: 'ENOSPC' });
  }
}
