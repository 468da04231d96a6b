/** What containers see of the host, and whether a path in their root or volumes leads out of it. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ContainerSpec, PodSandboxSpec, PodState, Runtime } from '../../src/node/runtime.ts';
import { containerSpec, describeWithSandboxes, type Machine, podSpec, sandboxMachine } from './sandboxes.ts';

describeWithSandboxes('the root of a container', () => {
  let machine: Machine;
  let runtime: Runtime;
  beforeAll(async () => {
    machine = await sandboxMachine();
    runtime = machine.agent();
    await runtime.recover();
  });
  afterAll(() => machine.dispose());

  const hasEnded = (pod: PodState | undefined) => pod?.runs.every(({ state }) => state.type === 'exited') === true;
  /** What a script prints, and its exit code; or why the container did not start. */
  const run = async (script: string, over: Partial<ContainerSpec> = {}, pod: Partial<PodSandboxSpec> = {}): Promise<string> => {
    const spec = podSpec(pod);
    expect(await runtime.startPod(spec)).toMatchObject({ ok: true });
    const result = await runtime.startContainer(containerSpec(spec.uid, { args: [script], ...over }));
    if (!result.ok) return result.error.message.replace(/^.*error during container init: /, '');
    await machine.until(runtime, spec.uid, hasEnded);
    const files = await runtime.logFiles(result.value.id);
    const lines = files.flatMap((file) => readFileSync(file, 'utf8').split('\n'));
    return lines
      .map((line) => line.split(' ').slice(3).join(' '))
      .join('\n')
      .trim();
  };
  const at = (name: string) => path.join(machine.root, name);
  const volume = (name: string, containerPath: string) => {
    mkdirSync(at(name), { recursive: true });
    return { volume: name, hostPath: at(name), containerPath, readOnly: false, recursiveReadOnly: false, propagation: 'private' } as const;
  };
  const nonRoot = { user: { uid: 1234, gid: 1234, groups: [] } } as const;

  test('has programs, libraries and certificates of the host, and nothing else of it', async () => {
    const seen = await run(
      `ls -A /home /root /opt /srv /mnt /media /boot /tmp /var/log /var/lib /run; ls -d /etc/shadow* /etc/gshadow* /etc/ssh /etc/sudoers* /etc/ssl/private /etc/kubernetes ${machine.root} ${process.cwd()} 2>/dev/null; echo end`,
    );
    expect(seen.split('\n').filter((line) => line !== '' && !line.endsWith(':'))).toEqual(['lock', 'misc', 'end']);
    expect(await run('sh -c "ls / | sort | tr \\"\\n\\" \\" \\""')).toMatch(
      /^bin boot dev etc home lib .*media mnt opt proc root run sbin srv sys tmp usr var$/,
    );
    expect(await run('id -un && perl -e "print 1+1" && ls /etc/ssl/certs | wc -l && node -p 6*7', nonRoot)).not.toContain('not found');
    expect(await run('node -p 6*7 && python3 -c "print(3*4)"', nonRoot)).toBe('42\n12');
    expect(await run('find / -xdev -type s 2>/dev/null | head')).toBe('');
  });

  test('takes no more than its limit of what is written to it, in bytes and in files', async () => {
    const fill = 'head -c 3000000 /dev/zero >/tmp/a; stat -c %s /tmp/a; mkdir /var/many; cd /var/many; touch $(seq 1 9000); ls | wc -l';
    const [, written = 0, files = 0] = /(\d+)\n(?:.*\n)*(\d+)$/.exec(await run(`{ ${fill}; } 2>/dev/null`, { writableBytes: 1_000_000 }))?.map(Number) ?? [];
    expect([written, files].every((count) => count > 0)).toBe(true);
    expect(written).toBeLessThanOrEqual(1_000_000);
    expect(files).toBeLessThan(4096);
    const own = await run('stat -f -c "%b %S" /tmp');
    const [blocks = 0, size = 0] = own.split(' ').map(Number);
    expect(blocks * size).toBeLessThanOrEqual(totalmem() / 8);
  });

  test('has no mount and no process of the host in it', async () => {
    const mounts = await run('cat /proc/self/mountinfo');
    const lines = mounts.split('\n').filter((line) => !/ - (overlay|tmpfs|proc|sysfs|devpts|mqueue|cgroup2?) /.test(line));
    expect(lines.map((line) => line.split(' ')[4])).toEqual(['/etc/hosts', '/etc/resolv.conf', '/etc/hostname', '/dev/termination-log']);
    expect(await run('ls /proc/1/root/ | wc -l; ls /../../.. | wc -l')).toMatch(/^(\d+)\n\1$/);
  });

  test('has a /proc and a /sys of its own, masked and read-only where they are the machine’s', async () => {
    const open =
      'for file in kcore keys timer_list interrupts; do [ ! -s /proc/$file ] || cat /proc/$file | head -c 1 | wc -c; done; ls -A /proc/acpi /proc/scsi /sys/firmware 2>/dev/null';
    for (const as of [{}, nonRoot]) expect(await run(open, as)).not.toMatch(/[1-9]|^[a-z]/m);
    const writes =
      'for file in /proc/sys/kernel/core_pattern /proc/sysrq-trigger /proc/irq/default_smp_affinity /sys/kernel/uevent_helper /sys/kernel/mm/ksm/run; do [ ! -e $file ] || { echo 1 >$file; } 2>/dev/null && [ -e $file ] && echo "wrote $file"; done; echo end';
    expect(await run(writes, { noNewPrivileges: true })).toBe('end');
    expect(await run('ls /sys/class/net', {}, { address: `${machine.podCidr.split('.').slice(0, 3).join('.')}.9` })).toBe('eth0\nlo');
    expect(await run('echo $(cat /proc/keys | wc -l) $([ -w /proc/sys/kernel/core_pattern ] && echo writable)', { unmaskedProc: true })).toMatch(
      /^[1-9]\d* writable$/,
    );
  });

  test('has no devices of the host: mknod is refused, and nodes elsewhere than in /dev cannot be opened', async () => {
    execFileSync('sh', ['-c', 'mkdir -p "$0" && mknod "$0/zero" c 1 5 && chmod 666 "$0/zero"', at('nodes')]);
    const open = 'head -c 1 /v/zero | wc -c';
    expect(await run(open, { mounts: [volume('nodes', '/v')] })).toContain('Permission denied');
    expect(await run(open, { mounts: [volume('nodes', '/v')], privileged: true })).toBe('1');
    expect(await run('mknod /tmp/zero c 1 5 || echo refused')).toContain('refused');
    expect(await run('mknod /tmp/zero c 1 5 && head -c 1 /tmp/zero', { capabilities: { add: ['MKNOD'], drop: [] } })).toContain('Permission denied');
    expect(await run('head -c 1 /dev/zero | wc -c; echo x >/dev/null && ls /dev | tr "\\n" " "')).toMatch(
      /^1\nfd full mqueue null ptmx pts random shm stderr stdin stdout termination-log tty urandom zero$/,
    );
  });

  test('links in a volume lead nowhere but into the container, as mount targets, message and working directory', async () => {
    mkdirSync(at('victim'));
    const links = {
      host: at('victim'),
      up: `../../../../../../../..${at('victim')}`,
      root: '/proc/1/root',
      cwd: '/proc/self/cwd',
      fd: '/proc/self/fd',
      dangling: '/nowhere',
    };
    volume('planted', '/p');
    for (const [name, target] of Object.entries(links)) symlinkSync(target, at(`planted/${name}`));
    for (const name of ['host', 'up', 'dangling']) {
      const said = await run('ls -d /p && true', {
        mounts: [volume('planted', '/p'), volume('inner', `/p/${name}/made`)],
        workingDir: `/p/${name}/work`,
        terminationMessage: { path: `/p/${name}/message`, orLastLog: false },
      });
      expect(said, name).toBe('/p');
    }
    for (const name of ['root', 'cwd', 'fd']) {
      const said = await run('true', { mounts: [volume('planted', '/p'), volume('inner', `/p/${name}/made`)] });
      expect(said, name).toMatch(/^(cannot mount \/p\/.*|)$/);
    }
    expect(readdirSync(at('victim'))).toEqual([]);
    expect(existsSync('/nowhere')).toBe(false);
    expect(existsSync('/made')).toBe(false);
  });

  test('a mount target that another container replaces all the time never leads out', async () => {
    mkdirSync(at('target'));
    const spec = podSpec();
    await runtime.startPod(spec);
    const swap = `exec perl -e 'mkdir "/r/a"; symlink "${at('target')}", "/r/b"; while (1) { rename "/r/a", "/r/c"; rename "/r/b", "/r/a"; rename "/r/a", "/r/b"; rename "/r/c", "/r/a" }'`;
    const attacker = await runtime.startContainer(containerSpec(spec.uid, { name: 'attacker', args: [swap], mounts: [volume('race', '/r')] }));
    if (!attacker.ok) throw new Error(attacker.error.message);
    for (let attempt = 0; attempt < 25; attempt++) {
      await run('true', { mounts: [volume('race', '/r'), volume('inner', '/r/a/made')], workingDir: '/r/a/work' });
    }
    await runtime.stopPod(spec.uid);
    expect(readdirSync(at('target'))).toEqual([]);
  });

  test('volumes over /etc, /usr/bin, /dev, /sys are the container’s own; over /proc and / they are refused', async () => {
    writeFileSync(at('file'), 'x');
    const over = (target: string) => run('true', { command: ['/bin/sh', '-c'], mounts: [volume('over', target)] });
    for (const target of ['/etc', '/dev', '/sys', '/opt/deep/in', '/usr/local/sbin']) expect(await over(target), target).toBe('');
    for (const target of ['/proc/self', '/proc/self/attr']) expect(await over(target), target).toBe(`cannot mount ${target}: it leads over a link of /proc`);
    for (const target of ['/proc', '/proc/sys', '/proc/../proc/1']) {
      expect(await over(target), target).toBe(`cannot mount ${target}: "${target}" cannot be mounted because it is inside /proc`);
    }
    for (const target of ['/', '/..', '/etc/..', '//.']) expect(await over(target), target).toMatch(/^cannot mount .*: it is the container's root$/);
    const outer = volume('outer', '/outer');
    for (const [name, leadsTo] of Object.entries({ root: '/', up: '..', around: '/usr/..' })) {
      symlinkSync(leadsTo, at(`outer/${name}`));
      const mounted = run('true', { mounts: [outer, volume('over', `/outer/${name}`)] });
      expect(await mounted, name).toBe(`cannot mount /outer/${name}: it is the container's root`);
    }
    expect(await over('/etc/passwd')).toBe('cannot mount /etc/passwd: it is not a directory');
    expect(readdirSync('/etc')).toContain('passwd');
  });

  test('writes to its own copy of the host’s programs only, and a rename over a bound file is refused', async () => {
    expect(
      await run('echo evil >/usr/bin/moor-evil && echo evil >/etc/passwd && rm -rf /usr/share/doc && mv /etc/hosts /etc/x; mv /tmp /tmp2; echo done'),
    ).toContain('done');
    expect(existsSync('/usr/bin/moor-evil')).toBe(false);
    expect(readFileSync('/etc/passwd', 'utf8')).toContain('root:');
    expect(existsSync('/usr/share/doc')).toBe(true);
  });

  test('is in control groups of its own, with a limit of processes, that it sees and cannot change', async () => {
    const script = `
      find /sys/fs/cgroup -name release_agent; find /sys/fs/cgroup -name pids.current | wc -l
      for file in $(find /sys/fs/cgroup -name cgroup.procs -o -name notify_on_release -o -name pids.max -o -name devices.allow); do (echo 1 >$file) 2>/dev/null && echo "wrote $file"; done
      mkdir /sys/fs/cgroup/x /sys/fs/cgroup/pids/x 2>/dev/null && echo made; mount -o remount,rw /sys/fs/cgroup/pids 2>/dev/null && echo remounted
      grep -c moor /proc/self/cgroup; echo end`;
    for (const as of [{}, nonRoot]) expect(await run(script, as)).toBe('1\n0\nend');
    const spec = podSpec();
    await runtime.startPod(spec);
    const result = await runtime.startContainer(containerSpec(spec.uid, { args: ['exec sleep infinity'] }));
    if (!result.ok) throw new Error(result.error.message);
    const pods = execFileSync('find', ['/sys/fs/cgroup', '-path', `*pod-${spec.uid}/pids.max`], { encoding: 'utf8' }).trim();
    expect(readFileSync(pods, 'utf8')).toBe('4096\n');
    const procs = path.join(path.dirname(pods), result.value.id.slice(0, 32), 'cgroup.procs');
    const count = () => readFileSync(procs, 'utf8').trim().split('\n').length;
    const before = count();
    const session = await runtime.exec(result.value.id, { command: ['sleep', 'infinity'], stdin: false, tty: false });
    if (!session.ok) throw new Error(session.error.message);
    await expect.poll(count).toBeGreaterThan(before);
    session.value.close();
    await runtime.stopPod(spec.uid);
    await runtime.removePod(spec.uid);
    await expect.poll(() => existsSync(path.dirname(pods))).toBe(false);
  });

  test('a memory limit that the kernel refuses is told', async () => {
    const spec = podSpec();
    await runtime.startPod(spec);
    const fills = 'exec perl -e \'$x = "a" x (64*1024*1024); print "full\\n"; $| = 1; sleep 1000\'';
    const result = await runtime.startContainer(containerSpec(spec.uid, { args: [fills] }));
    if (!result.ok) throw new Error(result.error.message);
    const limits = { cpuMilli: undefined, cpuRequestMilli: undefined };
    expect(await runtime.limitContainer(result.value.id, { ...limits, memoryBytes: 512 * 1024 * 1024 })).toMatchObject({ ok: true });
    const refused = await runtime.limitContainer(result.value.id, { ...limits, memoryBytes: -5 });
    expect(refused).toMatchObject({ ok: false, error: { reason: 'failed', message: expect.stringContaining('the kernel refuses -5 for memory') } });
    await runtime.stopPod(spec.uid);
  });
});
