import type { Clock, Timers } from '../../world/world.ts';
import { type DriverAnswer, type DriverFailure, failed, succeeded } from '../contract.ts';
import { exitMessage, type HostWithPrograms } from '../mount/mount-program.ts';
import { hostsOf, multipathOf } from './sessions.ts';
import { deviceBehind, type IscsiDisk, settingsIn } from './target.ts';

export interface InitiatorOptions extends HostWithPrograms {
  readonly clock: Clock;
  readonly timers: Timers;
}

/** CHAP credentials of a secret, for both directions. */
export interface Chap {
  readonly discovery: boolean;
  readonly session: boolean;
  readonly secret: ReadonlyMap<string, string>;
}

type Outcome = { readonly ok: true; readonly output: string } | { readonly ok: false; readonly code: number; readonly output: string; readonly words: string };

const commandMs = 120_000;
const deviceMs = 30_000;
const multipathMs = 10_000;
const betweenMs = 1000;
/** Of iscsiadm(8). */
const [sessionNotFound, exists, nothingFound] = [2, 15, 21];
/** With several portals: the maximum number of attempts, and the number of paths that suffices after two attempts. */
const [mostAttempts, enoughAttempts, enoughPaths] = [5, 2, 2];

/** The iscsiadm(8) commands of the kubelet, in its order (v1.36.4). */
export class Initiator {
  readonly #options: InitiatorOptions;

  constructor(options: InitiatorOptions) {
    this.#options = options;
  }

  /** Logs in to each portal without a session. Resolves with the device: the multipath device, if there is one. */
  async attach(disk: IscsiDisk, chap: Chap): Promise<DriverAnswer<string>> {
    const shown = await this.#iscsiadm(['-m', 'iface', '-I', disk.initialIface, '-o', 'show']);
    if (!shown.ok) return failed('FailedPrecondition', `iscsi: could not read iface ${disk.initialIface} error: ${shown.output}${shown.words}`);
    const transport = settingsIn(shown.output).get('iface.transport_name') ?? 'tcp';
    if (transport !== 'tcp') return failed('Unimplemented', `iscsi: transport ${transport} of iface ${disk.initialIface} is not supported`);
    const copied = disk.initiatorName === '' ? undefined : await this.#copyIface(disk, shown.output);
    if (copied !== undefined) return copied;
    const paths = await this.#paths(disk, chap);
    if (!paths.ok) return paths;
    const multipath = await this.#multipath(paths.value, disk.portals.length > 1 ? multipathMs : 0);
    return succeeded(multipath ?? paths.value[0] ?? '');
  }

  /** Logs out and deletes the records of the target. Missing sessions and records are no error. */
  async detach({ portals, iqn, iface, initiatorName, volumeName }: IscsiDisk): Promise<DriverFailure | undefined> {
    const commands = portals.flatMap((portal) => [
      ['-m', 'node', '-p', portal, '-T', iqn, '--logout', '-I', iface],
      ['-m', 'node', '-p', portal, '-T', iqn, '-o', 'delete', '-I', iface],
    ]);
    // Only an iface that was created for this volume.
    const isOwn = initiatorName !== '' && iface === `${portals[0] ?? ''}:${volumeName}`;
    for (const command of [...commands, ...(isOwn ? [['-m', 'iface', '-I', iface, '-o', 'delete']] : [])]) {
      const { ok, ...end } = await this.#iscsiadm(command);
      if (ok || ('code' in end && (end.code === nothingFound || end.code === sessionNotFound))) continue;
      return failed('Internal', `iscsi: failed to detach disk: Error: ${end.output}${'words' in end ? end.words : ''}`);
    }
    return undefined;
  }

  async #paths(disk: IscsiDisk, chap: Chap): Promise<DriverAnswer<readonly string[]>> {
    const found = new Map<string, string>();
    let last = '';
    for (let attempt = 1; attempt <= mostAttempts; attempt++) {
      for (const portal of disk.portals.filter((each) => !found.has(each))) {
        const path = await this.#path(disk, portal, chap);
        if (path.ok) found.set(portal, path.value);
        else last = path.message;
      }
      if (found.size === disk.portals.length || (found.size >= enoughPaths && attempt >= enoughAttempts)) break;
      if (found.size > 0) continue;
      if (disk.initiatorName !== '') await this.#iscsiadm(['-m', 'iface', '-I', disk.iface, '-o', 'delete']);
      return failed('Internal', `failed to get any path for iscsi disk, last err seen:\n${last}`);
    }
    return succeeded([...found.values()]);
  }

  async #path(disk: IscsiDisk, portal: string, chap: Chap): Promise<DriverAnswer<string>> {
    const { files } = this.#options;
    const known = (await hostsOf(files, disk.iqn)).get(portal);
    const refused = known === undefined ? await this.#login(disk, portal, chap) : undefined;
    if (refused !== undefined) return refused;
    const host = known ?? (await hostsOf(files, disk.iqn)).get(portal);
    if (host === undefined) return failed('Internal', `Could not get SCSI host number for portal ${portal} after logging in`);
    // This LUN only, not the other LUNs of the target.
    await files.write(`/sys/class/scsi_host/host${host}/scan`, new TextEncoder().encode(`0 0 ${disk.lun}`), 0o200);
    const device = deviceBehind(portal, disk);
    const isThere = async () => ((await files.stat(device, 'follow')) === undefined ? undefined : device);
    const appeared = await this.#waitFor(isThere, deviceMs);
    if (appeared !== undefined) return succeeded(device);
    return failed('DeadlineExceeded', `Timed out waiting for device at path ${device} after ${deviceMs / 1000}s`);
  }

  async #login(disk: IscsiDisk, portal: string, chap: Chap): Promise<DriverFailure | undefined> {
    const discovery = ['-m', 'discoverydb', '-t', 'sendtargets', '-p', portal, '-I', disk.iface];
    const node = ['-m', 'node', '-p', portal, '-T', disk.iqn, '-I', disk.iface];
    await this.#iscsiadm([...discovery, '-o', 'new']);
    const known = chap.discovery ? await this.#setChap(discovery, 'discovery.sendtargets.auth', chap) : undefined;
    if (known !== undefined) return failed('Internal', `iscsi: failed to update discoverydb to portal ${portal} error: ${known}`);
    const discovered = await this.#iscsiadm([...discovery, '--discover']);
    if (!discovered.ok) {
      await this.#iscsiadm([...discovery, '-o', 'delete']);
      return failed('Internal', `iscsi: failed to sendtargets to portal ${portal} output: ${discovered.output}, err ${discovered.words}`);
    }
    // Otherwise the kernel scans all LUNs of the target. Old versions do not know the setting.
    await this.#iscsiadm([...node, '-o', 'update', '-n', 'node.session.scan', '-v', 'manual']);
    const settled = chap.session ? await this.#setChap(node, 'node.session.auth', chap) : undefined;
    if (settled !== undefined) return failed('Internal', `iscsi: failed to update iscsi node to portal ${portal} error: ${settled}`);
    const loggedIn = await this.#iscsiadm([...node, '--login']);
    if (!loggedIn.ok && loggedIn.code !== exists) {
      await this.#iscsiadm(['-m', 'node', '-p', portal, '-I', disk.iface, '-T', disk.iqn, '-o', 'delete']);
      return failed('Internal', `iscsi: failed to attach disk: Error: ${loggedIn.output} (${loggedIn.words})`);
    }
    // A reboot must not wait for a target that no longer exists.
    await this.#iscsiadm(['-m', 'node', '-p', portal, '-T', disk.iqn, '-o', 'update', '-n', 'node.startup', '-v', 'manual']);
    return undefined;
  }

  /** Undefined: it is set. Messages never contain a secret. */
  async #setChap(record: readonly string[], prefix: string, { secret }: Chap): Promise<string | undefined> {
    const method = await this.#iscsiadm([...record, '-o', 'update', '-n', `${prefix}.authmethod`, '-v', 'CHAP']);
    if (!method.ok) return `iscsi: failed to update ${record[1] ?? ''} with CHAP, output: ${method.output}`;
    for (const name of ['username', 'password', 'username_in', 'password_in']) {
      const value = secret.get(`${prefix}.${name}`) ?? '';
      if (value === '') continue;
      const set = await this.#iscsiadm([...record, '-o', 'update', '-n', `${prefix}.${name}`, '-v', value]);
      if (!set.ok) return `iscsi: failed to update ${record[1] ?? ''} key "${prefix}.${name}" error: ${set.output.replaceAll(value, '***')}`;
    }
    return undefined;
  }

  /** Creates an iface with the volume's initiator name. */
  async #copyIface({ initialIface, iface, initiatorName }: IscsiDisk, shown: string): Promise<DriverFailure | undefined> {
    if (initialIface === iface) return failed('InvalidArgument', `iscsi: cannot clone iface with same name: ${initialIface}`);
    const settings = new Map([...settingsIn(shown)].filter(([name]) => name !== 'iface.iscsi_ifacename')).set('iface.initiatorname', initiatorName);
    const made = await this.#iscsiadm(['-m', 'iface', '-I', iface, '-o', 'new']);
    if (!made.ok && made.code !== exists) return failed('Internal', `iscsi: failed to create new iface: ${made.output} (${made.words})`);
    for (const [name, value] of [...settings].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const set = await this.#iscsiadm(['-m', 'iface', '-I', iface, '-o', 'update', '-n', name, '-v', value]);
      if (set.ok) continue;
      await this.#iscsiadm(['-m', 'iface', '-I', iface, '-o', 'delete']);
      return failed('Internal', `iscsi: failed to update iface records: ${set.output} (${set.words}). iface(${initialIface}) will be used`);
    }
    return undefined;
  }

  async #multipath(paths: readonly string[], forMs: number): Promise<string | undefined> {
    const { files } = this.#options;
    return this.#waitFor(async () => {
      for (const path of paths) {
        const link = await files.readLink(path).catch(() => path);
        const found = await multipathOf(files, link.slice(link.lastIndexOf('/') + 1));
        if (found !== undefined) return found;
      }
      return undefined;
    }, forMs);
  }

  /** udev creates device links some time after the kernel's event. */
  async #waitFor<T>(look: () => Promise<T | undefined>, forMs: number): Promise<T | undefined> {
    const { clock, timers } = this.#options;
    const end = clock.monotonic() + forMs;
    for (;;) {
      const found = await look();
      if (found !== undefined || clock.monotonic() >= end) return found;
      await new Promise<void>((resolve) => void timers.after(betweenMs, resolve));
    }
  }

  async #iscsiadm(args: readonly string[]): Promise<Outcome> {
    const end = await this.#options.programs.run('iscsiadm', args, { timeoutMs: commandMs });
    if (end.type === 'exited' && end.code === 0) return { ok: true, output: end.output };
    const [code, output] = end.type === 'exited' ? [end.code, end.output] : [-1, ''];
    return { ok: false, code, output, words: exitMessage(end) };
  }
}
