/** Starts and deletions that are interrupted, refused or sabotaged: the message says what to do, and nothing is left or lost. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { describeWithSandboxes } from '../sandbox/sandboxes.ts';
import { nothing, processesOf, tracesOf } from './machine-traces.ts';
import { clustersIn, moorScript } from './named-clusters.ts';

let state = '';
beforeAll(() => {
  state = mkdtempSync(path.join(tmpdir(), 'moor-interrupted-'));
});
afterAll(() => rmSync(state, { recursive: true, force: true }));
const { env, moor, kubectl, apply, clusters, cluster, runPod, hostPathVolume } = clustersIn(() => state);

const claimAndPod = {
  apiVersion: 'v1',
  kind: 'List',
  items: [
    {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'data' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '64Mi' } } },
    },
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'app' },
      spec: {
        containers: [{ name: 'app', image: 'busybox', command: ['sleep', '1000'], volumeMounts: [{ name: 'data', mountPath: '/data' }] }],
        volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
      },
    },
  ],
};

const waiting = { timeout: 60_000, interval: 50 };
/** Resolves with how a command ended. */
async function endOf(args: readonly string[], meanwhile: (child: ChildProcess) => Promise<unknown> = async () => undefined) {
  const child = spawn(process.execPath, [moorScript, ...args], { env: env(), stdio: ['ignore', 'pipe', 'pipe'] });
  const [ended, stdout, stderr] = [once(child, 'exit'), text(child.stdout), text(child.stderr)];
  await meanwhile(child);
  const [code] = (await ended) as [number | null];
  return { code, stdout: await stdout, stderr: await stderr };
}

describe('starts', () => {
  test('two at once with one name: one is ready and keeps its log, the other one says who uses the directory', async () => {
    const up = () => endOf(['up', 'twin', '-d', '--runtime', 'hollow']);
    const [first, second] = (await Promise.all([up(), up()])).toSorted((a, b) => Number(a.code) - Number(b.code));
    expect([first?.code, second?.code]).toEqual([0, 1]);
    expect(second?.stderr).toMatch(/^moor up: \S+ is in use by another moor.*\n$/);
    expect(moor('logs', 'twin').stdout).toContain('Mooring is ready');
    expect(moor('delete', 'twin', '--yes').code).toBe(0);
  });

  test('a signal ends a start in the background', async () => {
    const inBackground = () => processesOf(state).filter((each) => each.includes(' up given-up '));
    const interrupted = () =>
      endOf(['up', 'given-up', '-d', '--runtime', 'hollow'], async (child) => {
        await vi.waitUntil(() => inBackground().length === 1, waiting);
        child.kill('SIGINT');
      });
    let up = await interrupted();
    // On a machine that is busy the cluster may be ready before its process is found: the signal comes too late then.
    for (let start = 2; start <= 20 && up.code === 0; start += 1) {
      expect(moor('delete', 'given-up', '--yes').code).toBe(0);
      up = await interrupted();
    }
    expect(up).toEqual({ code: 1, stdout: '', stderr: 'moor up: the start was ended by SIGINT\n' });
    expect(inBackground()).toEqual([]);
    if (cluster('given-up') !== undefined) expect(moor('delete', 'given-up', '--yes').code).toBe(0);
    expect(existsSync(path.join(state, 'mooring-given-up'))).toBe(false);
  });

  test('the root of the file system is no data directory', () => {
    expect(moor('up', '--data-dir', '/', '-d')).toMatchObject({ code: 2, stderr: expect.stringContaining('must not be /, the root of the file system') });
  });

  test('moor store does not call a directory sound that has no data', () => {
    expect(moor('store', 'verify', '--data-dir', state)).toEqual({
      code: 1,
      stdout: '',
      stderr: `moor store: there is no data of a cluster in ${state}\n`,
    });
  });
});

describe('deletions', () => {
  // The last of them are the directories of the volume, the nodes and the cluster.
  test.each([1, 3])('killed before file %d is removed: the next moor finishes it', (count) => {
    expect(moor('up', 'half', '-d', '--runtime', 'hollow').code).toBe(0);
    const volume = hostPathVolume('half');
    expect(moor('stop', 'half').code).toBe(0);
    const inject = `inject=unlink,unlinkat,rmdir:signal=KILL:when=${count}`;
    const command = [
      '-f',
      '-qq',
      '-o',
      '/dev/null',
      '-e',
      'trace=unlink,unlinkat,rmdir',
      '-e',
      inject,
      process.execPath,
      moorScript,
      'delete',
      'half',
      '--yes',
    ];
    // strace sees no io_uring. One thread, so that its calls are counted together.
    const { signal } = spawnSync('strace', command, { env: { ...env(), UV_USE_IO_URING: '0', UV_THREADPOOL_SIZE: '1' } });
    expect(signal).toBe('SIGKILL');
    expect([existsSync(path.join(state, 'mooring-half')), existsSync(volume)]).toEqual([true, true]);
    expect(clusters()).toEqual([]);
    expect([existsSync(path.join(state, 'mooring-half')), existsSync(volume)]).toEqual([false, false]);
  });
});

describeWithSandboxes('as root', () => {
  const withMount = (options: readonly string[], task: (directory: string) => void): void => {
    const directory = mkdtempSync(path.join(state, 'disk-'));
    expect(spawnSync('mount', ['-t', 'tmpfs', ...options, 'tmpfs', directory]).status).toBe(0);
    try {
      task(directory);
    } finally {
      spawnSync('umount', [directory]);
    }
  };
  const hollow = ['-d', '--runtime', 'hollow', '--listen', '127.0.0.1:0'];

  test.each(['16k', '150k'])('a disk of %s is full: one line says so, and the first start leaves nothing', (size) =>
    withMount(['-o', `size=${size}`], (disk) => {
      const dataDir = path.join(disk, 'data');
      const stderr = `moor up: the disk that holds ${dataDir} is full. Free some space, or choose another directory with --data-dir.\n`;
      expect(moor('up', '--data-dir', dataDir, ...hollow)).toEqual({ code: 1, stdout: '', stderr });
      expect(readdirSync(disk)).toEqual([]);
    }),
  );

  test('a home directory that is read-only: another data directory works, and is not listed', () =>
    withMount(['-o', 'ro'], (home) => {
      const inHome = (...args: string[]) =>
        spawnSync(process.execPath, [moorScript, ...args], { env: { ...env(), XDG_STATE_HOME: path.join(home, 'state') }, encoding: 'utf8' });
      const refused = inHome('up', ...hollow);
      expect([refused.status, refused.stderr]).toEqual([
        1,
        expect.stringMatching(/^moor up: EROFS: .* Choose a directory that you may write with --data-dir.*\n$/),
      ]);
      const dataDir = path.join(state, 'elsewhere');
      expect(inHome('up', '--data-dir', dataDir, ...hollow).status).toBe(0);
      expect(inHome('logs', '--data-dir', dataDir).stdout).toContain('does not know this cluster');
      expect(inHome('delete', '--data-dir', dataDir, '--yes').status).toBe(0);
      expect(existsSync(dataDir)).toBe(false);
    }));

  test('data of another user is refused before anything is written', () => {
    const dataDir = path.join(state, 'of-another-user');
    mkdirSync(path.join(dataDir, 'store'), { recursive: true, mode: 0o700 });
    chownSync(path.join(dataDir, 'store'), 54_321, 54_321);
    const up = moor('up', '--data-dir', dataDir, ...hollow);
    expect(up).toMatchObject({ code: 1, stderr: expect.stringContaining('belongs to the user with id 54321, and this process runs as 0') });
    expect(readdirSync(path.join(dataDir, 'store'))).toEqual([]);
    expect(statSync(path.join(dataDir, 'store')).uid).toBe(54_321);
  });

  test('hollow nodes after real ones: the ready screen says that pods still run, and moor why what they cannot mount', () => {
    expect(moor('up', 'changed', '-d').code).toBe(0);
    const kubeconfig = moor('kubeconfig', 'changed', '--path').stdout.trim();
    apply(kubeconfig, claimAndPod);
    kubectl(kubeconfig, 'wait', '--for=condition=Ready', 'pod/app', '--timeout=60s');
    expect(moor('stop', 'changed').code).toBe(0);
    expect(moor('up', 'changed', ...hollow).stdout).toMatch(/left over +pods of an earlier start still run here.*"moor down changed" ends them/);
    kubectl(kubeconfig, 'delete', 'pod/app');
    apply(kubeconfig, claimAndPod);
    kubectl(kubeconfig, 'wait', '--for=condition=PodScheduled', 'pod/app', '--timeout=60s');
    const why = moor('why', 'pod/app', '--kubeconfig', kubeconfig);
    const deleted = moor('delete', 'changed', '--yes');
    const lines = why.stdout.replaceAll(/\s+/g, ' ');
    expect(lines).toContain('its driver image.mooring.dev is not registered there');
    expect(lines).toContain('start the cluster without --runtime hollow');
    expect(why.code).toBe(3);
    expect(deleted.stdout).toMatch(/^Down: removed 1 pod, \d mounts, 1 loop device/);
  });

  test('a data directory that is removed while the server runs ends the server and its pods', async () => {
    expect(moor('up', 'removed', '-d').code).toBe(0);
    const { dataDir, pid } = cluster('removed') ?? { dataDir: '', pid: 0 };
    runPod(moor('kubeconfig', 'removed', '--path').stdout.trim());
    expect(tracesOf(dataDir).mounts.length).toBeGreaterThan(0);
    spawnSync('rm', ['-rf', dataDir]);
    await vi.waitUntil(() => !existsSync(`/proc/${pid}`), waiting);
    await vi.waitFor(() => expect(tracesOf(dataDir)).toEqual(nothing), waiting);
    expect(clusters()).toEqual([]);
  });
});
