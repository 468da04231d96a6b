/** Every way to end a cluster, and what it leaves on the machine: counted by its own paths and names, since other clusters run at the same time. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { nameOf, socketOf } from '../../src/node/runtimes/sandbox/shim/layout.ts';
import { root } from '../moor-process.ts';
import { describeWithSandboxes } from '../sandbox/sandboxes.ts';

const moorScript = path.join(root, 'dist/main/moor.js');

describeWithSandboxes('the life of a cluster', () => {
  let state = '';
  const env = () => ({ ...process.env, XDG_STATE_HOME: state, TMPDIR: state, PATH: `${path.join(root, '.tools/bin')}:${process.env['PATH']}` });
  beforeAll(() => {
    state = mkdtempSync(path.join(tmpdir(), 'moor-life-'));
  });
  afterAll(() => rmSync(state, { recursive: true, force: true }));

  const moor = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [moorScript, ...args], { env: env(), encoding: 'utf8' });
    return { code: status, stdout, stderr };
  };
  const kubectl = (kubeconfig: string, ...args: string[]): string =>
    execFileSync('kubectl', ['--kubeconfig', kubeconfig, ...args], { env: env(), encoding: 'utf8' });
  const clusters = () => JSON.parse(moor('list', '-o', 'json').stdout) as readonly { name: string; status: string; pid: number; dataDir: string }[];
  const cluster = (name: string) => clusters().find((each) => each.name === name);
  const runPod = (kubeconfig: string): void => {
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'app' },
      spec: { containers: [{ name: 'app', image: 'busybox', command: ['sleep', '1000'] }] },
    };
    execFileSync('kubectl', ['--kubeconfig', kubeconfig, 'apply', '-f', '-'], { env: env(), input: JSON.stringify(pod) });
    kubectl(kubeconfig, 'wait', '--for=condition=Ready', 'pod/app', '--timeout=60s');
  };

  test('in the background: found by its name, stopped, continued, taken down, deleted', () => {
    const up = moor('up', 'shop', '--detach');
    expect(up.code, up.stderr).toBe(0);
    expect(up.stdout).toContain('moor logs shop');
    const { dataDir } = cluster('shop') ?? { dataDir: '' };
    const kubeconfig = moor('kubeconfig', 'shop', '--path').stdout.trim();
    expect(moor('kubeconfig', 'shop').stdout).toBe(readFileSync(kubeconfig, 'utf8'));
    runPod(kubeconfig);
    expect(moor('logs', 'shop').stdout).toContain('Mooring is ready');
    expect(moor('status', 'shop')).toMatchObject({ code: 0, stdout: expect.stringContaining('Running') });

    expect(moor('stop', 'shop').stdout).toContain('"moor down shop" ends them');
    expect(moor('status', 'shop').code).toBe(3);
    expect(tracesOf(dataDir).processes.length).toBeGreaterThan(0);
    const url = moor('up', 'shop', '-d').stdout.split('\n')[0];
    expect(url).toBe(up.stdout.split('\n')[0]);
    expect(kubectl(kubeconfig, 'get', 'pod/app', '-o', 'jsonpath={.status.containerStatuses[0].restartCount}')).toBe('0');

    expect(moor('down', 'shop')).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Down: removed 1 pod, \d+ mount/) });
    expect(tracesOf(dataDir)).toEqual({ ...nothing, directory: true });
    expect(cluster('shop')?.status).toBe('Down');
    expect(moor('delete', 'shop').code).toBe(1);
    expect(existsSync(dataDir)).toBe(true);
    expect(moor('delete', 'shop', '--yes').code).toBe(0);
    expect(tracesOf(dataDir)).toEqual(nothing);
    expect(moor('status', 'shop')).toMatchObject({ code: 1, stderr: expect.stringContaining('there is no cluster "shop"') });
  });

  test.each(['SIGTERM', 'SIGKILL'] as const)('ephemeral: after %s nothing is left', (signal) => {
    expect(moor('up', 'short', '--ephemeral', '-d').code).toBe(0);
    const { dataDir, pid } = cluster('short') ?? { dataDir: '', pid: 0 };
    runPod(moor('kubeconfig', 'short', '--path').stdout.trim());
    expect(tracesOf(dataDir).mounts.length).toBeGreaterThan(0);
    if (signal === 'SIGTERM') expect(moor('stop', 'short').code).toBe(0);
    else process.kill(pid, signal);
    expect(clusters()).toEqual([]);
    expect(tracesOf(dataDir)).toEqual(nothing);
  });

  test('a server that was killed: down ends its pods', () => {
    expect(moor('up', 'killed', '-d').code).toBe(0);
    const { dataDir, pid } = cluster('killed') ?? { dataDir: '', pid: 0 };
    runPod(moor('kubeconfig', 'killed', '--path').stdout.trim());
    process.kill(pid, 'SIGKILL');
    for (const each of tracesOf(dataDir).processes) if (each.includes('container-shim')) process.kill(Number.parseInt(each, 10), 'SIGKILL');
    expect(moor('down', 'killed').code).toBe(0);
    expect(tracesOf(dataDir)).toEqual({ ...nothing, directory: true });
    expect(moor('delete', 'killed', '--yes').code).toBe(0);
  });

  test('a data directory that was removed while pods ran is cleaned by the next start', () => {
    expect(moor('up', 'lost', '-d').code).toBe(0);
    const { dataDir } = cluster('lost') ?? { dataDir: '' };
    runPod(moor('kubeconfig', 'lost', '--path').stdout.trim());
    expect(moor('stop', 'lost').code).toBe(0);
    spawnSync('rm', ['-rf', dataDir]);
    expect(tracesOf(dataDir).mounts.length).toBeGreaterThan(0);
    expect(moor('up', 'lost', '-d').code).toBe(0);
    expect(moor('logs', 'lost').stdout).toContain('the data directory was removed while its pods ran');
    runPod(moor('kubeconfig', 'lost', '--path').stdout.trim());
    expect(moor('delete', 'lost', '--yes').code).toBe(0);
    expect(tracesOf(dataDir)).toEqual(nothing);
  });

  test('startCluster() leaves nothing', async () => {
    const library = pathToFileURL(path.join(root, 'dist/cluster/library.js')).href;
    const program = `
      const { startCluster } = await import(${JSON.stringify(library)});
      const cluster = await startCluster({ runtime: 'sandbox' });
      process.stdout.write(cluster.kubeconfig + '\\n');
      await new Promise((resolve) => process.stdin.once('data', resolve));
      await cluster.stop();
      process.exit();`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], { env: env(), stdio: ['pipe', 'pipe', 'inherit'] });
    const ended = once(child, 'exit');
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    const kubeconfig = line.toString().trim();
    const dataDir = path.dirname(kubeconfig);
    runPod(kubeconfig);
    expect(tracesOf(dataDir).mounts.length).toBeGreaterThan(0);
    child.stdin.write('end');
    expect(await ended).toEqual([0, null]);
    expect(tracesOf(dataDir)).toEqual(nothing);
  });

  test('two clusters run side by side', () => {
    for (const name of ['one', 'two']) expect(moor('up', name, '-d', '--runtime', 'hollow').code).toBe(0);
    expect(clusters().map(({ name, status }) => `${name} ${status}`)).toEqual(['one Running', 'two Running']);
    expect(moor('up', 'one', '-d').stderr).toContain('in use by another moor');
    // A copy of a data directory names the process that serves the original.
    const copy = path.join(state, 'copy');
    spawnSync('cp', ['-a', path.join(state, 'mooring-one'), copy]);
    expect(moor('delete', '--data-dir', copy, '--yes').code).toBe(0);
    expect(existsSync(copy)).toBe(false);
    expect(moor('status', 'one').code).toBe(0);
    for (const name of ['one', 'two']) expect(moor('delete', name, '--yes').code).toBe(0);
  });

  test('a data directory in use is refused whatever the store, and files of others in it stay', () => {
    const dataDir = path.join(state, 'shared');
    mkdirSync(path.join(dataDir, 'volumes'), { recursive: true });
    const up = (...args: string[]) => moor('up', '--data-dir', dataDir, '--listen', '127.0.0.1:0', '-d', '--runtime', 'hollow', ...args);
    expect(up('--store', 'memory').code).toBe(0);
    expect(up().stderr).toContain('is in use by another moor (process ');
    expect(moor('stop', '--data-dir', dataDir).code).toBe(0);
    expect(up().code).toBe(0);
    expect(moor('delete', '--data-dir', dataDir, '--yes').code).toBe(0);
    expect(readdirSync(dataDir)).toEqual(['volumes']);
  });

  test('--ephemeral refuses a directory with data', () => {
    expect(moor('up', 'kept', '-d', '--runtime', 'hollow').code).toBe(0);
    expect(moor('stop', 'kept').code).toBe(0);
    expect(moor('up', 'kept', '-d', '--ephemeral', '--data-dir', path.join(state, 'mooring-kept')).stderr).toContain(
      'holds data, which --ephemeral would delete',
    );
    expect(moor('delete', 'kept', '--yes').code).toBe(0);
  });
});

interface Traces {
  /** 'PID command' */
  readonly processes: readonly string[];
  readonly mounts: readonly string[];
  readonly devices: readonly string[];
  readonly links: readonly string[];
  readonly groups: readonly string[];
  readonly socket: boolean;
  readonly directory: boolean;
}

const nothing: Traces = { processes: [], mounts: [], devices: [], links: [], groups: [], socket: false, directory: false };

/** What this machine has of a cluster with one node. */
function tracesOf(dataDir: string): Traces {
  const sandbox = path.join(dataDir, 'nodes', 'node-1', 'sandbox');
  const name = `moor-${nameOf(sandbox)}`;
  return {
    processes: readdirSync('/proc').flatMap((pid) => (/^\d+$/.test(pid) && belongs(pid, dataDir, nameOf(sandbox)) ? `${pid} ${commandOf(pid)}` : [])),
    mounts: readFileSync('/proc/self/mountinfo', 'utf8')
      .split('\n')
      .filter((line) => line.includes(` ${dataDir}/`)),
    devices: readdirSync('/sys/block').filter((block) => read(`/sys/block/${block}/loop/backing_file`).startsWith(dataDir)),
    links: readdirSync('/sys/class/net').filter((link) => link === name),
    groups: ['', ...readdirSync('/sys/fs/cgroup')].map((controller) => path.join('/sys/fs/cgroup', controller, name)).filter((group) => existsSync(group)),
    socket: existsSync(socketOf(sandbox)),
    directory: existsSync(dataDir),
  };
}

const read = (file: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
};
const commandOf = (pid: string): string => read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim();
/** By its arguments, or by the mark that the shim gives its processes. */
const belongs = (pid: string, dataDir: string, mark: string): boolean =>
  Number(pid) !== process.pid && (commandOf(pid).includes(dataDir) || read(`/proc/${pid}/environ`).includes(`=${mark}:`));
