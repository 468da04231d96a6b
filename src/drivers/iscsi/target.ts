/** An iSCSI volume in the terms of iscsiadm(8). Pure. */
import { type DriverAnswer, failed, succeeded, type VolumeOnNode } from '../contract.ts';

/** Stored beside the staging path: nodeUnstageVolume has no other source of it. */
export interface IscsiDisk {
  readonly volumeName: string;
  /** 'address:port'; targetPortal is the first. */
  readonly portals: readonly string[];
  readonly iqn: string;
  readonly lun: number;
  /** The template of `iface`, if the volume has an initiator name. */
  readonly initialIface: string;
  readonly iface: string;
  readonly initiatorName: string;
}

export function diskOf({ name, source }: Pick<VolumeOnNode, 'name' | 'source'>): DriverAnswer<IscsiDisk> {
  const { targetPortal = '', portals = [], iqn = '', lun = 0, iscsiInterface = '', initiatorName = '' } = source.iscsi ?? {};
  const all = [...new Set([targetPortal, ...portals].map(withPort))];
  const initialIface = iscsiInterface === '' ? 'default' : iscsiInterface;
  // They become arguments of a program and parts of paths.
  const wrong = [...all, iqn, initialIface, initiatorName].find((each) => each.startsWith('-') || /[/\s\0]/.test(each));
  if (wrong !== undefined) return failed('InvalidArgument', `${JSON.stringify(wrong)} is invalid in an iSCSI target`);
  const iface = initiatorName === '' ? initialIface : `${all[0] ?? ''}:${name}`;
  return succeeded({ volumeName: name, portals: all, iqn, lun, initialIface, iface, initiatorName });
}

const withPort = (portal: string): string => (portal.includes(':') ? portal : `${portal}:3260`);

/** udev's link to the disk. It has no brackets around IPv6 addresses. */
export const deviceBehind = (portal: string, { iqn, lun }: Pick<IscsiDisk, 'iqn' | 'lun'>): string =>
  `/dev/disk/by-path/ip-${portal.replace(/[[\]]/g, '')}-iscsi-${iqn}-lun-${lun}`;

/** `iface -o show` has lines `iface.transport_name = tcp`. */
export function settingsIn(shown: string): ReadonlyMap<string, string> {
  const lines = shown.split('\n').flatMap((line) => /^(iface\.\S+) = (\S.*)$/.exec(line.trim()) ?? []);
  const pairs = Array.from({ length: lines.length / 3 }, (_, i) => [lines[3 * i + 1] ?? '', lines[3 * i + 2] ?? ''] as const);
  return new Map(pairs.filter(([, value]) => value !== '<empty>'));
}
