import type { PersistentVolume, Pod, Volume } from '../../api/generated/types.ts';
import { type CsiSource, csiSourceOf, csiSourceOfInline } from '../../api/volumes/csi-translation.ts';
import { claimKey } from '../../storage/volumes/claim.ts';
import type { SourceOnNode, VolumeOnNode } from '../../drivers/contract.ts';
import { claimNameOf } from '../volumes/claimed-volume.ts';
import type { VolumeUse } from '../volumes/used-volumes.ts';

/** A volume of one pod, as this node mounts it. */
export interface PodVolume {
  /** 'pod uid/name in the pod' */
  readonly key: string;
  readonly podUid: string;
  /** The volume's name in the pod. */
  readonly podVolume: string;
  /** As Kubernetes calls the plugin. */
  readonly driver: string;
  readonly onNode: VolumeOnNode;
  /** As kubelets call it. */
  readonly uniqueName: string;
  readonly target: string;
  /** Where it is mounted for the whole node, if its driver does that. */
  readonly stagingPath: string | undefined;
  /** Of a CSI driver: what may have to be attached. */
  readonly attached: CsiSource | undefined;
  /** 'namespace/name' */
  readonly claim: string | undefined;
  /** A group that every container of the pod belongs to, because of this volume. */
  readonly group: number | undefined;
}

export interface PodVolumeOptions {
  /** The node's directory: '/var/lib/moor/node-1'. */
  readonly root: string;
  /** In hexadecimal. */
  readonly sha256: (text: string) => string;
  readonly stages: (driver: string) => boolean;
}

/** `persistentVolume`: what stands behind the pod's claim; undefined: the pod describes the volume itself. */
export function podVolume(pod: Pod, use: VolumeUse, persistentVolume: PersistentVolume | undefined, places: PodVolumeOptions): PodVolume {
  const { name: podVolumeName, ...inline } = use.volume;
  const { uid = '', namespace = '' } = pod.metadata;
  const attached = persistentVolume === undefined ? csiSourceOfInline(use.volume) : csiSourceOf(persistentVolume);
  const source = translated(persistentVolume?.spec ?? inline, attached);
  const name = persistentVolume?.metadata.name ?? podVolumeName;
  const driver = pluginOf(source);
  const claimName = claimNameOf(pod, use.volume);
  const handle = attached?.handle ?? unitOf(source) ?? name;
  // A volume of a CSI driver that is as old as its pod belongs to nobody else: there is nothing to share.
  const isShared = attached !== undefined || driver !== plugins['csi'];
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
    claim: claimName === undefined ? undefined : claimKey(namespace, claimName),
    group: persistentVolume === undefined ? undefined : groupOf(persistentVolume),
  };
}

/** Disks that pods describe have no name of their own: where they are is what tells them apart, as with kubelets. */
const unitOf = ({ iscsi }: SourceOnNode): string | undefined => (iscsi === undefined ? undefined : `${iscsi.targetPortal}:${iscsi.iqn}:${iscsi.lun}`);

/** Plugins that left Kubernetes' tree have drivers that took over: those find what they know. */
function translated(source: SourceOnNode, attached: CsiSource | undefined): SourceOnNode {
  if (attached === undefined || source.csi !== undefined) return source;
  const { fsType } = source.awsElasticBlockStore ?? source.gcePersistentDisk ?? source.azureDisk ?? source.cinder ?? {};
  return { ...source, csi: { driver: attached.driver, volumeHandle: attached.handle, ...(fsType === undefined ? {} : { fsType }) } };
}

/** A pod may use a claim twice, once read-only perhaps: each time in a place of its own. Names of volumes have no '~'. */
function directoryName(pod: Pod, volume: Volume, name: string): string {
  const claim = claimNameOf(pod, volume);
  const first = claim === undefined ? volume : pod.spec.volumes?.find((each) => claimNameOf(pod, each) === claim);
  return first === undefined || first.name === volume.name ? name : `${name}~${volume.name}`;
}

export const podDirectory = (root: string, uid: string): string => `${root}/pods/${uid}`;

/** By the field that describes a volume. One that has none of them is an empty directory. */
const plugins: Readonly<Record<string, string>> = {
  hostPath: 'kubernetes.io/host-path',
  local: 'kubernetes.io/local-volume',
  configMap: 'kubernetes.io/configmap',
  secret: 'kubernetes.io/secret',
  downwardAPI: 'kubernetes.io/downward-api',
  projected: 'kubernetes.io/projected',
  csi: 'kubernetes.io/csi',
  nfs: 'kubernetes.io/nfs',
  glusterfs: 'kubernetes.io/glusterfs',
  iscsi: 'kubernetes.io/iscsi',
  fc: 'kubernetes.io/fc',
  gitRepo: 'kubernetes.io/git-repo',
  image: 'kubernetes.io/image',
  // Their drivers are CSI's by now.
  awsElasticBlockStore: 'kubernetes.io/csi',
  gcePersistentDisk: 'kubernetes.io/csi',
  azureDisk: 'kubernetes.io/csi',
  azureFile: 'kubernetes.io/csi',
  cinder: 'kubernetes.io/csi',
  vsphereVolume: 'kubernetes.io/csi',
  portworxVolume: 'kubernetes.io/csi',
};

function pluginOf(source: SourceOnNode): string {
  if (source.flexVolume !== undefined) return source.flexVolume.driver;
  const field = Object.keys(plugins).find((each) => source[each as keyof SourceOnNode] !== undefined);
  return plugins[field ?? ''] ?? 'kubernetes.io/empty-dir';
}

/** What the node makes of objects is written by nobody else. Of a PersistentVolume only the claim's user says it: what stands in the volume is for who attaches it. */
function isReadOnly({ persistentVolumeClaim }: Volume, source: SourceOnNode, persistentVolume: PersistentVolume | undefined): boolean {
  if (madeOfObjects.some((field) => source[field] !== undefined)) return true;
  if (persistentVolume !== undefined) return persistentVolumeClaim?.readOnly === true;
  const { nfs, glusterfs, iscsi, csi, flexVolume, awsElasticBlockStore, gcePersistentDisk, fc } = source;
  return [nfs, glusterfs, iscsi, csi, flexVolume, awsElasticBlockStore, gcePersistentDisk, fc].some((each) => each?.readOnly === true);
}

const madeOfObjects = ['configMap', 'secret', 'downwardAPI', 'projected', 'image'] as const;

/** The annotation came first, and still does. */
function mountOptionsOf({ metadata, spec }: PersistentVolume): readonly string[] {
  const old = metadata.annotations?.['volume.beta.kubernetes.io/mount-options'];
  const options = old === undefined ? (spec.mountOptions ?? []) : old.split(',');
  return [...new Set(options.map((option) => option.trim()).filter((option) => option !== ''))].sort();
}

function groupOf({ metadata }: PersistentVolume): number | undefined {
  const text = metadata.annotations?.['pv.beta.kubernetes.io/gid'];
  return text !== undefined && /^\d{1,10}$/.test(text) ? Number(text) : undefined;
}
