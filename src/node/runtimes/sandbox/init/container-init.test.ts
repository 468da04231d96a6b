import { describe, expect, test } from 'vitest';
import { permittedCapabilities } from '../../../security/capabilities.ts';
import { capabilitiesOf } from './capabilities.ts';
import { containerInit, type ContainerInitSpec, execInit } from './container-init.ts';
import { execute } from './execute.ts';
import { clone, processControl } from './linux.ts';
import { netmask } from './network-steps.ts';
import { pauseInit } from './pause-init.ts';
import type { InitProgram, Step } from './program.ts';

const spec: ContainerInitSpec = {
  command: ['program', 'argument'],
  variables: ['PATH=/a::b:/c', 'A=b'],
  workingDir: '/work',
  groups: ['/sys/fs/cgroup/memory/x'],
  appArmorProfile: undefined,
  identity: { uid: 1000, gid: 1000, groups: [], capabilities: new Set([0, 7]), noNewPrivileges: false, seccompFilter: undefined },
  entered: [clone.newNetwork],
  ownProcesses: true,
  isFilteredEarly: true,
  tty: false,
};
const filter = Buffer.alloc(8);
const ptrace = 19;
const withIdentity = (identity: Partial<ContainerInitSpec['identity']>): ContainerInitSpec => ({ ...spec, identity: { ...spec.identity, ...identity } });

const positions = ({ steps }: InitProgram, is: (step: Step) => boolean): readonly number[] => steps.flatMap((step, index) => (is(step) ? [index] : []));
const calls = (program: InitProgram, call: Step['call']): readonly number[] => positions(program, (step) => step.call === call);
const forks = (program: InitProgram, flag: number): readonly number[] =>
  positions(program, ({ call, args: [flags] }) => call === 'clone' && typeof flags === 'number' && (flags & flag) !== 0);
const last = (found: readonly number[]): number => found.at(-1) ?? -1;

const programs = {
  'a process namespace of its own': containerInit(spec),
  'the processes of others': containerInit({ ...spec, ownProcesses: false }),
  exec: execInit(spec),
};

describe.each(Object.entries(programs))('with %s', (_name, program) => {
  test('descriptors are closed, and the process is closed to others, before anything else', () => {
    expect(program.steps[0]).toMatchObject({ call: 'close_range', args: [5, 0xffff_ffff, 0] });
    expect(program.steps[2]).toMatchObject({ call: 'prctl', args: [processControl.setDumpable, 0, 0, 0, 0] });
  });

  test('all rights are given up before the program is looked up and executed', () => {
    const [firstExecution = 0] = calls(program, 'execve');
    for (const call of ['setgroups', 'setresgid', 'setresuid'] as const) expect(last(calls(program, call))).toBeLessThan(firstExecution);
    const sets = calls(program, 'capset').filter((at) => at < firstExecution);
    expect(sets.length).toBeGreaterThan(0);
    expect(last(calls(program, 'mount'))).toBeLessThan(Math.min(...calls(program, 'setresuid')));
  });

  test('control groups are joined by paths of the host', () => {
    const [joined = Number.NaN] = calls(program, 'openat');
    for (const entered of forks(program, clone.parent)) expect(joined).toBeLessThan(entered);
    for (const opened of calls(program, 'openat2')) expect(joined).toBeLessThan(opened);
  });
});

describe('with a terminal', () => {
  const withTerminal = [containerInit({ ...spec, tty: true }), containerInit({ ...spec, tty: true, ownProcesses: false }), execInit({ ...spec, tty: true })];

  test('what is opened in the container is opened under its control group, follows no link, and descriptors are shared no longer', () => {
    for (const program of withTerminal) {
      const [opened = Number.NaN] = positions(program, ({ call, args: [, file] }) => call === 'openat2' && file === '/dev/pts/ptmx');
      const how = program.steps[opened]?.args[2];
      expect(how instanceof Buffer && how.readBigUInt64LE(16)).toBe(6n);
      const [joined = Number.NaN] = calls(program, 'openat');
      expect(joined).toBeLessThan(opened);
      const [apart = Number.NaN] = positions(program, ({ call, args: [flags] }) => call === 'unshare' && flags === clone.files);
      expect(apart).toBeGreaterThan(opened);
      // Neither a process that others may trace nor the program shares them.
      expect(apart).toBeLessThan(last(calls(program, 'execve')));
      for (const made of forks(program, clone.parent)) expect(apart).toBeLessThan(made);
    }
  });

  test('relays are made without rights', () => {
    for (const program of withTerminal) {
      const relays = positions(program, ({ call, args: [flags] }) => call === 'clone' && flags === 17);
      expect(relays).toHaveLength(2);
      const end = last(calls(program, 'execve'));
      const [given = Number.NaN] = calls(program, 'capset').filter((at) => at > end);
      expect(given).toBeLessThan(Math.min(...relays));
    }
  });
});

describe('the process that others see', () => {
  const visible = (over: ContainerInitSpec): readonly InitProgram[] => [containerInit({ ...over, ownProcesses: false }), execInit(over)];

  test.each([
    ['without a filter', spec],
    ['with a filter that permits processes', withIdentity({ seccompFilter: filter })],
    ['with no_new_privs', { ...withIdentity({ noNewPrivileges: true, seccompFilter: filter }), isFilteredEarly: false }],
    ['where others may trace', { ...withIdentity({ seccompFilter: filter, capabilities: new Set([ptrace]) }), isFilteredEarly: false }],
  ])('has no rights from its beginning: %s', (_name, over) => {
    for (const program of visible(over)) expect(last(calls(program, 'setresuid'))).toBeLessThan(last(forks(program, clone.parent)));
  });

  test('shares no memory with those that keep their rights', () => {
    for (const program of visible(spec)) {
      const [made = 0] = forks(program, clone.parent);
      expect(program.steps[made]?.args[0]).toSatisfy((flags: number) => (flags & clone.vm) === 0 && (flags & clone.vfork) !== 0);
    }
  });

  test('can be entered only after it has executed its program', () => {
    for (const program of [...visible(spec), containerInit(spec)]) {
      const told = positions(program, ({ call, args: [channel, bytes] }) => call === 'write' && channel === 3 && bytes instanceof Buffer && bytes[0] === 4);
      expect(told).toHaveLength(1);
      expect(told[0]).toBeGreaterThan(last(calls(program, 'execve')));
    }
  });

  test('gives up its rights itself if its filter forbids to make processes', () => {
    for (const program of visible({ ...withIdentity({ seccompFilter: filter }), isFilteredEarly: false })) {
      expect(last(calls(program, 'seccomp'))).toBeGreaterThan(last(forks(program, clone.parent)));
      expect(last(calls(program, 'seccomp'))).toBeLessThan(last(calls(program, 'setresuid')));
    }
  });

  test('sets its filter last if it has no_new_privs', () => {
    for (const program of [
      ...visible(withIdentity({ noNewPrivileges: true, seccompFilter: filter })),
      containerInit(withIdentity({ noNewPrivileges: true, seccompFilter: filter })),
    ]) {
      expect(last(calls(program, 'seccomp'))).toBe((calls(program, 'execve')[0] ?? 0) - 1);
    }
  });
});

test('a program is looked up in the directories of its own PATH, not relative to another', () => {
  const files = (command: readonly string[], variables: readonly string[]) => execute({ command, variables }).map(({ args: [file] }) => file);
  expect(files(['program'], ['PATH=/a', 'PATH=/b::c:/d'])).toEqual(['/b/program', '/d/program']);
  expect(files(['program'], [])).toEqual(['']);
  expect(files(['./program'], ['PATH=/a'])).toEqual(['./program']);
  expect(execute({ command: ['program'], variables: ['PATH=/a:/b'] }).map(({ allows = [] }) => allows.length > 0)).toEqual([true, false]);
});

test('capabilities are Kubernetes’ defaults, with what is added and without what is dropped', () => {
  const all = permittedCapabilities('CapPrm:\t000001ffffffffff\n');
  expect(all.size).toBe(41);
  const of = (add: readonly string[], drop: readonly string[], privileged = false) =>
    [...capabilitiesOf({ privileged, capabilities: { add, drop } }, all)].sort((a, b) => a - b);
  expect(of([], [])).toEqual([0, 1, 3, 4, 5, 6, 7, 8, 10, 13, 18, 29, 31]);
  expect(of(['NET_ADMIN'], ['ALL'])).toEqual([12]);
  expect(of(['CAP_NET_ADMIN', 'net_admin'], ['cap_kill', 'all'])).toEqual([12]);
  expect(of(['ALL'], ['CHOWN'])).toHaveLength(40);
  expect(of([], ['ALL'], true)).toHaveLength(41);
});

test('the pause process of a shared process namespace has no rights and an empty root', () => {
  const shared = pauseInit({ network: undefined, ownIpc: true, sharesProcesses: true, sysctls: [], scratch: '/scratch' });
  const [first = 0] = calls(shared, 'clone');
  expect(calls(shared, 'pivot_root')[0]).toBeGreaterThan(first);
  expect(last(calls(shared, 'capset'))).toBeLessThan(last(calls(shared, 'ppoll')));
  expect(calls(pauseInit({ network: undefined, ownIpc: true, sharesProcesses: false, sysctls: [], scratch: '/scratch' }), 'clone')).toEqual([]);
});

test('netmasks', () => {
  expect([0, 8, 20, 24, 30, 32].map((prefix) => netmask(prefix).join('.'))).toEqual([
    '0.0.0.0',
    '255.0.0.0',
    '255.255.240.0',
    '255.255.255.0',
    '255.255.255.252',
    '255.255.255.255',
  ]);
});
