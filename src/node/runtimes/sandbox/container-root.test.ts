import { describe, expect, test } from 'vitest';
import type { ContainerMount } from '../../contract.ts';
import type { ContainerSpec } from '../../runtime.ts';
import { containerRoot, type RootContext } from './container-root.ts';

const context: RootContext = {
  scratch: '/state/stage',
  image: { layers: [{ target: '/', lower: ['../image'] }], hardware: ['devices/system/cpu/cpu0/thermal_throttle'] },
  writableBytes: 2 ** 30,
  devices: '../devices',
  files: { hosts: '/state/hosts', resolvConf: '/state/resolv.conf', hostname: '/state/hostname' },
  terminationMessage: '/state/message',
  groups: [],
};
const mount = (hostPath: string, containerPath: string, over: Partial<ContainerMount> = {}): ContainerMount => ({
  hostPath,
  containerPath,
  volume: 'v',
  readOnly: false,
  recursiveReadOnly: false,
  propagation: 'private',
  ...over,
});
const rootOf = (over: Partial<ContainerSpec>) => {
  const usual = { mounts: [], devices: [], workingDir: '', readOnlyRoot: false, privileged: false, terminationMessage: { path: '/dev/termination-log' } };
  return containerRoot({ ...usual, ...over } as unknown as ContainerSpec, context);
};
const volumesOf = (over: Partial<ContainerSpec>) => rootOf(over).binds.slice(4);

describe('the root of a container', () => {
  test('a volume in another comes after it, and all come after the files of the pod', () => {
    const { binds } = rootOf({ mounts: [mount('/b', '/data/deep/below'), mount('/a', '/data'), mount('/c', '/etc')] });
    expect(binds.map(({ target }) => target)).toEqual([
      '/etc/hosts',
      '/etc/resolv.conf',
      '/etc/hostname',
      '/dev/termination-log',
      '/data',
      '/etc',
      '/data/deep/below',
    ]);
  });

  test('what it may write to its root is its limit, else that of the runtime, and never nothing: that would be no limit', () => {
    expect(rootOf({}).writable).toEqual({ bytes: 2 ** 30, files: 2 ** 18 });
    expect(rootOf({ writableBytes: 10_000_000 }).writable).toEqual({ bytes: 9_998_336, files: 4096 });
    expect(rootOf({ writableBytes: 0 }).writable).toEqual({ bytes: 4096, files: 4096 });
  });

  test('what is read-only, itself or with all below, and what is shared with the host is said', () => {
    const shared = mount('/s', '/s', { propagation: 'shared' });
    const [first, second, third] = volumesOf({
      mounts: [shared, mount('/r', '/r', { readOnly: true }), mount('/t', '/t', { readOnly: true, recursiveReadOnly: true })],
    });
    expect(first).toMatchObject({ readOnly: false, propagation: 'shared' });
    expect(second).toMatchObject({ readOnly: 'itself', propagation: 'private' });
    expect(third).toMatchObject({ readOnly: 'with all below' });
  });

  test('only a privileged container opens device nodes of its volumes', () => {
    expect(volumesOf({ mounts: [mount('/a', '/a')] })).toMatchObject([{ hasDevices: false }]);
    expect(volumesOf({ mounts: [mount('/a', '/a')], privileged: true })).toMatchObject([{ hasDevices: true }]);
  });

  test('what of /proc and /sys is the machine’s is masked or read-only', () => {
    const { proc, sys } = rootOf({});
    expect(proc.masked).toEqual(expect.arrayContaining(['kcore', 'keys', 'timer_list', 'acpi', 'scsi']));
    expect(proc.readOnlyPaths).toEqual(['bus', 'fs', 'irq', 'sys', 'sysrq-trigger']);
    expect(sys).toEqual({ readOnly: true, masked: ['firmware', 'devices/virtual/powercap', 'devices/system/cpu/cpu0/thermal_throttle'], readOnlyPaths: [] });
  });

  test('procMount Unmasked opens /proc, and privileged /sys as well', () => {
    const nothing = { masked: [], readOnlyPaths: [] };
    expect(rootOf({ unmaskedProc: true })).toMatchObject({ proc: nothing, sys: { ...nothing, readOnly: true } });
    expect(rootOf({ privileged: true })).toMatchObject({ proc: nothing, sys: { ...nothing, readOnly: false } });
  });

  test('a termination message elsewhere is bound there too', () => {
    const at = (path: string) => volumesOf({ terminationMessage: { path, orLastLog: false } }).map(({ source, target }) => [source, target]);
    expect([at('/var/end'), at('/dev/termination-log'), at('')]).toEqual([[['/state/message', '/var/end']], [], []]);
  });
});
