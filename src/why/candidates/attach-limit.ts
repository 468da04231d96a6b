import type { CSINode, VolumeAttachment } from '../../api/generated/types.ts';

/** How many volumes of a driver a node can have attached; undefined: its CSINode sets no limit. */
export const attachmentLimit = (node: CSINode | undefined, driver: string): number | undefined =>
  node?.spec.drivers?.find(({ name }) => name === driver)?.allocatable?.count;

/** Names of the volumes of a driver that are attached to a node. */
export function attachedBy(attachments: readonly VolumeAttachment[], { driver, node }: { readonly driver: string; readonly node: string }): readonly string[] {
  return attachments.filter(({ spec }) => spec.attacher === driver && spec.nodeName === node).map(({ spec }) => spec.source.persistentVolumeName ?? '');
}
