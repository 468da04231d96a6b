/** iSCSI sessions in /sys/class/iscsi_host. */
import type { HostFiles } from '../../world/mounts.ts';

const hosts = '/sys/class/iscsi_host';

/** The SCSI hosts of a target, by portal. */
export async function hostsOf(files: HostFiles, iqn: string): Promise<ReadonlyMap<string, number>> {
  const found = new Map<string, number>();
  for await (const { path, host } of sessionsOf(files, iqn)) {
    for (const connection of (await namesIn(files, path)).filter((name) => name.startsWith('connection'))) {
      const about = `${path}/${connection}/iscsi_connection/${connection}`;
      for (const kind of ['', 'persistent_']) {
        const [address, port] = [await line(files, `${about}/${kind}address`), await line(files, `${about}/${kind}port`)];
        if (address !== undefined && port !== undefined) found.set(`${address.includes(':') ? `[${address}]` : address}:${port}`, host);
      }
    }
  }
  return found;
}

/** The disks ('sda') of a LUN, one for each session. */
export async function disksOf(files: HostFiles, { iqn, lun }: { readonly iqn: string; readonly lun: number }): Promise<readonly string[]> {
  const disks: string[] = [];
  for await (const { path, host } of sessionsOf(files, iqn)) {
    disks.push(...(await namesIn(files, `${path}/target${host}:0:0/${host}:0:0:${lun}/block`)).slice(0, 1));
  }
  return disks;
}

async function* sessionsOf(files: HostFiles, iqn: string): AsyncGenerator<{ readonly path: string; readonly host: number }> {
  for (const name of await namesIn(files, hosts)) {
    const host = Number(/^host(\d+)$/.exec(name)?.[1]);
    if (Number.isNaN(host)) continue;
    for (const session of (await namesIn(files, `${hosts}/${name}/device`)).filter((each) => each.startsWith('session'))) {
      const path = `${hosts}/${name}/device/${session}`;
      if ((await line(files, `${path}/iscsi_session/${session}/targetname`)) === iqn) yield { path, host };
    }
  }
}

/** Sessions may disappear while they are read. */
const namesIn = (files: HostFiles, path: string): Promise<readonly string[]> => files.list(path).catch(() => []);

const line = (files: HostFiles, path: string): Promise<string | undefined> =>
  files.read(path).then(
    (bytes) => new TextDecoder().decode(bytes).trim(),
    () => undefined,
  );

/** The multipath device of a disk. */
export async function multipathOf(files: HostFiles, disk: string): Promise<string | undefined> {
  for (const name of (await namesIn(files, '/sys/block')).filter((each) => each.startsWith('dm-'))) {
    if ((await files.stat(`/sys/block/${name}/slaves/${disk}`)) !== undefined) return `/dev/${name}`;
  }
  return undefined;
}
