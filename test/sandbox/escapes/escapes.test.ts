/** Nothing gets out of a container: ways that led out of other runtimes, tried by a root pod, a pod of another user, and a privileged pod that shows they are noticed. */
import { randomInt } from 'node:crypto';
import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Pod, PodSpec } from '../../../src/api/generated/types.ts';
import { marked, run } from '../../../src/node/runtimes/sandbox/shim/processes.ts';
import { type MoorProcess, startMoor } from '../../moor-process.ts';
import { describeWithSandboxes, endContainers } from '../sandboxes.ts';
import { prelude, type Targets } from './attempt.ts';
import { attempts } from './attempts.ts';
import { hostilePods, hostileSpec, type HostileUser, payload, payloadKeys, setuidControl } from './hostile-pods.ts';
import { type PlantedHost, mountsBelow, plantTargets, processesWith, processLimit } from './host-targets.ts';

/** Of containers that ask for none. */
const usualCapabilities = 'a00425fb';
const users: readonly HostileUser[] = [
  { suffix: 'root', uid: 0, allowed: usualCapabilities },
  { suffix: 'user', uid: 1000, allowed: usualCapabilities },
];
const attackers = ['root', 'user', 'privileged'] as const;
type Attacker = (typeof attackers)[number];

/** Different ones, by which processes are found on the host. */
const duration = (): string => `3600.${randomInt(10 ** 9, 10 ** 10)}`;
const durations: Readonly<Record<Attacker, string>> = { root: duration(), user: duration(), privileged: duration() };
const sleeping = (text: string): string[] => ['/bin/sh', '-c', text];
const object = (kind: string, name: string, rest: object, labels: Record<string, string> = {}) => ({
  apiVersion: 'v1',
  kind,
  metadata: { name, labels },
  ...rest,
});
const nameOf = (text: string): string => text.toLowerCase().replaceAll(/[^a-z]+/g, '-');

const attackerSpec = (attacker: Attacker): PodSpec => {
  const isPrivileged = attacker === 'privileged';
  return {
    terminationGracePeriodSeconds: 0,
    automountServiceAccountToken: false,
    ...(isPrivileged ? { hostPID: true, hostIPC: true, hostNetwork: true } : {}),
    securityContext: { runAsUser: attacker === 'user' ? 1000 : 0 },
    containers: [
      {
        name: 'app',
        image: 'x',
        resources: {},
        command: ['sleep', durations[attacker]],
        env: [
          { name: 'R', value: isPrivileged ? '/host' : '' },
          { name: 'ALLOWED', value: usualCapabilities },
        ],
        securityContext: isPrivileged ? { privileged: true } : { allowPrivilegeEscalation: attacker === 'root' },
        volumeMounts: [
          { name: 'attempts', mountPath: '/attempts' },
          { name: 'payload', mountPath: '/payload' },
          ...(isPrivileged ? [{ name: 'host', mountPath: '/host' }] : []),
        ],
      },
    ],
    volumes: [
      { name: 'attempts', configMap: { name: 'attempts' } },
      { name: 'payload', configMap: { name: 'payload', defaultMode: 0o755 } },
      ...(isPrivileged ? [{ name: 'host', hostPath: { path: '/' } }] : []),
    ],
  };
};

/** One exec for all attempts: each is a shell of its own. */
const driver = (separator: string): string => `
for file in /attempts/[0-9]*; do
  echo "${separator} $(basename $file)"
  timeout 20 sh -c '. /attempts/prelude; . "$1"' sh "$file" 2>/dev/null </dev/null
done`;

describeWithSandboxes('ways out of a container', () => {
  let moor: MoorProcess;
  let host: PlantedHost;
  let dataDir = '';
  let state = '';
  let before: Readonly<Record<string, string>> = {};
  /** By attacker and attempt. */
  const outputs = new Map<string, string>();
  let hostile: readonly Pod[] = [];
  let logs = '';
  /** Of each attacker, on the host. */
  const containerProcesses = new Map<Attacker, number>();

  const apply = async (items: readonly object[]) =>
    expect(await moor.kubectlWith(JSON.stringify({ apiVersion: 'v1', kind: 'List', items }), 'apply', '-f', '-')).toMatchObject({ code: 0 });
  const podsOf = async (label: string): Promise<readonly Pod[]> => {
    const { stdout } = await moor.kubectl('get', 'pods', '-l', `app=${label}`, '-o', 'json');
    return (JSON.parse(stdout) as { readonly items: readonly Pod[] }).items;
  };

  beforeAll(async () => {
    host = await plantTargets();
    dataDir = realpathSync(mkdtempSync(path.join(tmpdir(), 'moor-escapes-')));
    state = path.join(dataDir, 'nodes', 'node-1', 'sandbox');
    moor = await startMoor({ dataDir, args: ['--runtime', 'sandbox', '--nodes', '1'] });
    const marker = `done # ${host.targets.abstractSocket}`;
    await apply([
      object(
        'Pod',
        'other',
        {
          spec: {
            terminationGracePeriodSeconds: 0,
            containers: [
              {
                name: 'app',
                image: 'x',
                command: sleeping(`echo "$OTHER_SECRET" >/data/secret; while :; do sleep 3600; ${marker}`),
                env: [{ name: 'OTHER_SECRET', value: host.canary }],
                volumeMounts: [{ name: 'data', mountPath: '/data' }],
                readinessProbe: { exec: { command: ['cat', '/data/secret'] }, periodSeconds: 1 },
              },
            ],
            volumes: [{ name: 'data', emptyDir: {} }],
          },
        },
        { app: 'other' },
      ),
    ]);
    expect(await moor.kubectl('wait', '--for=condition=Ready', 'pod/other', '--timeout=120s')).toMatchObject({ code: 0 });
    const [other] = await podsOf('other');
    const otherPod = path.join(dataDir, 'nodes', 'node-1', 'pods', other?.metadata.uid ?? '');
    const targets: Targets = {
      ...host.targets,
      dataDir,
      kubeconfig: moor.kubeconfig,
      otherPod,
      volumeFile: path.join(otherPod, 'volumes', 'kubernetes.io~empty-dir', 'data', 'secret'),
      otherProcess: processesWith(marker).at(-1) ?? 0,
      shim: [...marked(`shim ${state}`).values()][0] ?? 0,
    };
    expect(existsSync(targets.volumeFile)).toBe(true);
    expect(targets.otherProcess > 0 && targets.shim > 0).toBe(true);
    before = host.evidence();
    const pods = hostilePods(targets).flatMap((pod) =>
      users.map((user) => object('Pod', `${nameOf(pod.name)}-${user.suffix}`, { spec: hostileSpec(pod, user, targets.homeFile) }, { app: 'hostile' })),
    );
    await apply([
      object('ConfigMap', 'attempts', {
        data: {
          prelude: prelude(targets, host.numbers),
          ...Object.fromEntries(attempts.map(({ script }, index) => [String(index).padStart(3, '0'), script])),
        },
      }),
      object('ConfigMap', 'payload', { data: { ...Object.fromEntries(payloadKeys.map((key) => [key, payload])), library: '/payload/payload\n' } }),
      ...attackers.map((attacker) => object('Pod', attacker, { spec: attackerSpec(attacker) }, { app: 'attacker' })),
      ...pods,
    ]);
    expect(await moor.kubectl('wait', '--for=condition=Ready', 'pod', '-l', 'app=attacker', '--timeout=120s')).toMatchObject({ code: 0 });
    for (const attacker of attackers) containerProcesses.set(attacker, processesWith(durations[attacker]).at(-1) ?? 0);
    await Promise.all([...attackers.map(attack), endHostile()]);
  });

  const attack = async (attacker: Attacker): Promise<void> => {
    const separator = `-- ${host.targets.abstractSocket}`;
    const { stdout, stderr } = await moor.kubectl('exec', attacker, '--', 'sh', '-c', driver(separator));
    expect(stderr).toBe('');
    for (const part of stdout.split(separator).slice(1)) {
      const index = Number(part.slice(0, part.indexOf('\n')));
      outputs.set(`${attacker} ${attempts[index]?.name ?? ''}`, part.slice(part.indexOf('\n') + 1));
    }
  };

  /** Until every container has run, or is refused. */
  const endHostile = async (): Promise<void> => {
    const isOver = ({ status, spec }: Pod): boolean => {
      const all = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])];
      const started = (status.containerStatuses ?? []).length === (spec.containers ?? []).length;
      return started && all.every(({ state: each }) => each?.terminated !== undefined || /(Error|InvalidImageName)$/.test(each?.waiting?.reason ?? ''));
    };
    const running = async () => (await podsOf('hostile')).filter((pod) => !isOver(pod)).map(({ metadata }) => metadata.name);
    await vi.waitFor(async () => expect(await running()).toEqual([]), { timeout: 180_000, interval: 1000 });
    hostile = await podsOf('hostile');
    logs = (await moor.kubectl('logs', '-l', 'app=hostile', '--all-containers', '--prefix', '--tail=-1', '--ignore-errors')).stdout;
  };

  afterAll(async () => {
    await moor.stop();
    await endContainers(state);
    // Of pods that still ran.
    for (const target of mountsBelow(dataDir).toReversed()) await run(['umount', '-l', target]);
    rmSync(dataDir, { recursive: true, force: true });
    host.dispose();
  });

  const isEscape = (output: string | undefined): boolean => output === undefined || output.includes('ESCAPED') || output.includes(host.canary);
  const said = (output: string | undefined): string => (isEscape(output) ? (output ?? 'the attempt was not made') : '');

  describe.each(attempts)('$like: $name', ({ name, undetected, needs }) => {
    test('not as root, nor as another user', () => {
      expect({ root: said(outputs.get(`root ${name}`)), user: said(outputs.get(`user ${name}`)) }).toEqual({ root: '', user: '' });
    });
    if (undetected === undefined && (needs === undefined || existsSync(needs))) {
      test('a privileged pod succeeds', () => expect(isEscape(outputs.get(`privileged ${name}`))).toBe(true));
    }
  });

  describe.each(hostilePods({ homeFile: '', abstractSocket: '' } as Targets))('$like: $name', ({ name }) => {
    test.each(users)('as $suffix', ({ suffix }) => {
      const podName = `${nameOf(name)}-${suffix}`;
      const pod = hostile.find(({ metadata }) => metadata.name === podName);
      const lines = logs.split('\n').filter((line) => line.startsWith(`[pod/${podName}/`));
      expect(pod).toBeDefined();
      expect(lines.filter((line) => isEscape(line))).toEqual([]);
      expect(JSON.stringify(pod?.status)).not.toContain(host.canary);
    });
  });

  test('programs in front of the image’s own do run, with the rights of the container', () => {
    for (const user of users) expect(logs).toContain(`[pod/${nameOf('programs first in PATH')}-${user.suffix}/setpriv] PAYLOAD`);
  });

  test('a program with the setuid bit does change the user where that is permitted', () => {
    expect(logs).toContain(`[pod/${nameOf(setuidControl.pod)}-user/${setuidControl.container}] ${setuidControl.says}`);
  });

  test.each([
    ['root', '/usr/bin'],
    ['user', '/tmp'],
  ] as const)('exec in a root that was rewritten, as %s: programs run with the rights of the container', async (attacker, directory) => {
    const rewrite = `for name in setpriv env id nsenter mount; do rm -f ${directory}/$name; cp /payload/payload ${directory}/$name; done; echo /payload/payload >/etc/ld.so.preload`;
    await moor.kubectl('exec', attacker, '--', 'sh', '-c', rewrite);
    for (const program of ['setpriv', 'env']) {
      const { stdout } = await moor.kubectl('exec', attacker, '--', `${directory}/${program}`);
      expect(stdout).toContain('PAYLOAD');
      expect(isEscape(stdout)).toBe(false);
    }
  });

  test('each pod has a control group of its own, with a limit of processes', () => {
    const limits = attackers.filter((attacker) => attacker !== 'privileged').map((attacker) => processLimit(containerProcesses.get(attacker) ?? 0));
    expect(limits).toEqual([expect.stringMatching(/^[1-9]\d*$/), expect.stringMatching(/^[1-9]\d*$/)]);
  });

  test('after all of them, and after their volumes are removed, the host is as before', async () => {
    expect(await moor.kubectl('delete', 'pods', '-l', 'app in (hostile, attacker)', '--wait', '--timeout=120s')).toMatchObject({ code: 0 });
    expect(host.evidence()).toEqual(before);
    const [other] = await podsOf('other');
    expect(other?.status.containerStatuses).toMatchObject([{ ready: true, restartCount: 0 }]);
  });
});
