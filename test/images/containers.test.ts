import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Pod } from '../../src/api/generated/types.ts';
import { withImage } from '../../src/node/images/container-image.ts';
import { loadArchive } from '../../src/node/images/load-archive.ts';
import type { ContainerSpec, Runtime } from '../../src/node/runtime.ts';
import { containersOf, type Containers } from '../sandbox/containers.ts';
import { containerSpec, describeWithSandboxes, type Machine, sandboxMachine } from '../sandbox/sandboxes.ts';
import { ociArchive, programsLayer, tarOf } from './archives.ts';
import { type TestImages, testImages } from './layer-program.ts';

const pod = { metadata: {}, spec: { containers: [] } } as unknown as Pod;

describeWithSandboxes('containers of images', () => {
  let store: TestImages;
  let machine: Machine;
  let runtime: Runtime;
  let containers: Containers;
  let complete: (over: Partial<ContainerSpec>) => Partial<ContainerSpec>;
  beforeAll(async () => {
    [store, machine] = await Promise.all([testImages(), sandboxMachine()]);
    runtime = machine.agent();
    await runtime.recover();
    containers = containersOf(machine, runtime);
    const file = path.join(store.directory, 'app.tar');
    // More layers than the text of one parameter of a mount has room for.
    const layers = [
      programsLayer([{ name: 'layer', content: 'lowest' }]),
      ...Array.from({ length: 12 }, (_, i) => tarOf([{ name: 'layer', content: `number ${i}` }])),
    ];
    const config = {
      Entrypoint: ['sh', '-c'],
      Cmd: ['id; pwd; echo $COLOR; cat /layer; echo; ls /'],
      Env: ['PATH=/bin', 'COLOR=red'],
      User: 'app',
      WorkingDir: '/home/app',
    };
    writeFileSync(file, ociArchive({ name: 'app', layers, config }));
    const [loaded] = await loadArchive(file, store.images);
    const ready = await store.images.prepare(loaded?.digest ?? '');
    complete = (over) => {
      const { podUid: _, ...spec } = withImage(containerSpec('', { command: [], args: [], ...over }), ready, pod) as ContainerSpec;
      return spec;
    };
  });
  afterAll(async () => {
    await machine.dispose();
    await store.dispose();
  });

  test('run its command as its user, with its variables, in its directory, and see its files only', async () => {
    const lines = (await containers.output(complete({}))).split('\n');
    expect(lines.slice(0, 4)).toEqual(['uid=1000(app) gid=1001(app) groups=1001(app),2000(extra)', '/home/app', 'red', 'number 11']);
    const own = ['bin', 'dev', 'etc', 'home', 'layer', 'lib', 'lib64', 'proc', 'sys', 'tmp', 'usr', 'var'];
    expect(lines.slice(4).filter((name) => !own.includes(name))).toEqual([]);
  });

  test('have a terminal though the image has no program for it: of the pod, and of exec', async () => {
    const ask = 'test -t 0 && test -t 1 && test -t 2 && echo to >/dev/tty && readlink /proc/self/fd/0 && echo again >/dev/stdout; exit 3';
    const terminal = ['to', '/dev/pts/0', 'again'];
    expect((await containers.output(complete({ tty: true, args: [ask] }))).split('\r\n').slice(0, 3)).toEqual(terminal);
    const { id } = await containers.start(complete({ args: ['while :; do sleep 1; done'] }));
    const session = await runtime.exec(id, { command: ['sh', '-c', `read a b && ${ask}`], stdin: true, tty: true });
    if (!session.ok) throw new Error(session.error.message);
    session.value.stdin?.write('typed line\r');
    const seen = await text(session.value.stdout ?? Readable.from([]));
    // The terminal echoes what is typed.
    expect(seen.split('\r\n').slice(0, 4)).toEqual(['typed line', ...terminal]);
    expect(await session.value.done).toBe(3);
  });

  test('lose no output of a terminal that its program leaves at once', async () => {
    const output = await containers.output(complete({ tty: true, args: ['i=0; while [ $i -lt 3000 ]; do echo "line $i"; i=$((i+1)); done'] }));
    expect(output.split('\r\n')).toEqual(Array.from({ length: 3000 }, (_, i) => `line ${i}`));
  });

  test('write to a layer of their own: the image and other containers do not change', async () => {
    const user = { uid: 0, gid: 0, groups: [] };
    await containers.output(complete({ command: ['sh', '-c', 'echo changed >/layer; echo x >/bin/new'], user }));
    expect(await containers.output(complete({ command: ['sh', '-c', 'cat /layer; ls /bin/new'], user }))).toContain('number 11');
    expect((await store.images.names()).length).toBe(1);
  });

  test('as root, see neither files of the host nor what is masked', async () => {
    writeFileSync(path.join(store.directory, 'secret'), 'host');
    const reads = [
      path.join(store.directory, 'secret'),
      '/etc/shadow',
      '/etc/machine-id',
      '/usr/bin/node',
      '/var/lib/dpkg/status',
      '/proc/kcore',
      '/proc/keys',
      '/proc/1/root/../etc/shadow',
    ];
    const tries = reads.map((file) => `head -c 1 ${file} >/dev/null 2>&1 && [ -n "$(head -c 1 ${file})" ] && echo sees ${file}`);
    const script = [...tries, 'echo b >/proc/sysrq-trigger && echo wrote sysrq', 'echo x >/sys/kernel/x && echo wrote sys', 'echo done'].join('; ');
    const output = await containers.output(complete({ command: ['sh', '-c', `{ ${script}; } 2>/dev/null`], user: { uid: 0, gid: 0, groups: [] } }));
    expect(output).toBe('done');
    expect(existsSync(path.join(store.directory, 'secret'))).toBe(true);
  });

  test('end by the stop signal of their image', async () => {
    const uid = await containers.pod();
    const script = 'trap "exit 7" QUIT; echo up; while :; do sleep 0.1; done';
    const { id } = await containers.start({ ...complete({ command: ['sh', '-c', script] }), stopSignal: 3 }, uid);
    await expect.poll(async () => containers.exec(id, ['/bin/cat', '/proc/1/status']), { timeout: 60_000 }).toMatch(/SigCgt:\s*[0-9a-f]*[4567cdef]$/m);
    await runtime.stopContainer(id, 60_000);
    expect(runtime.pod(uid)?.runs[0]?.state).toMatchObject({ type: 'exited', exitCode: 7 });
  });

  test('whose program the image does not have do not start', async () => {
    await expect(containers.start(complete({ command: ['/usr/bin/perl'] }))).rejects.toThrow('no such file or directory');
  });
});
