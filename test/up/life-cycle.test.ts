/** Every way to end a cluster, and what it leaves on the machine: counted by its own paths and names, since other clusters run at the same time. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { root } from '../moor-process.ts';
import { describeWithSandboxes } from '../sandbox/sandboxes.ts';
import { nothing, tracesOf } from './machine-traces.ts';
import { clustersIn, moorScript } from './named-clusters.ts';

/** Of control groups of version 1. */
const freezer = '/sys/fs/cgroup/freezer';

describeWithSandboxes('the life of a cluster', () => {
  let state = '';
  const { env, moor, kubectl, clusters, cluster, runPod, hostPathVolume } = clustersIn(() => state);
  beforeAll(() => {
    state = mkdtempSync(path.join(tmpdir(), 'moor-life-'));
  });
  afterAll(() => rmSync(state, { recursive: true, force: true }));

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
    expect(clusters()).toEqual([]);
    expect(moor('up', 'lost', '-d').code).toBe(0);
    expect(moor('logs', 'lost').stdout).toContain('the data directory was removed while its pods ran');
    runPod(moor('kubeconfig', 'lost', '--path').stdout.trim());
    // The same, and deleted without another start.
    expect(moor('stop', 'lost').code).toBe(0);
    spawnSync('rm', ['-rf', dataDir]);
    expect(moor('delete', 'lost', '--yes')).toMatchObject({ code: 0, stdout: expect.stringContaining('removed 1 pod') });
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
    // The directories of their volumes are beside one another.
    const [ofOne = '', ofTwo = ''] = ['one', 'two'].map(hostPathVolume);
    expect([ofOne, ofTwo].map((directory) => existsSync(directory))).toEqual([true, true]);
    expect(moor('up', 'one', '-d').stderr).toContain('in use by another moor');
    // A copy of a data directory names the process that serves the original.
    const copy = path.join(state, 'copy');
    spawnSync('cp', ['-a', path.join(state, 'mooring-one'), copy]);
    expect(moor('delete', '--data-dir', copy, '--yes').code).toBe(0);
    expect(existsSync(copy)).toBe(false);
    expect(moor('status', 'one').code).toBe(0);
    expect(moor('delete', 'one', '--yes').code).toBe(0);
    expect([ofOne, ofTwo].map((directory) => existsSync(directory))).toEqual([false, true]);
    expect(moor('delete', 'two', '--yes').code).toBe(0);
    const endings = [ofOne, ofTwo].map((directory) => directory.slice(directory.lastIndexOf('-')));
    const left = existsSync(path.dirname(ofOne)) ? readdirSync(path.dirname(ofOne)) : [];
    expect(left.filter((name) => endings.some((ending) => name.endsWith(ending)))).toEqual([]);
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

  test('a file of the user with a name of a cluster is refused and stays', () => {
    const dataDir = path.join(state, 'own');
    mkdirSync(path.join(dataDir, 'store'), { recursive: true });
    writeFileSync(path.join(dataDir, 'store/notes.txt'), 'of the user');
    const { code, stderr } = moor('up', '--data-dir', dataDir, '--listen', '127.0.0.1:0', '--runtime', 'hollow', '-d');
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(`${dataDir}/store/notes.txt is not Mooring's`) });
    expect(moor('delete', '--data-dir', dataDir, '--yes').code).toBe(1);
    expect(readdirSync(dataDir, { recursive: true })).toEqual(['store', 'store/notes.txt']);
  });

  test('a first start that fails leaves nothing, a later one what moor list shows', () => {
    const fail = () => moor('up', 'failed', '-d', '--runtime', 'hollow', '--listen', '192.0.2.1:0');
    expect(fail()).toMatchObject({ code: 1, stderr: expect.stringContaining('192.0.2.1') });
    expect(readdirSync(state).filter((name) => name.startsWith('mooring'))).toEqual([]);
    expect(moor('up', 'failed', '-d', '--runtime', 'hollow').code).toBe(0);
    expect(moor('stop', 'failed').code).toBe(0);
    const again = fail();
    expect(cluster('failed')?.status).toBe('Down');
    expect(moor('logs', 'failed')).toMatchObject({ code: 0, stdout: expect.stringContaining(again.stderr) });
    expect(moor('delete', 'failed', '--yes').code).toBe(0);
    expect(moor('up', 'failed', '-d', '--runtime', 'none').code).toBe(2);
    expect(readdirSync(state).filter((name) => name.startsWith('mooring'))).toEqual([]);
  });

  test('-o json: where it is, once it is ready', () => {
    expect(moor('up', 'shop', '-o', 'json')).toMatchObject({ code: 2, stderr: expect.stringContaining('-o json needs --detach') });
    const up = moor('up', 'shop', '-d', '-o', 'json', '--runtime', 'hollow');
    expect(up.code, up.stderr).toBe(0);
    const { stdout } = moor('status', 'shop', '-o', 'json');
    expect(JSON.parse(up.stdout)).toEqual(JSON.parse(stdout));
    expect(JSON.parse(stdout)).toMatchObject({ name: 'shop', status: 'Running' });
    expect(moor('delete', 'shop', '--yes').code).toBe(0);
  });

  test('in the background with damaged data: exit code 3, and the reason', () => {
    expect(moor('up', 'damaged', '-d', '--runtime', 'hollow').code).toBe(0);
    expect(moor('stop', 'damaged').code).toBe(0);
    const manifest = path.join(state, 'mooring-damaged', 'manifest.json');
    writeFileSync(manifest, 'no manifest');
    const { code, stdout, stderr } = moor('up', 'damaged', '-d', '--runtime', 'hollow');
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
    expect(stderr).toContain(`is damaged and was not changed: ${manifest}`);
    expect(readFileSync(manifest, 'utf8')).toBe('no manifest');
    expect(moor('delete', 'damaged', '--yes').code).toBe(0);
  });

  // A process in a frozen group does not end by SIGKILL, like one that waits for a disk (state D). Control groups of version 2 have no such state.
  test.runIf(existsSync(freezer))('a process that does not end is named after a bounded wait, with progress on a terminal', () => {
    expect(moor('up', 'frozen', '-d').code).toBe(0);
    const { dataDir } = cluster('frozen') ?? { dataDir: '' };
    runPod(moor('kubeconfig', 'frozen', '--path').stdout.trim());
    const init = tracesOf(dataDir).processes.find((each) => each.endsWith(' moor-init'));
    const group = path.join(freezer, path.basename(state));
    mkdirSync(group);
    try {
      writeFileSync(path.join(group, 'cgroup.procs'), String(Number.parseInt(init ?? '', 10)));
      writeFileSync(path.join(group, 'freezer.state'), 'FROZEN');
      const { status, stdout } = spawnSync('script', ['-qec', `'${process.execPath}' '${moorScript}' down frozen`, '/dev/null'], {
        env: env(),
        encoding: 'utf8',
      });
      expect(status).toBe(1);
      expect(stdout.split('\r\u001b[K')).toContainEqual(expect.stringMatching(/^Ending 1 pod: \d of 1 ended … \d+ s$/));
      expect(stdout).toMatch(/moor down: the pods of .* 30 s after SIGKILL there is still process \d+ \(.*\) in state D/);
    } finally {
      writeFileSync(path.join(group, 'freezer.state'), 'THAWED');
    }
    expect(moor('down', 'frozen')).toMatchObject({ code: 0, stderr: '' });
    rmdirSync(group);
    expect(tracesOf(dataDir)).toEqual({ ...nothing, directory: true });
    expect(moor('delete', 'frozen', '--yes').code).toBe(0);
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
