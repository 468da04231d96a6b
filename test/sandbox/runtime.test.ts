import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ContainerRun, ContainerSpec, PodSandboxSpec, PodState, Runtime } from '../../src/node/runtime.ts';
import { layoutOf } from '../../src/node/runtimes/sandbox/shim/layout.ts';
import { directoriesOf, marked } from '../../src/node/runtimes/sandbox/shim/processes.ts';
import { containerSpec, describeWithSandboxes, type Machine, podSpec, sandboxMachine } from './sandboxes.ts';

describeWithSandboxes('containers of the sandbox runtime', () => {
  let machine: Machine;
  let runtime: Runtime;
  beforeAll(async () => {
    machine = await sandboxMachine();
    runtime = machine.agent();
    await runtime.recover();
  });
  afterAll(() => machine.dispose());

  const started = async (over: Partial<ContainerSpec> = {}, pod: Partial<PodSandboxSpec> = {}): Promise<{ uid: string; run: ContainerRun }> => {
    const spec = podSpec(pod);
    expect(await runtime.startPod(spec)).toMatchObject({ ok: true });
    const result = await runtime.startContainer(containerSpec(spec.uid, over));
    if (!result.ok) throw new Error(result.error.message);
    return { uid: spec.uid, run: result.value };
  };
  const hasEnded = (pod: PodState | undefined) => pod?.runs.every(({ state }) => state.type === 'exited') === true;
  const endOf = async (uid: string) => (await machine.until(runtime, uid, hasEnded))?.runs.at(-1);
  const logOf = async (id: string) => {
    const files = await runtime.logFiles(id);
    return files.map((file) => readFileSync(file, 'utf8')).join('');
  };
  const shell = (script: string): Partial<ContainerSpec> => ({ args: [script] });

  test('run their command, with their variables, user, groups and working directory', async () => {
    const { uid, run } = await started({
      ...shell('echo "$GREETING from $(pwd) as $(id -u):$(id -g) in $(id -G)"; echo oops >&2; echo "pid $$"; cat /etc/hosts; exit 3'),
      env: [{ name: 'GREETING', value: "it's me" }],
      workingDir: '/made/for/it',
      user: { uid: 1234, gid: 2345, groups: [7, 8] },
    });
    expect((await endOf(uid))?.state).toMatchObject({ type: 'exited', exitCode: 3, reason: 'Error', message: '' });
    const lines = (await logOf(run.id)).trim().split('\n');
    for (const line of lines) expect(line).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z (stdout|stderr) F /);
    const said = (stream: string) => lines.filter((line) => line.includes(` ${stream} F `)).map((line) => line.split(' ').slice(3).join(' '));
    // Of a pod on the host's network: the host's own lines come first.
    const hosts = ['# Kubernetes-managed hosts file (host network).', ...readFileSync('/etc/hosts', 'utf8').trim().split('\n'), '127.0.0.1\tlocalhost'];
    expect(said('stdout')).toEqual(["it's me from /made/for/it as 1234:2345 in 2345 7 8", 'pid 1', ...hosts]);
    expect(said('stderr')).toEqual(['oops']);
  });

  test('mount propagation: HostToContainer sees mounts of the host, Bidirectional shows its own to the host', async () => {
    const volume = path.join(machine.root, 'shared');
    mkdirSync(path.join(volume, 'later'), { recursive: true });
    const mount = { volume: 'v', recursiveReadOnly: false, hostPath: volume, containerPath: '/v', readOnly: false };
    const sharing = { privileged: true, mounts: [{ ...mount, propagation: 'shared' }] } as const;
    execFileSync('sh', ['-c', 'mount --bind "$0" "$0" && mount --make-private "$0"', volume]);
    try {
      await expect(started({ ...shell('true'), ...sharing })).rejects.toThrow(`path "${volume}" is mounted on "${volume}" but it is not a shared mount`);
      execFileSync('mount', ['--make-shared', volume]);
      const mounted = () =>
        readFileSync('/proc/self/mountinfo', 'utf8')
          .split('\n')
          .filter((line) => line.includes(machine.root) || line.includes(' /proc/fs '));
      const before = mounted().length;
      const follower = await started({ ...shell('until cat /v/later/file 2>/dev/null; do sleep 0.05; done'), mounts: [{ ...mount, propagation: 'slave' }] });
      await started({ ...shell('mount -t tmpfs inside /v/later && echo from inside >/v/later/file; sleep infinity'), ...sharing });
      expect((await endOf(follower.uid))?.state).toMatchObject({ exitCode: 0 });
      expect(await logOf(follower.run.id)).toContain('from inside');
      expect(readFileSync(path.join(volume, 'later/file'), 'utf8')).toBe('from inside\n');
      // That mount, and no other mount of the containers.
      expect(mounted()).toHaveLength(before + 1);
    } finally {
      execFileSync('umount', ['-R', '-l', volume]);
    }
  });

  test('outlive shims that are started beside theirs: those end, and serve nothing', async () => {
    const { uid, run } = await started(shell('sleep infinity'));
    expect(await Promise.all([machine.startShim(), machine.startShim()])).toEqual([0, 0]);
    expect(runtime.pod(uid)?.runs.map(({ id, state }) => [id, state.type])).toEqual([[run.id, 'running']]);
    await runtime.stopPod(uid);
  });

  test('see their volumes, and leave the host unchanged', async () => {
    const volume = path.join(machine.root, 'volume');
    mkdirSync(volume, { recursive: true });
    writeFileSync(path.join(volume, 'file'), 'from the host\n');
    const mount = { volume: 'v', recursiveReadOnly: false, propagation: 'private' } as const;
    const { uid, run } = await started({
      ...shell(
        'cat /var/run/data/file /etc/only/this; echo from inside >/var/run/data/new; echo x >/etc/only/this; echo x >/usr/of-the-container; ls /usr/of-the-container /tmp | wc -l',
      ),
      mounts: [
        { ...mount, hostPath: path.join(volume, 'file'), containerPath: '/etc/only/this', readOnly: true },
        { ...mount, hostPath: volume, containerPath: '/var/run/data', readOnly: false },
      ],
    });
    await endOf(uid);
    expect(readFileSync(path.join(volume, 'new'), 'utf8')).toBe('from inside\n');
    expect(readFileSync(path.join(volume, 'file'), 'utf8')).toBe('from the host\n');
    expect(() => readFileSync('/usr/of-the-container')).toThrow();
    expect(await logOf(run.id)).toMatch(/from the host\n.*from the host\n.*cannot create \/etc\/only\/this: Read-only file system/s);
  });

  test('see the targets of the host’s links; a missing directory is made', async () => {
    const at = (name: string) => path.join(machine.root, name);
    mkdirSync(at('linked'));
    symlinkSync(at('linked'), at('link'));
    const mount = { volume: 'v', recursiveReadOnly: false, propagation: 'private', readOnly: false } as const;
    const { uid } = await started({
      ...shell('echo written >/link/file && echo written >/missing/file'),
      mounts: [
        { ...mount, hostPath: at('link'), containerPath: '/link' },
        { ...mount, hostPath: at('missing/below'), containerPath: '/missing' },
      ],
    });
    expect((await endOf(uid))?.state).toMatchObject({ exitCode: 0 });
    expect(readFileSync(at('linked/file'), 'utf8')).toBe('written\n');
    expect(readFileSync(at('missing/below/file'), 'utf8')).toBe('written\n');
  });

  test('are not led to the host by links in volumes while their root is assembled', async () => {
    const at = (name: string) => path.join(machine.root, name);
    mkdirSync(at('of-others'));
    mkdirSync(at('written'));
    symlinkSync(`/.host${at('of-others')}`, at('written/out'));
    // With hostPID, the roots of the host's processes are visible.
    symlinkSync(`/proc/${process.pid}/root${at('of-others')}`, at('written/root'));
    symlinkSync('round', at('written/round'));
    const mount = { volume: 'v', recursiveReadOnly: false, propagation: 'private', readOnly: false, hostPath: at('written') } as const;
    const startedAt = (containerPath: string, message = '/dev/termination-log') =>
      started({
        ...shell(`cd ${at('of-others/made')} || cd /.host${at('of-others/made')}`),
        hostPid: true,
        mounts: [
          { ...mount, containerPath: '/written' },
          { ...mount, containerPath },
        ],
        terminationMessage: { path: message, orLastLog: false },
      });
    for (const link of ['out', 'root']) {
      const { uid } = await startedAt(`/written/${link}/made`, `/written/${link}/message`);
      expect((await endOf(uid))?.state, link).toMatchObject({ exitCode: 0 });
    }
    expect(readdirSync(at('of-others'))).toEqual([]);
    await expect(startedAt('/written/round/made')).rejects.toThrow('cannot mount /written/round/made: too many levels of symbolic links');
  });

  test('do not start in a directory of the host, although they see its processes', async () => {
    const outside = started({ ...shell('ls'), hostPid: true, workingDir: `/proc/${process.pid}/root${machine.root}` });
    await expect(outside).rejects.toThrow('current working directory is outside of container mount namespace root');
    const { uid } = await started({ ...shell('[ "$(pwd)" = /made ]'), hostPid: true, workingDir: '/made' });
    expect((await endOf(uid))?.state).toMatchObject({ exitCode: 0 });
  });

  test('that are not privileged cannot change the machine, nor open its disks', async () => {
    const script =
      'for file in sysrq-trigger sys/kernel/core_pattern sys/vm/drop_caches; do [ ! -w /proc/$file ] || echo "open: $file"; done; mknod /tmp/null c 1 3 || echo refused';
    const { uid, run } = await started(shell(script));
    await endOf(uid);
    expect(await logOf(run.id)).toMatch(/refused\n$/);
    expect(await logOf(run.id)).not.toContain('open:');
    const privileged = await started({ ...shell('mknod /tmp/null c 1 3'), privileged: true });
    expect((await endOf(privileged.uid))?.state).toMatchObject({ exitCode: 0 });
  });

  test('have a read-only root if they ask for it, with all that an image has', async () => {
    const script =
      'for place in / /tmp /run /root /usr/bin /usr/local/bin /etc /var/tmp; do touch $place/x && echo written; done; touch /dev/shm/x && echo fine';
    const { uid, run } = await started({ ...shell(script), readOnlyRoot: true });
    await endOf(uid);
    expect(await logOf(run.id)).toMatch(/stdout F fine/);
    expect(await logOf(run.id)).not.toContain('written');
  });

  test('leave a termination message; with FallbackToLogsOnError, the end of their log', async () => {
    const user = { user: { uid: 1000, gid: 1000, groups: [] } };
    const own = await started({ ...shell('echo -n "out of luck" >/dev/termination-log; exit 1'), ...user });
    expect((await endOf(own.uid))?.state).toMatchObject({ message: 'out of luck' });
    const log = await started({ ...shell('echo first; printf last; exit 1'), terminationMessage: { path: '/dev/termination-log', orLastLog: true } });
    expect((await endOf(log.uid))?.state).toMatchObject({ message: 'first\nlast' });
  });

  test('whose program is missing do not start, with the message of runtimes', async () => {
    const spec = podSpec();
    await runtime.startPod(spec);
    const result = await runtime.startContainer(containerSpec(spec.uid, { command: ['no-such-program'], args: [] }));
    expect(result).toMatchObject({
      ok: false,
      error: { reason: 'start', message: expect.stringContaining('exec: "no-such-program": executable file not found in $PATH: unknown') },
    });
    expect(runtime.pod(spec.uid)?.runs[0]?.state).toMatchObject({ type: 'exited', exitCode: 128, reason: 'StartError' });
  });

  test('get as many variables as Linux permits, and an error for more', async () => {
    const long = (value: number, count: number) => Array.from({ length: count }, (_, number) => ({ name: `V${number}`, value: 'v'.repeat(value) }));
    const { uid } = await started({ args: ['[ ${#V0} = 120000 ] && [ ${#V11} = 120000 ] && [ ${#0} = 100000 ]', 'a'.repeat(100_000)], env: long(120_000, 12) });
    expect((await endOf(uid))?.state).toMatchObject({ exitCode: 0 });
    for (const env of [long(131_072, 1), long(100_000, 22)]) {
      const spec = podSpec();
      await runtime.startPod(spec);
      const message = expect.stringContaining('exec sh: argument list too long: unknown');
      expect(await runtime.startContainer(containerSpec(spec.uid, { env }))).toMatchObject({ ok: false, error: { reason: 'start', message } });
      expect(runtime.pod(spec.uid)?.runs[0]?.state).toMatchObject({ type: 'exited', exitCode: 128, reason: 'StartError', message });
    }
  });

  test('cannot write to mounts below a recursively read-only volume', async () => {
    const volume = path.join(machine.root, 'nested');
    mkdirSync(path.join(volume, 'below'), { recursive: true });
    execFileSync('mount', ['-t', 'tmpfs', 'below', path.join(volume, 'below')]);
    try {
      const mount = { volume: 'v', hostPath: volume, containerPath: '/v', readOnly: true, propagation: 'private' } as const;
      const script = shell('touch /v/file || echo refused; touch /v/below/file && echo written');
      const itself = await started({ ...script, mounts: [{ ...mount, recursiveReadOnly: false }] });
      await endOf(itself.uid);
      expect(await logOf(itself.run.id)).toMatch(/refused\n.*written\n$/s);
      const all = await started({ ...script, mounts: [{ ...mount, recursiveReadOnly: true }] });
      await endOf(all.uid);
      expect(await logOf(all.run.id)).toMatch(/^(?!.*written).*refused/s);
    } finally {
      execFileSync('umount', ['-l', path.join(volume, 'below')]);
    }
  });

  test('get a stop signal, and are killed with all their processes after the grace period', async () => {
    const polite = await started(shell("trap 'echo bye; exit 0' TERM; echo up; while :; do sleep 0.05; done"));
    const rude = await started(shell("trap '' TERM; echo up; sleep infinity & while :; do sleep 0.05; done"));
    await Promise.all([polite, rude].map(({ run }) => awaitLog(run.id, 'up')));
    const plain = await started({ command: ['sleep', 'infinity'] });
    await Promise.all([
      runtime.stopContainer(polite.run.id, 120_000),
      runtime.stopContainer(rude.run.id, 100),
      // It leaves the signal to the kernel, which does not deliver it: it is not waited for.
      runtime.stopContainer(plain.run.id, 120_000),
    ]);
    expect((await endOf(polite.uid))?.state).toMatchObject({ exitCode: 0, reason: 'Completed' });
    expect((await endOf(rude.uid))?.state).toMatchObject({ exitCode: 137, reason: 'Error' });
  });

  const awaitLog = async (id: string, what: string): Promise<void> => expect.poll(() => logOf(id), { interval: 10 }).toContain(what);

  test('of one pod share its network and hostname, and reach those of another pod', async () => {
    const host = { address: addressOf(machine, 5), hostname: 'first' };
    const server = await started(
      {
        ...shell(
          'hostname; exec perl -MIO::Socket::INET -e \'$s=IO::Socket::INET->new(LocalPort=>8080,Listen=>5,ReuseAddr=>1) or die; $|=1; print "up\\n"; while($c=$s->accept){print $c "hello\\n";close $c}\'',
        ),
      },
      host,
    );
    await awaitLog(server.run.id, 'up');
    expect(await logOf(server.run.id)).toContain(' first\n');
    const dial = `exec perl -MIO::Socket::INET -e '$s=IO::Socket::INET->new("${host.address}:8080") or die $!; print <$s>'`;
    const other = await started(shell(dial), { address: addressOf(machine, 6) });
    expect((await endOf(other.uid))?.state).toMatchObject({ exitCode: 0 });
    expect(await logOf(other.run.id)).toContain('hello');
    const connection = await runtime.connect(server.uid, 8080);
    if (!connection.ok) throw new Error(connection.error.message);
    expect(await text(connection.value)).toBe('hello\n');
  });

  test('are reached on their own loopback, from nowhere else', async () => {
    const listening = `exec perl -MIO::Socket::INET -e '$s=IO::Socket::INET->new(LocalAddr=>"127.0.0.1",LocalPort=>8080,Listen=>5) or die; $|=1; print "up\\n"; while($c=$s->accept){print $c "got ".<$c>;close $c}'`;
    const { uid, run } = await started(shell(listening), { address: addressOf(machine, 7) });
    await awaitLog(run.id, 'up');
    for (const line of ['first', 'second']) {
      const connection = await runtime.connect(uid, 8080);
      if (!connection.ok) throw new Error(connection.error.message);
      connection.value.write(`${line}\n`);
      expect(await text(connection.value)).toBe(`got ${line}\n`);
    }
    const message = `failed to connect to localhost:8081 inside namespace "${uid}", IPv4: dial tcp4 127.0.0.1:8081: connect: connection refused`;
    expect(await runtime.connect(uid, 8081)).toEqual({ ok: false, error: { reason: 'failed', message } });
  });

  test('exec: programs with input, output and exit code', async () => {
    const { run } = await started({ user: { uid: 1234, gid: 1234, groups: [] }, env: [{ name: 'A', value: 'b' }] });
    const session = await runtime.exec(run.id, { command: ['sh', '-c', 'cat; echo "$A $(id -u)" >&2; exit 7'], stdin: true, tty: false });
    if (!session.ok) throw new Error(session.error.message);
    const { stdin, stdout, stderr, done } = session.value;
    stdin?.end('through the pipe');
    const [out, err] = await Promise.all([read(stdout), read(stderr)]);
    expect([out, err, await done]).toEqual(['through the pipe', 'b 1234\n', 7]);
  });

  test('keep their variables secret: they are in the arguments of no process', async () => {
    const { run } = await started({ ...shell('echo up; sleep infinity'), env: [{ name: 'PASSWORD', value: 'only-for-the-container' }] });
    await awaitLog(run.id, 'up');
    const session = await runtime.exec(run.id, { command: ['sh', '-c', 'echo "$PASSWORD"; cat'], stdin: true, tty: false });
    if (!session.ok) throw new Error(session.error.message);
    const { stdin, stdout, done } = session.value;
    await new Promise((resolve) => stdout?.once('data', (chunk: Buffer) => resolve(expect(chunk.toString()).toBe('only-for-the-container\n'))));
    const leaking = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && argumentsOf(name).includes('only-for-the-container'));
    expect(leaking).toEqual([]);
    stdin?.end();
    expect(await done).toBe(0);
  });

  test('have a terminal of the client’s size', async () => {
    const { run } = await started();
    const session = await runtime.exec(run.id, { command: ['sh'], stdin: true, tty: true });
    if (!session.ok) throw new Error(session.error.message);
    const { stdin, stdout, done } = session.value;
    let seen = '';
    stdout?.on('data', (chunk: Buffer) => {
      seen += chunk.toString();
    });
    session.value.resize({ width: 123, height: 45 });
    stdin?.write('test -t 0 && until [ "$(stty size)" = "45 123" ]; do sleep 0.02; done; echo si"ze" fits; exit 4\n');
    expect(await done).toBe(4);
    expect(seen).toContain('size fits');
  });

  test('attach: output and input', async () => {
    const { uid, run } = await started({ ...shell('read line; echo "got $line"'), stdin: true, stdinOnce: true });
    const session = await runtime.attach(run.id, { stdin: true, stdout: true, stderr: true });
    if (!session.ok) throw new Error(session.error.message);
    session.value.stdin?.write('a line\n');
    expect(await read(session.value.stdout)).toBe('got a line\n');
    expect(await session.value.done).toBe(0);
    await endOf(uid);
  });

  test('over their memory limit are OOM killed', async () => {
    const { uid } = await started({
      ...shell('exec perl -e \'$x = "a" x (200*1024*1024); sleep 5\''),
      resources: { cpuMilli: 500, cpuRequestMilli: 100, memoryBytes: 32 * 1024 * 1024 },
    });
    expect((await endOf(uid))?.state).toMatchObject({ exitCode: 137, reason: 'OOMKilled' });
  });

  test('continue when the agent ends, and the next one finds them; so does it find how they ended', async () => {
    const { uid, run } = await started(shell("trap 'exit 5' TERM; echo up; while :; do sleep 0.05; done"));
    await awaitLog(run.id, 'up');
    const next = machine.agent();
    const found = await next.recover();
    expect(found.find((pod) => pod.uid === uid)?.runs).toMatchObject([{ id: run.id, state: { type: 'running' } }]);
    await next.stopContainer(run.id, 120_000);
    const last = machine.agent();
    expect((await last.recover()).find((pod) => pod.uid === uid)?.runs[0]?.state).toMatchObject({ type: 'exited', exitCode: 5 });
    await last.removePod(uid);
    await expect.poll(() => runtime.pod(uid)).toBeUndefined();
  });

  test('leave no control group and no process behind', async () => {
    const own = await sandboxMachine();
    const agent = own.agent();
    await agent.recover();
    const spec = podSpec({});
    expect(await agent.startPod(spec)).toMatchObject({ ok: true });
    expect(
      await agent.startContainer(
        containerSpec(spec.uid, { args: ['true'], resources: { cpuMilli: undefined, cpuRequestMilli: undefined, memoryBytes: 64 * 1024 * 1024 } }),
      ),
    ).toMatchObject({ ok: true });
    await own.until(agent, spec.uid, hasEnded);
    await agent.removePod(spec.uid);
    await agent.close();
    const { group } = layoutOf(own.root);
    await expect.poll(() => ['', 'memory', 'cpu'].filter((name) => existsSync(path.join('/sys/fs/cgroup', name, group)))).toEqual([]);
    await expect.poll(() => marked(`shim ${own.root}`).size).toBe(0);
    await own.dispose();
  });

  test('end with their shim, and the next one reports it', async () => {
    const { uid, run } = await started({ ...shell('echo up; exec sleep infinity'), user: { uid: 1234, gid: 1234, groups: [] } });
    await awaitLog(run.id, 'up');
    // The end of its parent does not end a process that has changed its user.
    const changes = await started({
      command: ['perl', '-e', '$| = 1; $< = $> = 1234; print "up\\n"; sleep 1000'],
      args: [],
      resources: { cpuMilli: undefined, cpuRequestMilli: undefined, memoryBytes: 64 * 1024 * 1024 },
    });
    await awaitLog(changes.run.id, 'up');
    const processes = () => directoriesOf(layoutOf(machine.root).group).flatMap((group) => readFileSync(path.join(group, 'cgroup.procs'), 'utf8').trim());
    expect(processes().filter((pids) => pids !== '')).not.toEqual([]);
    const shim = marked(`shim ${machine.root}`);
    expect(shim.size).toBe(1);
    for (const pid of shim.values()) process.kill(pid, 'SIGKILL');
    expect((await endOf(uid))?.state).toMatchObject({ exitCode: 137, reason: 'ContainerStatusUnknown' });
    expect(runtime.pod(uid)?.sandbox).toBeUndefined();
    // Whether its processes are gone as well.
    await expect.poll(() => processes().filter((pids) => pids !== '')).toEqual([]);
    await expect.poll(() => marked(`${layoutOf(machine.root).name}:`).size).toBe(0);
  });
});

const read = (stream: Readable | undefined): Promise<string> => (stream === undefined ? Promise.resolve('') : text(stream));

const addressOf = (machine: Machine, last: number): string => `${machine.podCidr.split('.').slice(0, 3).join('.')}.${last}`;

function argumentsOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return ''; // it has ended meanwhile
  }
}
