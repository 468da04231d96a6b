import { describe, expect, test } from 'vitest';
import type { Pod, Secret } from '../../api/generated/types.ts';
import { Machine, SimulatedHost } from '../../sim/host/simulated-host.ts';
import type { ProgramResult, Programs } from '../../world/programs.ts';
import { describeNodeDriver } from '../conformance.ts';
import type { NodeDriver, SourceOnNode } from '../contract.ts';
import type { NodeHost } from '../mount/node-host.ts';
import { flexDrivers } from './node.ts';

const name = 'example.com/disk';
const executable = '/exec/example.com~disk/disk';
const success = (more: object = {}): ProgramResult => ({ type: 'exited', code: 0, output: JSON.stringify({ status: 'Success', ...more }) });
const unsupported: ProgramResult = { type: 'exited', code: 1, output: '{"status":"Not supported"}' };

type Behaviour = (command: string, args: readonly string[]) => Promise<ProgramResult | undefined> | ProgramResult | undefined;

/** A driver whose executable responds as the test says, by default as listed. */
function flexOn(host: NodeHost, behaviour: Behaviour, calls: string[] = []): NodeDriver {
  const programs: Programs = {
    run: async (file, [command = '', ...args]) => {
      calls.push([file === executable ? '' : file, command, ...args].join(' ').trim());
      return (await behaviour(command, args)) ?? (command === 'init' ? success() : unsupported);
    },
  };
  const secret = (key: string) => (key === 'default/key' ? ({ metadata: {}, type: name, data: { password: 'c2VjcmV0' } } as unknown as Secret) : undefined);
  const clock = { now: () => 0, monotonic: () => 0 };
  const driver = flexDrivers({ ...host, clock, programs, nodeName: 'node-1', secret, directory: '/exec' })(name);
  if (driver === undefined) throw new Error('the driver does not exist');
  return driver;
}

async function install({ files }: NodeHost): Promise<void> {
  await files.makeDirectory('/exec/example.com~disk', 0o755);
  await files.write(executable, new Uint8Array(), 0o755);
}

/** Does not attach; mount binds. */
const binding =
  ({ mounts, files }: NodeHost): Behaviour =>
  async (command, [target = '']) => {
    if (command === 'init') return success({ capabilities: { attach: false } });
    if (command === 'mount') await mounts.mount({ type: 'bind', source: '/disks/data', target, recursive: false });
    if (command === 'unmount' && (await mounts.table()).some((entry) => entry.target === target)) await mounts.unmount(target);
    return command === 'mount' || (command === 'unmount' && (await files.stat(target)) !== undefined) ? success() : undefined;
  };

/** Attaches and mounts the device; does not support mount and unmount. */
const attaching =
  ({ mounts }: NodeHost): Behaviour =>
  async (command, [target = '']) => {
    if (command === 'attach') return success({ device: '/dev/x' });
    if (command === 'mountdevice') await mounts.mount({ type: 'bind', source: '/disks/data', target, recursive: false });
    if (command === 'unmountdevice') await mounts.unmount(target);
    return command === 'mountdevice' || command === 'unmountdevice' || command === 'detach' ? success() : undefined;
  };

for (const [title, behaviour] of [
  ['flexVolume', binding],
  ['flexVolume that attaches', attaching],
] as const) {
  describeNodeDriver(title, {
    machine: () => {
      const machine = new Machine();
      return { host: (hooks = {}) => new SimulatedHost(machine, hooks) };
    },
    make: async (host) => flexOn(host, behaviour(host)),
    prepare: install,
    volume: { source: { flexVolume: { driver: name } } },
    data: '/disks/data',
    content: 'outlives pods',
    readOnly: 'container',
  });
}

const pod = {
  metadata: { namespace: 'default', name: 'web', uid: 'uid' },
  spec: { containers: [], serviceAccountName: 'default', securityContext: { fsGroup: 7 } },
} as unknown as Pod;

async function setUp(behaviour: Behaviour = () => undefined, flexVolume: SourceOnNode['flexVolume'] = { driver: name }) {
  const host = new SimulatedHost();
  const calls: string[] = [];
  for (const each of ['/disks/data', '/pods', '/plugins']) await host.makeDirectory(each, 0o755);
  const machine = { mounts: host, files: host };
  await install(machine);
  const driver = flexOn(machine, behaviour, calls);
  const plain = { persistentVolume: undefined, mountOptions: [], mode: 'Filesystem' as const, publishContext: {} };
  const volume = { name: 'pv', source: { flexVolume }, readOnly: false, ...plain };
  const stage = () => driver.nodeStageVolume?.({ volume, stagingPath: '/plugins/pv' });
  const unstage = () => driver.nodeUnstageVolume?.({ handle: 'pv', stagingPath: '/plugins/pv' });
  const publish = () => driver.nodePublishVolume({ volume, pod, target: '/pods/pv', stagingPath: '/plugins/pv', recordEvent: () => undefined });
  const unpublish = () => driver.nodeUnpublishVolume({ target: '/pods/pv', name: 'pv', podUid: 'uid' });
  return { host, machine, calls, stage, unstage, publish, unpublish };
}

describe('flexVolume (v1.36.4)', () => {
  const asked = '{"kubernetes.io/fsType":"","kubernetes.io/pvOrVolumeName":"pv","kubernetes.io/readwrite":"rw"}';

  test('is called in order; unsupported commands are called once', async () => {
    const { host, calls, stage, unstage, publish, unpublish } = await setUp((command) => {
      if (command === 'attach') return success({ device: '/dev/x' });
      return command === 'waitforattach' ? success({ device: '/dev/y' }) : undefined;
    });
    expect([await stage(), await publish(), await unpublish(), await unstage()]).toEqual(
      Array.from({ length: 4 }, () => expect.objectContaining({ ok: true })),
    );
    const first = ['init', `getvolumename ${asked}`, `attach ${asked} node-1`, `waitforattach /dev/x ${asked}`, `mountdevice /plugins/pv /dev/y ${asked}`];
    const forPod =
      '{"kubernetes.io/fsType":"","kubernetes.io/mounterArgs.FsGroup":"7","kubernetes.io/pod.name":"web","kubernetes.io/pod.namespace":"default",' +
      '"kubernetes.io/pod.uid":"uid","kubernetes.io/pvOrVolumeName":"pv","kubernetes.io/readwrite":"rw","kubernetes.io/serviceAccount.name":"default"}';
    expect(calls).toEqual([...first, `mount /pods/pv ${forPod}`, 'unmount /pods/pv', 'unmountdevice /plugins/pv', 'detach pv node-1']);
    calls.length = 0;
    await stage();
    expect(calls).toEqual([`attach ${asked} node-1`, `waitforattach /dev/x ${asked}`]);
    expect((await host.table()).at(-1)).toMatchObject({ target: '/plugins/pv', source: '/dev/y', fileSystem: 'ext4' });
  });

  test('a mounted volume stays mounted, and is attached again if it was detached', async () => {
    let attached = true;
    const { calls, machine, host, stage } = await setUp((command, args) =>
      command === 'isattached' ? success({ attached }) : attaching(machine)(command, args),
    );
    await stage();
    calls.length = 0;
    await stage();
    attached = false;
    await stage();
    expect(calls.map((call) => call.split(' ')[0])).toEqual(['isattached', 'isattached', 'attach']);
    expect((await host.table()).filter(({ target }) => target === '/plugins/pv')).toHaveLength(1);
  });

  test('options of the volume take precedence, and secrets of the driver’s type are passed', async () => {
    const described = async (flexVolume: SourceOnNode['flexVolume']) => {
      const { calls, publish } = await setUp((command) => (command === 'mount' ? success() : undefined), flexVolume);
      const answer = await publish();
      return answer.ok ? JSON.parse(calls.at(-1)?.slice('mount /pods/pv '.length) ?? '') : answer.message;
    };
    const options = { size: '1G', 'kubernetes.io/fsType': 'xfs' };
    expect(await described({ driver: name, fsType: 'ext4', options, secretRef: { name: 'key' } })).toMatchObject({
      size: '1G',
      'kubernetes.io/fsType': 'xfs',
      'kubernetes.io/secret/password': 'c2VjcmV0',
    });
    expect(await described({ driver: name, secretRef: { name: 'gone' } })).toBe(`couldn't get secret default/gone err: secrets "gone" not found`);
  });

  const bad = [
    ['nothing', { type: 'exited', code: 0, output: '' }, 'unexpected end of JSON input'],
    ['no JSON', { type: 'exited', code: 0, output: 'hello' }, "invalid character 'h' looking for beginning of value"],
    ['a list', { type: 'exited', code: 0, output: '[]' }, 'json: cannot unmarshal array into Go value of type flexvolume.DriverStatus'],
    ['a number', { type: 'exited', code: 0, output: '{"status":1}' }, 'json: cannot unmarshal number into Go struct field DriverStatus.status of type string'],
    ['a failure', { type: 'exited', code: 1, output: '{"status":"Failure","message":"no disk"}' }, 'mount command failed, status: Failure, reason: no disk'],
    ['an unknown status', { type: 'exited', code: 0, output: '{"Status":"Fine"}' }, 'mount command failed, status: Fine, reason: '],
    ['success, and an exit code', { type: 'exited', code: 3, output: '{"status":"Success"}' }, 'exit status 3'],
    ['nothing in time', { type: 'timeout' }, 'timeout'],
    ['that it cannot run', { type: 'failed', message: 'spawn EACCES' }, 'spawn EACCES'],
  ] as const;
  test.each(bad)('that responds %s has failed, and leaves nothing behind', async (_, end, message) => {
    const { host, publish } = await setUp((command) => (command === 'mount' ? end : undefined));
    expect(await publish()).toMatchObject({ ok: false, message });
    expect(await host.list('/pods')).toEqual([]);
  });

  test('is found once it is installed', async () => {
    const { host, publish } = await setUp((command) => (command === 'mount' ? success() : undefined));
    await host.removeFile(executable);
    expect(await publish()).toMatchObject({ ok: false, message: 'no volume plugin matched name: example.com/disk' });
    await host.write(executable, new Uint8Array(), 0o755);
    expect(await publish()).toMatchObject({ ok: true });
  });

  test.each(['', '..', '../../bin/sh', 'a/../b', 'a/b/c', 'a b/c', 'kubernetes.io/nfs', '.hidden/x'])('cannot have the name %j', (each) => {
    const host = new SimulatedHost();
    const clock = { now: () => 0, monotonic: () => 0 };
    const programs: Programs = { run: async () => success() };
    const find = flexDrivers({ mounts: host, files: host, clock, programs, nodeName: 'n', secret: () => undefined, directory: '/exec' });
    expect(find(each)).toBeUndefined();
  });
});
