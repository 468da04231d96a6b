/** Running pods with the real kubectl: logs, exec, cp, port-forward, and an agent that is killed. */
import { execFile } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type MoorProcess, startMoor } from '../moor-process.ts';
import { ociArchive, programsLayer } from '../images/archives.ts';
import { describeWithSandboxes, endContainers } from './sandboxes.ts';

const server =
  '$s=IO::Socket::INET->new(LocalAddr=>"127.0.0.1",LocalPort=>8080,Listen=>5,ReuseAddr=>1) or die; open(F,">/tmp/listens"); close(F); while($c=$s->accept){ while(<$c>){last if /^\\r?\\n$/} print $c "HTTP/1.0 200 OK\\r\\n\\r\\nhello"; close $c}';

const pods = JSON.stringify({
  apiVersion: 'v1',
  kind: 'List',
  items: [
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'web' },
      spec: {
        terminationGracePeriodSeconds: 1,
        containers: [
          {
            name: 'app',
            image: 'busybox',
            command: ['sh', '-c', "trap 'exit 0' TERM; echo one; echo two; echo bad; echo ready >/tmp/ready; sleep infinity & wait"],
            readinessProbe: { exec: { command: ['cat', '/tmp/ready'] }, periodSeconds: 1 },
          },
          {
            name: 'server',
            image: 'perl',
            command: ['perl', '-MIO::Socket::INET', '-e', server],
            readinessProbe: { exec: { command: ['cat', '/tmp/listens'] }, periodSeconds: 1 },
          },
        ],
      },
    },
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'crash' },
      spec: { containers: [{ name: 'app', image: 'busybox', command: ['sh', '-c', 'echo run $(date +%N); exit 3'] }] },
    },
  ],
});

describeWithSandboxes('pods that run', () => {
  let moor: MoorProcess;
  let dataDir = '';
  const args = ['--store', 'embedded', '--runtime', 'sandbox', '--nodes', '1'];
  beforeAll(async () => {
    dataDir = realpathSync(mkdtempSync(path.join(tmpdir(), 'moor-pods-')));
    moor = await startMoor({ dataDir, args });
    expect(await moor.kubectlWith(pods, 'apply', '-f', '-')).toMatchObject({ code: 0 });
    expect(await moor.kubectl('wait', '--for=condition=Ready', 'pod/web', '--timeout=60s')).toMatchObject({ code: 0 });
  });
  afterAll(async () => {
    await moor.stop();
    await endContainers(path.join(dataDir, 'nodes', 'node-1', 'sandbox'));
    rmSync(dataDir, { recursive: true, force: true });
  });

  const bash = (script: string) => {
    const file = path.join(dataDir, 'script');
    writeFileSync(file, script);
    return moor.bash(file);
  };

  test('images: one that is only a name runs nothing in its place; once it is loaded, its program runs', async () => {
    const image = 'example.com/app:1';
    const spec = { restartPolicy: 'Never', containers: [{ name: 'app', image }] };
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'imaged' }, spec };
    expect(await moor.kubectlWith(JSON.stringify(pod), 'apply', '-f', '-')).toMatchObject({ code: 0 });
    const get = async (field: string) => (await moor.kubectl('get', 'pod', 'imaged', '-o', `jsonpath={.status.containerStatuses[0].${field}}`)).stdout;
    await expect.poll(() => get('state.waiting'), { timeout: 60_000 }).toContain('CreateContainerError');
    expect(await get('state.waiting.message')).toMatch(/^the program of image "example.com\/app:1" is not known: .*moor load FILE$/);
    const file = path.join(dataDir, 'app.tar');
    writeFileSync(file, ociArchive({ name: image, layers: [programsLayer()], config: { Cmd: ['sh', '-c', 'id -un; ls -d /usr/share /root'], User: 'app' } }));
    const loaded = await promisify(execFile)(process.execPath, ['dist/main/moor.js', 'load', file, '--data-dir', dataDir, '-o', 'json']);
    const [{ name, digest }] = JSON.parse(loaded.stdout) as [{ name: string; digest: string }];
    expect(name).toBe(image);
    await expect.poll(() => get('state.terminated.reason'), { timeout: 60_000 }).toBe('Error');
    expect(await get('imageID')).toBe(`example.com/app@${digest}`);
    await expect.poll(async () => (await moor.kubectl('logs', 'imaged')).stdout, { timeout: 60_000 }).toMatch(/^app\nls: .*\/usr\/share.*\nls: .*\/root.*\n$/);
    expect(await get('state')).not.toContain('running');
    const web = await moor.kubectl('get', 'pod', 'web', '-o', 'jsonpath={.status.containerStatuses[0].imageID}');
    expect(web.stdout).toBe('mooring.dev/host-image');
    expect(await moor.kubectl('delete', 'pod', 'imaged', '--timeout=60s')).toMatchObject({ code: 0 });
  });

  test('logs: of one container, --tail, --limit-bytes, --previous', async () => {
    // Output passes a pipe before it is in the log.
    await expect.poll(() => moor.kubectl('logs', 'web', '-c', 'app')).toMatchObject({ code: 0, stdout: 'one\ntwo\nbad\n' });
    expect(await moor.kubectl('logs', 'web', '-c', 'app', '--tail=1')).toMatchObject({ stdout: 'bad\n' });
    expect(await moor.kubectl('logs', 'web', '-c', 'app', '--limit-bytes=5')).toMatchObject({ stdout: 'one\nt' });
    expect((await moor.kubectl('logs', 'web', '-c', 'app', '--timestamps', '--tail=1')).stdout).toMatch(/^\d{4}-\d\d-\d\dT[\d:]+\.\d{9}Z bad\n$/);
    expect(await moor.kubectl('logs', 'web', '-c', 'app', '--previous')).toMatchObject({
      code: 1,
      stderr: 'Error from server (BadRequest): previous terminated container "app" in pod "web" not found\n',
    });
    await expect.poll(async () => (await moor.kubectl('logs', 'crash', '--previous')).stdout).toMatch(/^run \d+\n$/);
    expect(await moor.kubectl('logs', 'web', '-c', 'missing')).toMatchObject({ code: 1, stderr: 'error: container missing is not valid for pod web\n' });
  });

  test('logs are followed until the container ends', async () => {
    const script = 'for i in 1 2 3; do echo line $i; sleep 0.2; done';
    expect(await moor.kubectl('run', 'short', '--image=busybox', '--restart=Never', '--command', '--', 'sh', '-c', script)).toMatchObject({ code: 0 });
    await expect.poll(async () => (await moor.kubectl('logs', '-f', 'short')).stdout).toBe('line 1\nline 2\nline 3\n');
    expect(await moor.kubectl('wait', '--for=jsonpath={.status.phase}=Succeeded', 'pod/short', '--timeout=60s')).toMatchObject({ code: 0 });
  });

  test('exec: output, input, errors and exit codes, over WebSockets and over SPDY', async () => {
    expect(await moor.kubectl('exec', 'web', '-c', 'app', '--', 'sh', '-c', 'echo out; echo err >&2; exit 7')).toEqual({
      code: 7,
      stdout: 'out\n',
      stderr: 'err\ncommand terminated with exit code 7\n',
    });
    const missing = await moor.kubectl('exec', 'web', '-c', 'app', '--', 'no-such');
    expect(missing).toMatchObject({ code: 1, stdout: '' });
    expect(missing.stderr.replace(/[0-9a-f]{64}/, 'ID')).toBe(
      'error: Internal error occurred: error executing command in container: failed to exec in container: failed to start exec "ID": OCI runtime exec failed: exec failed: unable to start container process: exec: "no-such": executable file not found in $PATH: unknown\n',
    );
    expect(await moor.kubectlWith('through', 'exec', '-i', 'web', '-c', 'app', '--', 'cat')).toMatchObject({ code: 0, stdout: 'through' });
    const spdy = await bash('echo hi | KUBECTL_REMOTE_COMMAND_WEBSOCKETS=false kubectl exec -i web -c app -- sh -c "cat; exit 4"; echo "code $?"');
    expect(spdy.stdout).toBe('hi\ncode 4\n');
    const terminal = await bash('script -qec "kubectl exec -it web -c app -- sh -c \'test -t 0 && echo a terminal\'" /dev/null </dev/null');
    expect(terminal.stdout).toContain('a terminal');
  });

  test('debug: an ephemeral container with the process namespace of its target', async () => {
    const look = "sh -c 'ps ax; read line; echo got $line; exit 3'";
    const debug = await bash(`echo word | kubectl debug -i web --image=busybox --target=app --profile=general -c debugger -- ${look}`);
    // kubectl may attach late: earlier output is in the log.
    expect(debug.code).toBe(0);
    const state = 'jsonpath={.status.ephemeralContainerStatuses[0].state.terminated.exitCode}';
    await expect.poll(async () => (await moor.kubectl('get', 'pod', 'web', '-o', state)).stdout).toBe('3');
    const logs = await moor.kubectl('logs', 'web', '-c', 'debugger');
    expect(logs.stdout).toContain('echo ready >/tmp/ready');
    expect(logs.stdout).toContain('got word\n');
    expect(await moor.kubectl('get', 'pod', 'web', '-o', 'jsonpath={.status.phase} {.status.containerStatuses[*].ready}')).toMatchObject({
      stdout: 'Running true true',
    });
  });

  test('patch --subresource resize: the running container gets its new limits', async () => {
    const limits = (cpu: string) => JSON.stringify({ spec: { containers: [{ name: 'app', resources: { limits: { cpu }, requests: { cpu: '50m' } } }] } });
    const refused = await moor.kubectl('patch', 'pod', 'web', '--subresource', 'resize', '-p', limits('200m'));
    expect(refused).toMatchObject({
      code: 1,
      stderr: 'The Pod "web" is invalid: spec: Invalid value: "BestEffort": Pod QOS Class may not change as a result of resizing\n',
    });
    const pod = {
      metadata: { name: 'sized' },
      spec: { terminationGracePeriodSeconds: 1, containers: [{ name: 'app', image: 'pause', resources: { requests: { cpu: '10m' } } }] },
    };
    expect(await moor.kubectlWith(JSON.stringify({ apiVersion: 'v1', kind: 'Pod', ...pod }), 'apply', '-f', '-')).toMatchObject({ code: 0 });
    expect(await moor.kubectl('wait', '--for=condition=Ready', 'pod/sized', '--timeout=60s')).toMatchObject({ code: 0 });
    expect(await moor.kubectl('patch', 'pod', 'sized', '--subresource', 'resize', '-p', limits('200m'))).toMatchObject({ code: 0 });
    const has = 'jsonpath={.status.containerStatuses[0].resources.limits.cpu} {.status.containerStatuses[0].restartCount} {.status.observedGeneration}';
    await expect.poll(async () => (await moor.kubectl('get', 'pod', 'sized', '-o', has)).stdout).toBe('200m 0 2');
    expect(await moor.kubectlEditing('sed -i "0,/cpu: 200m/s//cpu: 300m/"', 'edit', 'pod', 'sized', '--subresource', 'resize')).toMatchObject({ code: 0 });
    await expect.poll(async () => (await moor.kubectl('get', 'pod', 'sized', '-o', has)).stdout).toBe('300m 0 3');
  });

  test('cp: there and back', async () => {
    const [there, back] = [path.join(dataDir, 'there'), path.join(dataDir, 'back')];
    writeFileSync(there, 'x'.repeat(1_000_000));
    expect(
      await bash(`kubectl cp ${there} web:/tmp/copied -c app && kubectl cp web:/tmp/copied ${back} -c app >/dev/null && cmp ${there} ${back} && echo same`),
    ).toMatchObject({ code: 0, stdout: 'same\n' });
  });

  test('port-forward: several connections to a port of the loopback', async () => {
    const forwarding = moor.spawnKubectl('port-forward', 'pod/web', ':8080');
    try {
      const port = await new Promise<number>((resolve) => {
        forwarding.stdout.on('data', (chunk: Buffer) => {
          const found = /127\.0\.0\.1:(\d+) ->/.exec(chunk.toString())?.[1];
          if (found !== undefined) resolve(Number(found));
        });
      });
      for (let i = 0; i < 2; i++) expect(await get(port)).toBe('hello');
    } finally {
      forwarding.kill();
    }
  });

  test('a server and agent that are killed find their pods running, and stop them when they are deleted', async () => {
    const before = (await moor.kubectl('get', 'pod', 'web', '-o', 'jsonpath={.status.containerStatuses[*].containerID}')).stdout;
    await moor.stop('SIGKILL');
    moor = await startMoor({ dataDir, args });
    expect(await moor.kubectl('exec', 'web', '-c', 'app', '--', 'cat', '/tmp/ready')).toMatchObject({ code: 0, stdout: 'ready\n' });
    expect(
      (await moor.kubectl('get', 'pod', 'web', '-o', 'jsonpath={.status.containerStatuses[*].containerID} {.status.containerStatuses[*].restartCount}')).stdout,
    ).toBe(`${before} 0 0`);
    expect(await moor.kubectl('delete', 'pod', 'web', 'crash', 'short', 'sized', '--timeout=60s')).toMatchObject({ code: 0 });
    expect((await moor.kubectl('get', 'pods')).stderr).toBe('No resources found in default namespace.\n');
  });
});

const get = (port: number): Promise<string> =>
  new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, agent: false }, (answer) => void text(answer).then(resolve, reject))
      .on('error', reject)
      .end();
  });
