/** Filters of system calls in real containers. */
import { arch, release } from 'node:os';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Pod, SecurityContext } from '../../src/api/generated/types.ts';
import { architecturesOf } from '../../src/node/seccomp/architectures.ts';
import { seccompFilter } from '../../src/node/security/seccomp-filter.ts';
import type { ContainerSpec, Runtime } from '../../src/node/runtime.ts';
import { containerSpec, describeWithSandboxes, type Machine, podSpec, sandboxMachine } from './sandboxes.ts';

const machine = arch() === 'x64' ? 'amd64' : arch();
const profile = { defaultAction: 'SCMP_ACT_ALLOW', syscalls: [{ names: ['getpriority'], action: 'SCMP_ACT_ERRNO', errnoRet: 77 }] };
const pod: Pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web' }, spec: { containers: [] }, status: {} };

async function filterOf(securityContext: SecurityContext): Promise<string | undefined> {
  const readProfileFile = async () => Buffer.from(JSON.stringify(profile));
  const made = await seccompFilter(
    pod,
    { name: 'app', resources: {}, securityContext },
    { machine, kernelVersion: release(), seccompDefault: false, readProfileFile },
  );
  if (!made.ok) throw new Error(made.error);
  return made.filter;
}

/** Numbers of errors; 0: none. The arguments are harmless, and wrong where the call is permitted. */
const calls: Readonly<Record<string, readonly number[]>> = {
  unshare: [0x1000_0000],
  keyctl: [0, -3, 0],
  mount: [0, 0, 0, 0, 0],
  bpf: [0, 0, 0],
  perf_event_open: [0, 0, 0, 0, 0],
  open_by_handle_at: [-1, 0, 0],
  io_uring_setup: [0, 0],
  clone3: [0, 0],
  ptrace: [99, 0, 0, 0],
  getpriority: [0, 0],
};

describeWithSandboxes('seccomp', () => {
  let sandboxes: Machine;
  let runtime: Runtime;
  beforeAll(async () => {
    sandboxes = await sandboxMachine();
    runtime = sandboxes.agent();
    await runtime.recover();
  });
  afterAll(() => sandboxes.dispose());

  /** What a container, or a program that is executed in it, gets from the kernel. */
  async function errorsIn(securityContext: SecurityContext, over: Partial<ContainerSpec> = {}): Promise<Record<string, number>> {
    const sandbox = podSpec();
    await runtime.startPod(sandbox);
    const filter = await filterOf(securityContext);
    const started = await runtime.startContainer(containerSpec(sandbox.uid, { ...(filter === undefined ? {} : { seccompFilter: filter }), ...over }));
    if (!started.ok) throw new Error(started.error.message);
    const numbers = architecturesOf(machine)[0]?.numbers ?? new Map<string, number>();
    const script =
      'for (@ARGV) { my ($name, $number, @args) = split /,/; my @all = map { $_ + 0 } @args; $! = 0; my $r = syscall($number + 0, @all); print "$name ", $r < 0 ? 0 + $! : 0, "\n" }';
    const each = Object.entries(calls).map(([name, args]) => [name, numbers.get(name) ?? -1, ...args].join());
    const session = await runtime.exec(started.value.id, { command: ['perl', '-e', script, ...each], stdin: false, tty: false });
    if (!session.ok || session.value.stdout === undefined) throw new Error('no session');
    const lines = (await text(session.value.stdout)).trim().split('\n');
    await runtime.stopPod(sandbox.uid);
    return Object.fromEntries(lines.map((line) => [line.split(' ')[0] ?? '', Number(line.split(' ')[1])]));
  }

  const [EPERM, ESRCH, ENOSYS] = [1, 3, 38];

  test.each([
    ['root', {}],
    ['another user without new privileges', { user: { uid: 1000, gid: 1000, groups: [] }, noNewPrivileges: true }],
  ])('RuntimeDefault as %s: EPERM for what containerd forbids, ENOSYS for clone3', async (_, over: Partial<ContainerSpec>) => {
    const errors = await errorsIn({ seccompProfile: { type: 'RuntimeDefault' } }, over);
    const { clone3, ptrace, getpriority, ...others } = errors;
    expect(Object.entries(others).filter(([, error]) => error !== EPERM)).toEqual([]);
    expect([clone3, ptrace, getpriority]).toEqual([ENOSYS, ESRCH, 0]);
  });

  test('a Localhost profile does what its file says', async () => {
    const errors = await errorsIn({ seccompProfile: { type: 'Localhost', localhostProfile: 'own.json' } });
    expect(errors['getpriority']).toBe(77);
    expect(errors['clone3']).not.toBe(ENOSYS);
  });

  test('unconfined, clone3 and io_uring reach the kernel', async () => {
    const errors = await errorsIn({ seccompProfile: { type: 'Unconfined' } });
    expect([errors['clone3'] === ENOSYS, errors['getpriority']]).toEqual([false, 0]);
  });
});
