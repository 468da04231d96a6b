/** iSCSI with a simulated iscsiadm: it keeps records and sessions as the real one does, and shows them in /sys. */
import { describe, expect, test } from 'vitest';
import type { Pod, Secret } from '../../api/generated/types.ts';
import { Machine, SimulatedHost } from '../../sim/host/simulated-host.ts';
import type { ProgramResult, Programs } from '../../world/programs.ts';
import { describeNodeDriver } from '../conformance.ts';
import type { NodeDriver, SourceOnNode } from '../contract.ts';
import type { NodeHost } from '../mount/node-host.ts';
import { iscsiNode } from './node.ts';
import { diskOf, settingsIn } from './target.ts';

const iqn = 'iqn.2003-01.org.example:disks';
const portal = '10.0.0.1:3260';
const hosts = '/sys/class/iscsi_host';
const bytes = (text: string) => new TextEncoder().encode(text);
const exited = (code: number, output = ''): ProgramResult => ({ type: 'exited', code, output });
const argument = (args: readonly string[], flag: string) => args[args.indexOf(flag) + 1] ?? '';

/** One SCSI host for each portal with a session. */
async function login(host: NodeHost, where: string, lun: number): Promise<void> {
  const number = where.startsWith(portal) ? 3 : 4;
  const session = `${hosts}/host${number}/device/session1`;
  const [address = '', port = ''] = where.split(':');
  const connection = `${session}/connection1:0/iscsi_connection/connection1:0`;
  const unit = `${session}/target${number}:0:0/${number}:0:0:${lun}/block/sd${number}`;
  for (const path of [`${session}/iscsi_session/session1`, connection, unit, `/sys/class/scsi_host/host${number}`, '/dev/disk/by-path']) {
    await host.files.makeDirectory(path, 0o755);
  }
  await host.files.write(`/dev/disk/by-path/ip-${where}-iscsi-${iqn}-lun-${lun}`, bytes(''), 0o600);
  for (const kind of ['', 'persistent_']) {
    await host.files.write(`${connection}/${kind}address`, bytes(`${address}\n`), 0o444);
    await host.files.write(`${connection}/${kind}port`, bytes(`${port}\n`), 0o444);
  }
  // Written last: the kernel shows a session when it is complete.
  await host.files.write(`${session}/iscsi_session/session1/targetname`, bytes(`${iqn}\n`), 0o444);
}

interface Played {
  readonly calls: string[];
  readonly refuses?: (command: string) => ProgramResult | undefined;
}

const shown = '# BEGIN RECORD 2.1.8\niface.iscsi_ifacename = default\niface.transport_name = tcp\niface.mtu = <empty>\n# END RECORD\n';

function played(host: NodeHost, { calls, refuses = () => undefined }: Played): Programs {
  return {
    run: async (file, args) => {
      const command = [file, ...args].join(' ');
      calls.push(command);
      const refused = refuses(command);
      if (refused !== undefined) return refused;
      if (file === 'blkid') return exited(0, 'TYPE=ext4\n');
      if (args.includes('--login')) await login(host, argument(args, '-p'), 0);
      if (args.includes('--logout')) await host.files.removeTree(`${hosts}/host${argument(args, '-p') === portal ? 3 : 4}`);
      if (args.includes('show')) return exited(0, shown);
      return exited(0);
    },
  };
}

/** A disk is a file here, so that its content stays. */
const withDisk = (host: SimulatedHost): NodeHost => ({
  files: host,
  mounts: {
    table: () => host.table(),
    unmount: (target, how) => host.unmount(target, how),
    mount: async (request) => {
      if (request.type !== 'file-system') return host.mount(request);
      const { source: _, ...rest } = request;
      return host.mount({ ...rest, type: 'image', image: '/disk' });
    },
  },
});

const secret = { metadata: {}, data: { 'node.session.auth.username': 'bWU=', 'node.session.auth.password': 'c2VjcmV0' } } as unknown as Secret;

/** Time passes only while a timer runs. */
function iscsiOn(host: NodeHost, play: Played): NodeDriver {
  let now = 0;
  const timers = { after: (ms: number, then: () => void) => ((now += ms), then(), () => undefined), soon: (then: () => void) => then() };
  const passing = { now: () => now, monotonic: () => now };
  return iscsiNode({ ...host, programs: played(host, play), clock: passing, timers, secret: (key) => (key === 'default/chap' ? secret : undefined) });
}

describeNodeDriver('iscsi', {
  machine: () => {
    const machine = new Machine();
    return { host: (hooks = {}) => new SimulatedHost(machine, hooks) };
  },
  prepare: async ({ files }) => files.write('/disk', new Uint8Array(1), 0o600),
  make: async ({ files }) => iscsiOn(withDisk(files as SimulatedHost), { calls: [] }),
  volume: { source: { iscsi: { targetPortal: '10.0.0.1', iqn, lun: 0 } } },
  data: undefined,
  content: 'outlives pods',
  readOnly: 'driver',
});

async function setUp(iscsi: Partial<NonNullable<SourceOnNode['iscsi']>> = {}, refuses?: Played['refuses']) {
  const host = new SimulatedHost();
  const calls: string[] = [];
  await host.write('/disk', new Uint8Array(1), 0o600);
  const driver = iscsiOn(withDisk(host), { calls, ...(refuses === undefined ? {} : { refuses }) });
  const source = { iscsi: { targetPortal: '10.0.0.1', iqn, lun: 0, ...iscsi } } as SourceOnNode;
  const plain = { persistentVolume: undefined, readOnly: false, mountOptions: [], publishContext: {} };
  const pod = { metadata: { namespace: 'default', name: 'web', uid: 'uid' }, spec: { containers: [] } } as unknown as Pod;
  const stage = (name = 'pv', mode: 'Filesystem' | 'Block' = 'Filesystem') =>
    driver.nodeStageVolume?.({ volume: { name, source, mode, ...plain }, stagingPath: `/plugins/${name}/globalmount`, pod });
  const unstage = (name = 'pv') => driver.nodeUnstageVolume?.({ handle: name, stagingPath: `/plugins/${name}/globalmount` });
  const device = () =>
    driver.nodePublishVolume({
      volume: { name: 'pv', source, mode: 'Block', ...plain },
      pod,
      target: '/pods/pv',
      stagingPath: '/plugins/pv/globalmount',
      recordEvent: () => undefined,
    });
  return { host, driver, calls, stage, unstage, device };
}

const done = { ok: true, value: undefined };
const discovery = `iscsiadm -m discoverydb -t sendtargets -p ${portal} -I default`;
const node = `iscsiadm -m node -p ${portal} -T ${iqn} -I default`;

describe('iscsi', () => {
  test('a disk is attached and detached by the commands of the kubelet, in its order (v1.36.4)', async () => {
    const { host, calls, stage, unstage } = await setUp();
    expect(await stage()).toEqual(done);
    expect(calls.splice(0)).toEqual([
      'iscsiadm -m iface -I default -o show',
      `${discovery} -o new`,
      `${discovery} --discover`,
      `${node} -o update -n node.session.scan -v manual`,
      `${node} --login`,
      `iscsiadm -m node -p ${portal} -T ${iqn} -o update -n node.startup -v manual`,
      expect.stringMatching(/^blkid /),
      `fsck -a /dev/disk/by-path/ip-${portal}-iscsi-${iqn}-lun-0`,
    ]);
    expect(new TextDecoder().decode(await host.read('/sys/class/scsi_host/host3/scan'))).toBe('0 0 0');
    expect(await stage()).toEqual(done);
    expect(calls.splice(0)).toEqual([]);
    expect(await unstage()).toEqual(done);
    expect(calls).toEqual([`iscsiadm -m node -p ${portal} -T ${iqn} --logout -I default`, `iscsiadm -m node -p ${portal} -T ${iqn} -o delete -I default`]);
    expect(await host.list('/plugins')).toEqual([]);
  });

  test('the session stays while another disk of the target is in use', async () => {
    const { calls, stage, unstage } = await setUp();
    await stage('one');
    calls.splice(0);
    await stage('two');
    expect(calls.splice(0).filter((call) => call.includes('login'))).toEqual([]);
    expect(await unstage('one')).toEqual(done);
    expect(calls.filter((call) => call.includes('logout'))).toEqual([]);
    expect(await unstage('two')).toEqual(done);
    expect(calls.filter((call) => call.includes('logout'))).toHaveLength(1);
  });

  test('CHAP credentials come from the secret, and are in no message', async () => {
    const chap = { chapAuthSession: true, secretRef: { name: 'chap' } };
    const { calls, stage } = await setUp(chap);
    expect(await stage()).toEqual(done);
    expect(calls).toContain(`${node} -o update -n node.session.auth.authmethod -v CHAP`);
    expect(calls).toContain(`${node} -o update -n node.session.auth.password -v secret`);
    const refusing = await setUp(chap, (command) => (command.includes('auth.password') ? exited(7, 'cannot set secret') : undefined));
    const message = expect.stringMatching(/failed to update node key "node.session.auth.password" error: cannot set \*\*\*$/);
    expect(await refusing.stage()).toMatchObject({ ok: false, message });
    const missing = await setUp({ ...chap, secretRef: { name: 'none' } });
    expect(await missing.stage()).toMatchObject({
      ok: false,
      message: expect.stringContaining(`couldn't get secret default/none error: secrets "none" not found`),
    });
    expect(missing.calls).toEqual([]);
  });

  test('an initiator name gets an iface of its own, which is deleted with the disk', async () => {
    const { calls, stage, unstage } = await setUp({ initiatorName: 'iqn.1993-08.org.debian:me' });
    await stage();
    const iface = `${portal}:pv`;
    expect(calls.slice(1, 4)).toEqual([
      `iscsiadm -m iface -I ${iface} -o new`,
      `iscsiadm -m iface -I ${iface} -o update -n iface.initiatorname -v iqn.1993-08.org.debian:me`,
      `iscsiadm -m iface -I ${iface} -o update -n iface.transport_name -v tcp`,
    ]);
    await unstage();
    expect(calls.at(-1)).toBe(`iscsiadm -m iface -I ${iface} -o delete`);
  });

  test('one portal of several suffices after the maximum of attempts', async () => {
    const { calls, stage } = await setUp({ portals: ['10.0.0.2'] }, (command) =>
      command.includes('10.0.0.2') && command.includes('--discover') ? exited(4, 'no route') : undefined,
    );
    expect(await stage()).toEqual(done);
    expect(calls.filter((call) => call.includes('-p 10.0.0.2:3260') && call.endsWith('--discover'))).toHaveLength(5);
    expect(calls.filter((call) => call.endsWith('--login'))).toHaveLength(1);
  });

  test('a failure has Kubernetes’ message, and leaves no record', async () => {
    const lost = await setUp({}, (command) => (command.endsWith('--login') ? exited(8, 'iscsiadm: connection timed out\n') : undefined));
    expect(await lost.stage()).toMatchObject({
      ok: false,
      message: 'failed to get any path for iscsi disk, last err seen:\niscsi: failed to attach disk: Error: iscsiadm: connection timed out\n (exit status 8)',
    });
    expect(lost.calls.at(-1)).toBe(`iscsiadm -m node -p ${portal} -I default -T ${iqn} -o delete`);
    const none = await setUp({}, (command) => (command.startsWith('iscsiadm') ? { type: 'failed', message: 'spawn iscsiadm ENOENT' } : undefined));
    expect(await none.stage()).toMatchObject({ ok: false, message: expect.stringContaining('spawn iscsiadm ENOENT') });
    expect(await none.unstage()).toMatchObject({ ok: false });
  });

  test('a block volume is the device itself; with several paths, the multipath device', async () => {
    const { host, stage, device } = await setUp();
    expect(await stage('pv', 'Block')).toEqual(done);
    expect(await device()).toEqual({ ok: true, value: { path: '/dev/sd3' } });
    await host.makeDirectory('/sys/block/dm-7/slaves/sd3', 0o755);
    expect(await device()).toEqual({ ok: true, value: { path: '/dev/dm-7' } });
  });
});

test('no field of a volume can become an option or a path', () => {
  for (const wrong of [{ iqn: '--logout' }, { targetPortal: '-I' }, { iqn: '../x' }, { iscsiInterface: 'a b' }]) {
    const source = { iscsi: { targetPortal: '10.0.0.1', iqn, lun: 0, ...wrong } };
    expect(diskOf({ name: 'pv', source })).toMatchObject({ ok: false, code: 'InvalidArgument' });
  }
  expect([...settingsIn(shown)]).toEqual([
    ['iface.iscsi_ifacename', 'default'],
    ['iface.transport_name', 'tcp'],
  ]);
});
