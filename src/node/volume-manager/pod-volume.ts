import type { PersistentVolume, Pod, Volume } from '../../api/generated/types.ts';
import { type CsiSource, csiSourceOf, csiSourceOfInline, inlineCsiHandle } from '../../api/volumes/csi-translation.ts';
import { claimKey } from '../../storage/volumes/claim.ts';
import type { SourceOnNode, VolumeOnNode } from '../../drivers/contract.ts';
import { claimNameOf } from '../volumes/claimed-volume.ts';
import type { VolumeUse } from '../volumes/used-volumes.ts';
import { csiPlugin, pluginOf } from '../volumes/volume-plugins.ts';

/** A volume of one pod, as this node mounts it. */
export interface PodVolume {
  /** 'pod uid/name in the pod' */
  readonly key: string;
  readonly podUid: string;
  /** The volume's name in the pod. */
  readonly podVolume: string;
  /** The volume plugin's name in Kubernetes. */
  readonly driver: string;
  readonly onNode: VolumeOnNode;
  /** As the kubelet names it. */
  readonly uniqueName: string;
  readonly target: string;
  /** Undefined: its driver does not stage volumes. */
  readonly stagingPath: string | undefined;
  /** The CSI volume that may have to be attached. */
  readonly attached: CsiSource | undefined;
  /** Driver and handle of any CSI volume, also of one that the pod describes itself. */
  readonly csi: CsiSource | undefined;
  /** 'namespace/name' */
  readonly claim: string | undefined;
  /** Every container of the pod is a member of this group. */
  readonly group: number | undefined;
}

export interface PodVolumeOptions {
  /** The node's directory: '/var/lib/moor/node-1'. */
  readonly root: string;
  /** In hexadecimal. */
  readonly sha256: (text: string) => string;
  readonly stages: (driver: string) => boolean;
}

/** `persistentVolume`: the volume of the pod's claim; undefined: an inline volume. */
export function podVolume(pod: Pod, use: VolumeUse, persistentVolume: PersistentVolume | undefined, places: PodVolumeOptions): PodVolume {
  const { name: podVolumeName, ...inline } = use.volume;
  const { uid = '', namespace = '' } = pod.metadata;
  const attached = persistentVolume === undefined ? csiSourceOfInline(use.volume) : csiSourceOf(persistentVolume);
  const source = translated(persistentVolume?.spec ?? writtenSource(inline), attached);
  const name = persistentVolume?.metadata.name ?? podVolumeName;
  const driver = pluginOf(source);
  const claimName = claimNameOf(pod, use.volume);
  const handle = attached?.handle ?? unitOf(source) ?? name;
  // A CSI ephemeral volume belongs to its pod alone: there is nothing to share.
  const isShared = attached !== undefined || driver !== csiPlugin;
  const isBlock = persistentVolume?.spec.volumeMode === 'Block';
  return {
    key: `${uid}/${podVolumeName}`,
    podUid: uid,
    podVolume: podVolumeName,
    driver,
    onNode: {
      name,
      source,
      persistentVolume,
      readOnly: isReadOnly(use.volume, source, persistentVolume),
      mountOptions: persistentVolume === undefined ? [] : mountOptionsOf(persistentVolume),
      mode: isBlock ? 'Block' : 'Filesystem',
      publishContext: {},
    },
    uniqueName: attached === undefined ? `${driver}/${uid}-${name}` : `${driver}/${attached.driver}^${attached.handle}`,
    target: `${podDirectory(places.root, uid)}/${isBlock ? 'volumeDevices' : 'volumes'}/${driver.replaceAll('/', '~')}/${directoryName(pod, use.volume, name)}`,
    stagingPath:
      places.stages(driver) && isShared
        ? `${places.root}/plugins/${attached === undefined ? driver : `${driver}/${attached.driver}`}/${places.sha256(handle)}/globalmount`
        : undefined,
    attached,
    csi: attached ?? (source.csi === undefined ? undefined : { driver: source.csi.driver, handle: inlineCsiHandle(uid, name, places.sha256) }),
    claim: claimName === undefined ? undefined : claimKey(namespace, claimName),
    group: persistentVolume === undefined ? undefined : groupOf(persistentVolume),
  };
}

/** Inline disks have no name: their address identifies them, as in the kubelet. */
const unitOf = ({ iscsi }: SourceOnNode): string | undefined => (iscsi === undefined ? undefined : `${iscsi.targetPortal}:${iscsi.iqn}:${iscsi.lun}`);

/** CSI migration: in-tree volumes are given to the CSI drivers that replaced their plugins. */
function translated(source: SourceOnNode, attached: CsiSource | undefined): SourceOnNode {
  if (attached === undefined || source.csi !== undefined) return source;
  const { fsType } = source.awsElasticBlockStore ?? source.gcePersistentDisk ?? source.azureDisk ?? source.cinder ?? {};
  return { ...source, csi: { driver: attached.driver, volumeHandle: attached.handle, ...(fsType === undefined ? {} : { fsType }) } };
}

/** A pod may use a claim twice, for instance once read-only: each use has its own directory. Volume names contain no '~'. */
function directoryName(pod: Pod, volume: Volume, name: string): string {
  const claim = claimNameOf(pod, volume);
  const first = claim === undefined ? volume : pod.spec.volumes?.find((each) => claimNameOf(pod, each) === claim);
  return first === undefined || first.name === volume.name ? name : `${name}~${volume.name}`;
}

export const podDirectory = (root: string, uid: string): string => `${root}/pods/${uid}`;

/** A volume without any source is Kubernetes' default, which the API server writes into pods. */
const writtenSource = (source: SourceOnNode): SourceOnNode => (Object.keys(source).length === 0 ? { emptyDir: {} } : source);

/** Volumes made of objects are read-only. Of a claim's volume only the pod says it: `readOnly` in the PersistentVolume is for the attachment. */
function isReadOnly({ persistentVolumeClaim }: Volume, source: SourceOnNode, persistentVolume: PersistentVolume | undefined): boolean {
  if (madeOfObjects.some((field) => source[field] !== undefined)) return true;
  if (persistentVolume !== undefined) return persistentVolumeClaim?.readOnly === true;
  const { nfs, glusterfs, iscsi, csi, flexVolume, awsElasticBlockStore, gcePersistentDisk, fc } = source;
  return [nfs, glusterfs, iscsi, csi, flexVolume, awsElasticBlockStore, gcePersistentDisk, fc].some((each) => each?.readOnly === true);
}

const madeOfObjects = ['configMap', 'secret', 'downwardAPI', 'projected', 'image'] as const;

/** The annotation is older than the field, and wins. */
function mountOptionsOf({ metadata, spec }: PersistentVolume): readonly string[] {
  const old = metadata.annotations?.['volume.beta.kubernetes.io/mount-options'];
  const options = old === undefined ? (spec.mountOptions ?? []) : old.split(',');
  return [...new Set(options.map((option) => option.trim()).filter((option) => option !== ''))].sort();
}

function groupOf({ metadata }: PersistentVolume): number | undefined {
  const text = metadata.annotations?.['pv.beta.kubernetes.io/gid'];
  return text !== undefined && /^\d{1,10}$/.test(text) ? Number(text) : undefined;
}
