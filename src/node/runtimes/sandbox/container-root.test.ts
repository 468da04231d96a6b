import { describe, expect, test } from 'vitest';
import type { ContainerMount } from '../../contract.ts';
import type { ContainerSpec } from '../../runtime.ts';
import { containerRoot, type RootPaths } from './container-root.ts';

const place: RootPaths = {
  scratch: '/state/stage',
  devices: '../devices',
  files: { hosts: '/state/hosts', resolvConf: '/state/resolv.conf', hostname: '/state/hostname' },
  terminationMessage: '/state/message',
  hidden: ['/state', '/run/moor', '/tmp/x'],
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
  return containerRoot({ ...usual, ...over } as unknown as ContainerSpec, place);
};
const targets = (over: Partial<ContainerSpec>) => rootOf(over).mounts.map(({ target }) => target);

describe('the root of a container', () => {
  test('a volume in another comes after it, and files come last: they may lie in any of them', () => {
    const { mounts } = rootOf({ mounts: [mount('/b', '/data/deep/below'), mount('/a', '/data'), mount('/c', '/etc')] });
    const volumes = mounts.filter((each) => each.type === 'bind' && each.only !== undefined).map((each) => [each.target, each.type === 'bind' && each.only]);
    expect(volumes).toEqual([
      ['/data', 'directory'],
      ['/etc', 'directory'],
      ['/data/deep/below', 'directory'],
      ['/data', 'file'],
      ['/etc', 'file'],
      ['/data/deep/below', 'file'],
    ]);
  });

  test('what is read-only, itself or with all below, and what is shared with the host is said', () => {
    const shared = mount('/s', '/s', { propagation: 'shared' });
    const root = rootOf({ mounts: [shared, mount('/r', '/r', { readOnly: true }), mount('/t', '/t', { readOnly: true, recursiveReadOnly: true })] });
    expect(root.shared).toEqual(['/s']);
    const [first, second, third] = root.mounts.filter((each) => each.type === 'bind' && each.only === 'directory');
    expect(first).toMatchObject({ readOnly: false, propagation: 'shared', recursive: true });
    expect(second).toMatchObject({ readOnly: 'itself' });
    expect(third).toMatchObject({ readOnly: 'with all below' });
  });

  test('what of /proc is the machine’s is read-only unless the container is privileged; then it is as it is', () => {
    for (const name of ['acpi', 'scsi', 'sys', 'sysrq-trigger']) {
      expect(rootOf({}).mounts).toContainEqual(expect.objectContaining({ target: `/proc/${name}`, readOnly: 'itself', mayFail: true }));
      expect(targets({ privileged: true })).not.toContain(`/proc/${name}`);
    }
  });

  test('what no container is to see is hidden, unless what is around it is anyway', () => {
    expect(targets({})).toContain('/state');
    expect(targets({})).not.toContain('/run/moor');
    expect(targets({})).not.toContain('/tmp/x');
  });

  test('a termination message elsewhere is bound there too', () => {
    const at = (path: string) => targets({ terminationMessage: { path, orLastLog: false } }).filter((target) => target === '/var/end');
    expect([at('/var/end'), at('/dev/termination-log'), at('')]).toEqual([['/var/end'], [], []]);
  });
});
