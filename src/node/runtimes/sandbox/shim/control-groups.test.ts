import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir, totalmem } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ControlGroups, usualDevices } from './control-groups.ts';

const none = { cpuMilli: undefined, cpuRequestMilli: undefined, memoryBytes: undefined };
const some = { cpuMilli: 500, cpuRequestMilli: 250, memoryBytes: 1 << 20 };
const devices = { allowed: undefined };

let root = '';
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'moor-groups-'));
});
afterEach(() => rmSync(root, { recursive: true }));

/** A directory as the kernel makes one: with its files. */
function group(directory: string, files: Readonly<Record<string, string>>): void {
  mkdirSync(path.join(root, directory), { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(root, directory, name), text);
}
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');

/** The limit of all pods of a node. */
const isBelowMachine = (bytes: string): boolean => Number(bytes) > totalmem() / 2 && Number(bytes) < totalmem() * 0.95;

describe('control groups version 2', () => {
  const usual = {
    'cgroup.subtree_control': '',
    'pids.max': 'max',
    'memory.max': 'max',
    'memory.events': 'oom_kill 0\n',
    'cpu.max': 'max 100000\n',
    'cpu.weight': '100\n',
  };
  const hierarchy = (controllers: string) => {
    for (const directory of ['', 'moor-0', 'moor-0/pod-a', 'moor-0/pod-a/c']) group(directory, { ...usual, 'cgroup.controllers': `${controllers}\n` });
  };

  test('a pod has a limit of processes, and its controllers are passed on, also without limits in its spec', () => {
    hierarchy('cpuset cpu memory pids');
    const groups = new ControlGroups('moor-0', root);
    groups.makePod('a', none);
    expect(read('moor-0/pod-a/pids.max')).toBe('4096');
    expect(isBelowMachine(read('moor-0/memory.max'))).toBe(true);
    for (const parent of ['', 'moor-0', 'moor-0/pod-a']) expect(read(path.join(parent, 'cgroup.subtree_control'))).toMatch(/^\+(cpu|memory|pids)$/);
    const container = groups.makeContainer('a', 'c', { limits: none, devices });
    expect(container.groups).toEqual([{ controllers: '', directory: path.join(root, 'moor-0/pod-a/c') }]);
    expect(read('moor-0/pod-a/c/memory.max')).toBe('max');
  });

  test('limits are set, changed and taken away', () => {
    hierarchy('cpu memory pids');
    const container = new ControlGroups('moor-0', root).makeContainer('a', 'c', { limits: some, devices });
    const values = () => ['memory.max', 'cpu.max', 'cpu.weight'].map((name) => read(path.join('moor-0/pod-a/c', name)).trim());
    expect(values()).toEqual(['1048576', '50000 100000', '25']);
    writeFileSync(path.join(root, 'moor-0/pod-a/c/cpu.max'), '');
    writeFileSync(path.join(root, 'moor-0/pod-a/c/memory.max'), '');
    container.limit({ ...none, cpuMilli: 1000 });
    expect(values().slice(0, 2)).toEqual(['max', '100000 100000']);
    writeFileSync(path.join(root, 'moor-0/pod-a/c/memory.events'), 'oom_kill 2\n');
    expect(container.ranOutOfMemory()).toBe(true);
  });

  test('a limit without its controller is an error, and so is a pod without a limit of processes', () => {
    hierarchy('cpu pids');
    const groups = new ControlGroups('moor-0', root);
    expect(() => groups.makeContainer('a', 'c', { limits: some, devices })).toThrow(
      'limits.memory cannot be set: this machine has no memory controller of control groups',
    );
    hierarchy('cpu');
    expect(() => groups.makePod('a', none)).toThrow('this machine has no pids controller of control groups');
  });
});

describe('control groups version 1', () => {
  const files = {
    pids: { 'pids.max': 'max' },
    memory: { 'memory.limit_in_bytes': '9223372036854771712\n', 'memory.oom_control': 'oom_kill 0\n' },
    'cpu,cpuacct': { 'cpu.cfs_quota_us': '-1\n', 'cpu.shares': '1024\n' },
    devices: { 'devices.allow': '', 'devices.deny': '' },
  };
  beforeEach(() => {
    for (const [hierarchy, own] of Object.entries(files))
      for (const directory of ['', 'moor-0', 'moor-0/pod-a', 'moor-0/pod-a/c']) group(path.join(hierarchy, directory), { ...own, 'cgroup.procs': '' });
    symlinkSync('cpu,cpuacct', path.join(root, 'cpu'));
  });

  test('a container is in a group of every hierarchy, and opens only the devices that it is given', () => {
    const groups = new ControlGroups('moor-0', root);
    groups.makePod('a', none);
    expect(read('pids/moor-0/pod-a/pids.max')).toBe('4096');
    expect(isBelowMachine(read('memory/moor-0/memory.limit_in_bytes'))).toBe(true);
    const { groups: joined } = groups.makeContainer('a', 'c', { limits: none, devices: { allowed: usualDevices } });
    expect(joined.map(({ controllers }) => controllers)).toEqual(['pids', 'memory', 'cpu,cpuacct', 'devices']);
    expect(read('devices/moor-0/pod-a/c/devices.deny')).toBe('a');
    expect(read('devices/moor-0/pod-a/c/devices.allow')).toContain('c 136:* rwm');
    expect(read('memory/moor-0/pod-a/c/memory.limit_in_bytes')).toBe('9223372036854771712\n');
    // Without a request it comes after all that have one.
    expect(read('cpu/moor-0/pod-a/c/cpu.shares')).toBe('2');
  });

  test('a pod has limits for all of its containers together, which change with them', () => {
    const groups = new ControlGroups('moor-0', root);
    groups.makePod('a', some);
    const values = () => ['memory/moor-0/pod-a/memory.limit_in_bytes', 'cpu/moor-0/pod-a/cpu.cfs_quota_us', 'cpu/moor-0/pod-a/cpu.shares'].map(read);
    expect(values()).toEqual(['1048576', '50000', '256']);
    groups.limitPod('a', { cpuMilli: undefined, cpuRequestMilli: 0, memoryBytes: 1 << 21 });
    expect(values()).toEqual(['2097152', '-1', '2']);
    groups.limitPod('a', { cpuMilli: undefined, cpuRequestMilli: 22, memoryBytes: 1 << 21 });
    expect(values()[2]).toBe('22');
  });

  test('what the kernel refuses is an error', () => {
    rmSync(path.join(root, 'memory/moor-0/pod-a/c/memory.limit_in_bytes'));
    const groups = new ControlGroups('moor-0', root);
    expect(() => groups.makeContainer('a', 'c', { limits: some, devices })).toThrow(
      /^the kernel refuses 1048576 for memory.limit_in_bytes of the control group: ENOENT/,
    );
  });

  test('groups of shims that run no more are removed, those of others stay', () => {
    for (const name of ['moor-00000001/pod-x/y', 'moor-00000002/pod-x', 'of-others']) mkdirSync(path.join(root, 'pids', name), { recursive: true });
    new ControlGroups('moor-00000003', root).removeEmpty(new Set(['moor-00000002']));
    const left = ['moor-00000001', 'moor-00000002/pod-x', 'of-others'].filter((name) => existsSync(path.join(root, 'pids', name)));
    expect(left).toEqual(['moor-00000002/pod-x', 'of-others']);
  });
});
