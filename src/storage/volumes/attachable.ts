import type { PersistentVolume } from '../../api/generated/types.ts';
import { type CsiSource, csiSourceOf } from '../../api/volumes/csi-translation.ts';

/** A volume that the control plane attaches: its CSI driver, and the driver's own name for it. */
export interface Attachable extends CsiSource {
  /** One node at a time. */
  readonly exclusive: boolean;
}

/** Undefined: volumes of its kind are never attached by the control plane (hostPath, local, nfs, …). */
export function attachableOf(volume: PersistentVolume): Attachable | undefined {
  const source = csiSourceOf(volume);
  if (source === undefined) return undefined;
  const { accessModes = [], gcePersistentDisk } = volume.spec;
  const modes = gcePersistentDisk === undefined ? accessModes : singleWriter(accessModes);
  return { ...source, exclusive: modes.length > 0 && !modes.some((mode) => manyNodes.includes(mode)) };
}

const manyNodes = ['ReadWriteMany', 'ReadOnlyMany'];

/** GCE disks never had several writers; the in-tree plugin took the mode for ReadWriteOnce. */
const singleWriter = (modes: readonly string[]): readonly string[] =>
  modes.some((mode) => mode === 'ReadWriteMany' || mode === 'ReadWriteOnce') ? ['ReadWriteOnce'] : modes;

/** The volume's name in a node's volumesAttached and volumesInUse. */
export const uniqueNameOf = ({ driver, handle }: CsiSource): string => `${csiPrefix}${driver}^${handle}`;

/** Undefined: not a CSI volume. A driver's name has no '^'; a handle may. */
export function parseUniqueName(name: string): CsiSource | undefined {
  if (!name.startsWith(csiPrefix)) return undefined;
  const end = name.indexOf('^', csiPrefix.length);
  return end === -1 ? undefined : { driver: name.slice(csiPrefix.length, end), handle: name.slice(end + 1) };
}

/** The name of the VolumeAttachment of a volume and a node. `sha256`: in hexadecimal. */
export const attachmentNameOf = ({ driver, handle }: CsiSource, node: string, sha256: (text: string) => string): string =>
  `csi-${sha256(handle + driver + node)}`;

const csiPrefix = 'kubernetes.io/csi/';
