/** What a node shows to privileged pods as a kubelet does, such as those of CSI drivers; and what containers see of their limits. */
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type MoorProcess, runMoor, startMoor } from '../moor-process.ts';
import { describeWithSandboxes } from './sandboxes.ts';

describeWithSandboxes('a pod', () => {
  let moor: MoorProcess;
  let dataDir = '';
  const root = (): string => path.join(dataDir, 'root');
  beforeAll(async () => {
    dataDir = realpathSync(mkdtempSync(path.join(tmpdir(), 'moor-priv-')));
    moor = await startMoor({ dataDir, args: ['--runtime', 'sandbox', '--nodes', '1', '--root-dir', root()] });
  });
  afterAll(async () => {
    await moor.stop();
    expect(await runMoor('down', '--data-dir', dataDir)).toMatchObject({ code: 0 });
    expect(mountsOf(root())).toEqual([]);
    rmSync(dataDir, { recursive: true, force: true });
  });

  const mountsOf = (place: string): readonly string[] =>
    readFileSync('/proc/self/mountinfo', 'utf8')
      .split('\n')
      .map((line) => line.split(' ')[4] ?? '')
      .filter((target) => target.startsWith(place));
  const kubectl = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await moor.kubectl(...args);
    expect(code, `kubectl ${args.join(' ')}: ${stderr}`).toBe(0);
    return stdout.trim();
  };
  const start = async (name: string, spec: object, container: object = {}): Promise<void> => {
    const containers = [{ name: 'c', image: 'busybox', command: ['sleep', 'infinity'], ...container }];
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec: { terminationGracePeriodSeconds: 0, ...spec, containers } };
    expect(await moor.kubectlWith(JSON.stringify(pod), 'apply', '-f', '-')).toMatchObject({ code: 0 });
    await kubectl('wait', '--for=condition=Ready', `pod/${name}`, '--timeout=300s');
  };
  const inside = (pod: string, script: string): Promise<string> => kubectl('exec', pod, '--', 'sh', '-c', script);

  test('of a CSI driver sees the machine, its devices and the kubelet’s directory, and what it mounts there is mounted on the machine', async () => {
    const volume = (name: string, at: string) => ({ name, hostPath: { path: at } });
    const volumes = [volume('host', '/'), volume('dev', '/dev'), volume('kubelet', '/var/lib/kubelet')];
    const volumeMounts = [
      { name: 'host', mountPath: '/host' },
      { name: 'dev', mountPath: '/dev' },
      { name: 'kubelet', mountPath: '/var/lib/kubelet', mountPropagation: 'Bidirectional' },
    ];
    await start('driver', { volumes, hostPID: true }, { securityContext: { privileged: true }, volumeMounts });
    expect(await inside('driver', 'cat /host/proc/1/comm; cat /proc/1/comm')).toBe(
      [1, 2]
        .map(() => readFileSync('/proc/1/comm', 'utf8'))
        .join('')
        .trim(),
    );
    expect(await inside('driver', 'head -c 1 /dev/zero | wc -c; head -c 1 /host/dev/zero | wc -c')).toBe('1\n1');
    await inside('driver', 'cd /var/lib/kubelet && mkdir -p plugins/x && mount -t tmpfs x plugins/x && echo mounted >plugins/x/file');
    const file = path.join(root(), 'plugins/x/file');
    expect(readFileSync(file, 'utf8')).toBe('mounted\n');
    // A volume that the node mounts later is seen by the driver.
    await start('other', {});
    const uid = await kubectl('get', 'pod', 'other', '-o', 'jsonpath={.metadata.uid}');
    expect(await inside('driver', `ls /var/lib/kubelet/pods/${uid}/volumes/kubernetes.io~projected/*/token | wc -l`)).toBe('1');
    await inside('driver', 'umount /var/lib/kubelet/plugins/x');
    expect(existsSync(file)).toBe(false);
    await kubectl('delete', 'pod', 'other', 'driver', '--timeout=300s');
    await expect.poll(() => mountsOf(`${root()}/`)).toEqual([]);
  });

  test('that is privileged has the machine’s devices in /dev, and makes others; one that is not has neither', async () => {
    await start('privileged', {}, { securityContext: { privileged: true } });
    await start('plain', {}, { securityContext: { capabilities: { add: ['MKNOD', 'SYS_ADMIN'] } } });
    const kmsg = 'stat -c %t:%T /dev/kmsg';
    expect(await inside('privileged', kmsg)).toBe('1:b');
    expect(await inside('privileged', 'mknod /tmp/zero c 1 5 && head -c 1 /tmp/zero | wc -c')).toBe('1');
    expect(await inside('privileged', 'test -L /dev/ptmx && test ! -e /dev/console && echo own')).toBe('own');
    expect(await moor.kubectl('exec', 'plain', '--', 'sh', '-c', kmsg)).toMatchObject({ code: 1 });
    expect(await inside('plain', 'mknod /tmp/kmsg c 1 11; head -c 1 /tmp/kmsg 2>&1 || echo closed')).toContain('closed');
    await kubectl('delete', 'pod', 'privileged', 'plain', '--timeout=300s');
  });

  test('sees its limits in /sys/fs/cgroup, and others after a resize, without a restart', async () => {
    const resources = { limits: { cpu: '200m', memory: '64Mi' }, requests: { cpu: '100m', memory: '32Mi' } };
    await start('limited', {}, { resources });
    const isUnified = existsSync('/sys/fs/cgroup/cgroup.controllers');
    const files = isUnified ? 'memory.max cpu.max' : 'memory/memory.limit_in_bytes cpu/cpu.cfs_quota_us cpu/cpu.shares';
    const limits = (): Promise<string> => inside('limited', `cd /sys/fs/cgroup && cat ${files}`);
    expect(await limits()).toBe(isUnified ? `${64 << 20}\n20000 100000` : `${64 << 20}\n20000\n102`);
    const resized = { limits: { cpu: '300m', memory: '96Mi' }, requests: { cpu: '200m', memory: '32Mi' } };
    await kubectl('patch', 'pod', 'limited', '--subresource', 'resize', '-p', JSON.stringify({ spec: { containers: [{ name: 'c', resources: resized }] } }));
    await expect.poll(limits).toBe(isUnified ? `${96 << 20}\n30000 100000` : `${96 << 20}\n30000\n204`);
    await expect.poll(() => kubectl('get', 'pod', 'limited', '-o', 'jsonpath={.status.containerStatuses[0].resources.limits.cpu}')).toBe('300m');
    expect(await kubectl('get', 'pod', 'limited', '-o', 'jsonpath={.status.containerStatuses[0].restartCount}')).toBe('0');
    await kubectl('delete', 'pod', 'limited', '--timeout=300s');
  });
});
