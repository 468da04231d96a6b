/** What a container's first process, and each further one, is and has: before anything of the container's root is executed. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ContainerMount } from '../../src/node/contract.ts';
import type { ContainerSpec, Runtime } from '../../src/node/runtime.ts';
import { marked } from '../../src/node/runtimes/sandbox/shim/processes.ts';
import { layoutOf } from '../../src/node/runtimes/sandbox/shim/layout.ts';
import { type Containers, containersOf } from './containers.ts';
import { describeWithSandboxes, type Machine, sandboxMachine } from './sandboxes.ts';

describeWithSandboxes('the processes of a container', () => {
  let machine: Machine;
  let runtime: Runtime;
  let containers: Containers;
  beforeAll(async () => {
    machine = await sandboxMachine();
    // The shim, like moor, may be started with open descriptors.
    runtime = machine.agent(['bash', '-c', 'exec 5<>/etc/passwd 23</ 37</etc; exec "$0" "$@"']);
    await runtime.recover();
    containers = containersOf(machine, runtime);
  });
  afterAll(() => machine.dispose());

  const nonRoot = { user: { uid: 1234, gid: 2345, groups: [7, 8, 7] } };
  const all = readFileSync('/proc/self/status', 'utf8').match(/^CapBnd:\t(\w+)$/m)?.[1] ?? '';
  const none = '0'.repeat(16);
  const usual = '00000000a00425fb';
  const shell = (script: string): Partial<ContainerSpec> => ({ command: ['/bin/sh', '-c'], args: [script] });
  const facts = 'grep -E "^(Cap|NoNewPrivs|Seccomp:|Groups|Uid|Gid|Sig(Blk|Ign)|Umask)" /proc/self/status';
  /** The same for a container's own program and for one beside it. */
  const factsOf = async (over: Partial<ContainerSpec>): Promise<Readonly<Record<string, string>>> => {
    const read = (lines: string) =>
      Object.fromEntries(
        lines
          .split('\n')
          .map((line) => line.split(/:\s*/))
          .map(([name = '', value = '']) => [name, value.trim()]),
      );
    const own = read(await containers.output({ ...shell(facts), ...over }));
    const { id } = await containers.start({ ...shell('exec sleep infinity'), ...over });
    expect(read(await containers.exec(id, ['/bin/sh', '-c', facts]))).toEqual(own);
    return own;
  };
  const capabilities = (bounding: string, effective = bounding) => ({ CapInh: none, CapPrm: effective, CapEff: effective, CapBnd: bounding, CapAmb: none });

  test('have the rights of their user, and no others', async () => {
    const inherited = { SigBlk: none, SigIgn: none, Umask: '0022' };
    expect(await factsOf({})).toMatchObject({ ...capabilities(usual), ...inherited, NoNewPrivs: '0', Seccomp: '0', Groups: '' });
    const ids = { Uid: '1234\t1234\t1234\t1234', Gid: '2345\t2345\t2345\t2345', Groups: '7 8' };
    expect(await factsOf(nonRoot)).toMatchObject({ ...capabilities(usual, none), ...inherited, ...ids });
    expect(await factsOf({ privileged: true })).toMatchObject(capabilities(all));
    expect(await factsOf({ ...nonRoot, privileged: true })).toMatchObject(capabilities(all, none));
    expect(await factsOf({ capabilities: { add: [], drop: ['ALL'] }, noNewPrivileges: true })).toMatchObject({ ...capabilities(none), NoNewPrivs: '1' });
    expect(await factsOf({ capabilities: { add: ['CAP_SYS_PTRACE'], drop: ['all'] } })).toMatchObject(capabilities('0000000000080000'));
    expect(await factsOf({ capabilities: { add: ['ALL'], drop: ['CHOWN'] } })).toMatchObject({ CapEff: all.replace(/.$/, 'e') });
    await expect(containers.start({ capabilities: { add: ['SYS_NOTHING'], drop: [] } })).rejects.toThrow('"SYS_NOTHING" is not a capability of Linux');
  });

  test('have a filter of system calls, however it can be set', async () => {
    const filter = { seccompFilter: refuseMkdir };
    const tried = shell(`${facts}; mkdir /tmp/x || echo refused`);
    const traces = { capabilities: { add: ['SYS_PTRACE'], drop: [] } };
    for (const more of [{}, { noNewPrivileges: true }, traces, nonRoot, { ...nonRoot, noNewPrivileges: true }, { ...traces, noNewPrivileges: true }]) {
      expect(await factsOf({ ...filter, ...more })).toMatchObject({ Seccomp: '2' });
      expect(await containers.output({ ...tried, ...filter, ...more })).toMatch(/^refused$/m);
    }
    await expect(containers.start({ seccompFilter: Buffer.alloc(8).toString('base64') })).rejects.toThrow('unable to init seccomp: invalid argument');
  });

  test('have three descriptors, and a session and control groups of their own', async () => {
    const script = 'ls /proc/self/fd | tr "\\n" " "; cut -d" " -f6 /proc/$$/stat; cat /proc/self/cgroup';
    const own = await containers.output(shell(script));
    expect(own).toMatch(/^0 1 2 3 1\n/); // The last one is the directory that ls(1) reads.
    expect(
      own
        .split('\n')
        .slice(1)
        .every((line) => line.endsWith(':/')),
    ).toBe(true);
    const { id } = await containers.start(shell('exec sleep infinity'));
    expect(await containers.exec(id, ['/bin/sh', '-c', script])).toMatch(/^0 1 2 3 [1-9]/);
    const { pid } = mustFind(
      readdirSync('/proc')
        .filter((name) => /^\d+$/.test(name))
        .map((name) => ({ pid: name, of: readlink(`/proc/${name}/exe`) })),
      ({ of, pid: each }) =>
        of.endsWith('/sleep') &&
        /:\/moor-|:\/$/.test(cat(`/proc/${each}/cgroup`)) &&
        cat(`/proc/${each}/status`).includes('NSpid:') &&
        /NSpid:\t\d+\t1$/m.test(cat(`/proc/${each}/status`)),
    );
    expect(readdirSync(`/proc/${pid}/fd`).sort()).toEqual(['0', '1', '2']);
  });

  test('may open their standard streams again by name, as any user', async () => {
    const script = 'echo out >/dev/stdout; echo err >/dev/stderr; echo again >>/proc/self/fd/1; head -c1 </dev/stdin | wc -c';
    for (const over of [{}, nonRoot]) {
      expect((await containers.output({ ...shell(script), ...over })).split('\n').sort()).toEqual(['0', 'again', 'err', 'out']);
      const { id } = await containers.start({ ...shell('exec sleep infinity'), ...over });
      expect(await containers.exec(id, ['/bin/sh', '-c', 'echo out >/dev/stdout; echo err >/dev/stderr'])).toBe('out\nerr');
    }
  });

  test('have a session keyring of their own', async () => {
    const keyring = 'print syscall(250, 0, -3, 0), "\\n"';
    const host = execFileSync('sh', ['-c', `perl -e '${keyring}'`], { encoding: 'utf8' }).trim();
    const { id } = await containers.start(shell('exec sleep infinity'));
    const ids = [host, await containers.output({ command: ['perl', '-e', keyring], args: [] }), await containers.exec(id, ['perl', '-e', keyring])];
    expect(new Set(ids).size).toBe(3);
  });

  test('execute nothing of their root but their program', async () => {
    const hostile = path.join(machine.root, 'hostile');
    mkdirSync(hostile, { recursive: true });
    const names = ['sh', 'setpriv', 'env', 'nsenter', 'unshare', 'mount', 'script', 'ip', 'cat', 'ls', 'init', 'moor-init'];
    for (const name of names) {
      writeFileSync(path.join(hostile, name), '#!/bin/bash\n/usr/bin/touch /marks/$(/usr/bin/basename "$0")\n');
      chmodSync(path.join(hostile, name), 0o777);
    }
    const marks = path.join(machine.root, 'marks');
    mkdirSync(marks);
    chmodSync(marks, 0o777);
    const preload = path.join(machine.root, 'preload');
    writeFileSync(preload, '/marks/library.so\n');
    const at = (hostPath: string, containerPath: string): ContainerMount => ({
      volume: 'v',
      hostPath,
      containerPath,
      readOnly: false,
      recursiveReadOnly: false,
      propagation: 'private',
    });
    const places = ['/usr/local/sbin', '/usr/local/bin', '/sbin-of-mine'];
    const mounts = [...places.map((place) => at(hostile, place)), at(marks, '/marks'), at(preload, '/etc/ld.so.preload')];
    const env = [
      { name: 'PATH', value: places.join(':') },
      { name: 'LD_PRELOAD', value: '/marks/other.so' },
    ];
    for (const user of [{}, nonRoot, { ...nonRoot, noNewPrivileges: true, capabilities: { add: [], drop: ['ALL'] } }]) {
      const { id } = await containers.start({ command: ['/bin/sleep', 'infinity'], args: [], mounts, env, ...user });
      expect(await containers.exec(id, ['/usr/bin/printf', 'fine'])).toContain('fine');
    }
    expect(readdirSync(marks)).toEqual([]);
    // The programs would leave a mark, with the rights of the container.
    await containers.output({ command: ['setpriv'], args: [], mounts, env, ...nonRoot });
    expect(readdirSync(marks)).toEqual(['setpriv']);
  });

  test('do not begin in a directory of another root', async () => {
    const outside = 'current working directory is outside of container mount namespace root';
    for (const workingDir of ['/proc/1/root', '/proc/1/cwd', '/proc/1/fd/0', '/proc/1/task/1/root/tmp']) {
      await expect(containers.start({ ...shell('pwd'), workingDir })).rejects.toThrow(outside);
    }
    for (const workingDir of ['/proc/1/root', `/proc/${process.pid}/root`, `/proc/${process.pid}/cwd`]) {
      await expect(containers.start({ ...shell('pwd'), workingDir, hostPid: true })).rejects.toThrow(
        /outside of container mount namespace root|permission denied/,
      );
    }
    // As in runc, the directory may be closed to the container's user.
    expect(await containers.output({ ...shell('pwd; ls'), workingDir: '/root', ...nonRoot })).toMatch(/^\/root\n.*Permission denied/s);
    await expect(containers.start({ ...shell('pwd'), workingDir: '/etc/passwd' })).rejects.toThrow(
      'chdir to cwd ("/etc/passwd") set in config.json failed: not a directory',
    );
  });

  test('that cannot be executed say why, as runc does', async () => {
    const volume = path.join(machine.root, 'programs');
    mkdirSync(volume);
    writeFileSync(path.join(volume, 'garbage'), '\x01\x02\x03', { mode: 0o755 });
    writeFileSync(path.join(volume, 'closed'), '#!/bin/sh\n', { mode: 0o700 });
    const mounts: readonly ContainerMount[] = [
      { volume: 'v', hostPath: volume, containerPath: '/p', readOnly: false, recursiveReadOnly: false, propagation: 'private' },
    ];
    const { id } = await containers.start({ mounts, ...nonRoot });
    const messages = {
      '/p/garbage': 'exec /p/garbage: exec format error: unknown',
      '/p/closed': 'exec: "/p/closed": permission denied: unknown',
      '/p/none': 'exec: "/p/none": stat /p/none: no such file or directory: unknown',
      '/p': 'exec: "/p": permission denied: unknown',
      'no-such-program': 'exec: "no-such-program": executable file not found in $PATH: unknown',
      '': 'exec: "": executable file not found in $PATH: unknown',
    };
    for (const [name, message] of Object.entries(messages)) {
      await expect(containers.start({ command: [name], args: [], mounts, ...nonRoot })).rejects.toThrow(message);
      await expect(containers.exec(id, [name])).rejects.toThrow(message);
    }
    await expect(containers.start({ env: [{ name: 'A', value: 'b\0C=d' }] })).rejects.toThrow('a text with a zero byte');
  });

  test('that cannot be executed in a terminal say why as well', async () => {
    await expect(containers.start({ command: ['no-such-program'], args: [], tty: true })).rejects.toThrow('executable file not found in $PATH: unknown');
    const { id } = await containers.start({});
    const opened = await runtime.exec(id, { command: ['/no/such/program'], stdin: false, tty: true });
    expect(opened.ok && (await opened.value.done)).toMatchObject({
      message: expect.stringContaining('stat /no/such/program: no such file or directory: unknown'),
    });
  });

  test('are waited for by a process without rights, whose executable cannot be changed', async () => {
    const { id } = await containers.start({ ...shell('exec sleep infinity') });
    const [monitor] = marked(layoutOf(machine.root).mark(id)).values();
    const status = cat(`/proc/${monitor}/status`);
    expect(status).toMatch(/^CapEff:\t0{16}$/m);
    expect(status).toMatch(/^CapBnd:\t0{16}$/m);
    expect(status).toMatch(/^NoNewPrivs:\t1$/m);
    expect(readdirSync(`/proc/${monitor}/fd`)).toEqual(['3']);
    expect(readlinkSync(`/proc/${monitor}/exe`)).toBe('/memfd:init (deleted)');
    expect(() => writeFileSync(`/proc/${monitor}/exe`, 'changed')).toThrow(/ETXTBSY|EPERM/);
    const hostile = shell(
      `cat /proc/${monitor}/environ /proc/${monitor}/mem; readlink /proc/${monitor}/fd/3 /proc/${monitor}/root /proc/${monitor}/cwd; ls /proc/${monitor}/root/; echo x >/proc/${monitor}/exe`,
    );
    const said = await containers.output({ ...hostile, hostPid: true });
    expect(said.split('\n').filter((line) => !/Permission denied|cannot|Text file busy/i.test(line))).toEqual([]);
  });

  test('of a pod that shares them see each other, and an empty root of its first', async () => {
    const uid = await containers.pod({ sharesProcesses: true });
    await containers.start({ ...shell('exec -a first sleep infinity'), command: ['/bin/bash', '-c'] }, uid);
    const traces = { capabilities: { add: ['SYS_PTRACE', 'DAC_READ_SEARCH'], drop: [] }, name: 'second' };
    const script =
      'echo $$; cat /proc/[0-9]*/cmdline | tr "\\0" " "; echo; ls -A /proc/1/root /proc/1/cwd /proc/1/fd; grep -E "^(Cap|Uid)" /proc/1/status; (sleep 0.1 &); sleep 0.3; grep -c Z /proc/[0-9]*/stat';
    const said = await containers.output({ ...shell(script), ...traces }, uid);
    expect(said).not.toMatch(/^1$/m);
    expect(said).not.toMatch(/stat:1$/m);
    expect(said).toContain('first infinity');
    expect(said).toContain('/proc/1/cwd:\n\n/proc/1/fd:\n\n/proc/1/root:\n');
    expect(said).toContain('Uid:\t65535');
    expect(said.match(/^Cap\w+:\t0{16}$/gm)).toHaveLength(5);
    await runtime.stopPod(uid);
  });

  test('have the kernel parameters of their pod', async () => {
    const address = `${machine.podCidr.split('.').slice(0, 3).join('.')}.77`;
    const uid = await containers.pod({
      address,
      sysctls: [
        { path: 'net/ipv4/ip_unprivileged_port_start', value: '77' },
        { path: 'kernel/shm_rmid_forced', value: '1' },
      ],
    });
    const script = 'cat /proc/sys/net/ipv4/ip_unprivileged_port_start /proc/sys/kernel/shm_rmid_forced';
    expect(await containers.output(shell(script), uid)).toBe('77\n1');
    expect(cat('/proc/sys/kernel/shm_rmid_forced')).toBe('0\n');
    await expect(containers.pod({ address, sysctls: [{ path: 'net/ipv4/no_such', value: '1' }] })).rejects.toThrow(
      'securityContext.sysctls: write sysctl key net.ipv4.no_such: no such file or directory',
    );
  });
});

/** Instructions of BPF: mkdir(2) and mkdirat(2) fail with EPERM. */
const refuseMkdir = Buffer.concat(
  [
    [0x20, 0, 0, 0], // the number of the call
    [0x15, 2, 0, process.arch === 'x64' ? 83 : 34],
    [0x15, 1, 0, process.arch === 'x64' ? 258 : 34],
    [0x06, 0, 0, 0x7fff_0000],
    [0x06, 0, 0, 0x0005_0001],
  ].map(([code = 0, yes = 0, no = 0, value = 0]) => {
    const instruction = Buffer.alloc(8);
    instruction.writeUInt16LE(code);
    instruction.writeUInt8(yes, 2);
    instruction.writeUInt8(no, 3);
    instruction.writeUInt32LE(value, 4);
    return instruction;
  }),
).toString('base64');

function cat(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function readlink(file: string): string {
  try {
    return readlinkSync(file);
  } catch {
    return '';
  }
}

function mustFind<T>(all: readonly T[], is: (one: T) => boolean): T {
  const found = all.find(is);
  if (found === undefined) throw new Error('there is none');
  return found;
}
