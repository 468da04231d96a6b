import type { SourceOnNode } from '../../drivers/contract.ts';

/** Fields of a source that name no plugin by themselves. */
type WithoutPlugin = 'flexVolume' | 'persistentVolumeClaim' | 'ephemeral';

/**
 * The volume plugins, by the field of the volume's source, for every source of the API. A plugin without a driver on this node makes the pod wait
 * with FailedMount: an empty directory in its place would lose what the pod writes.
 */
const plugins: Readonly<Record<Exclude<keyof SourceOnNode, WithoutPlugin>, string>> = {
  emptyDir: 'kubernetes.io/empty-dir',
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
  // Migrated to CSI.
  awsElasticBlockStore: 'kubernetes.io/csi',
  gcePersistentDisk: 'kubernetes.io/csi',
  azureDisk: 'kubernetes.io/csi',
  azureFile: 'kubernetes.io/csi',
  cinder: 'kubernetes.io/csi',
  vsphereVolume: 'kubernetes.io/csi',
  portworxVolume: 'kubernetes.io/csi',
  // Removed from Kubernetes without a CSI migration.
  rbd: 'kubernetes.io/rbd',
  cephfs: 'kubernetes.io/cephfs',
  flocker: 'kubernetes.io/flocker',
  quobyte: 'kubernetes.io/quobyte',
  photonPersistentDisk: 'kubernetes.io/photon-pd',
  scaleIO: 'kubernetes.io/scaleio',
  storageos: 'kubernetes.io/storageos',
};
export const csiPlugin = plugins.csi;
const pluginFields = Object.keys(plugins) as readonly (keyof typeof plugins)[];

/** The plugins that no node has, of whichever runtime. */
const removed = new Set(['rbd', 'cephfs', 'flocker', 'quobyte', 'photon-pd', 'scaleio', 'storageos'].map((name) => `kubernetes.io/${name}`));

/** '': the source is of a type that this version of the API does not know. */
export function pluginOf(source: SourceOnNode): string {
  if (source.flexVolume !== undefined) return source.flexVolume.driver;
  const field = pluginFields.find((each) => source[each] !== undefined);
  return field === undefined ? '' : plugins[field];
}

/** As the kubelet's volume plugin manager says it. */
export const noPlugin = (plugin: string): string => (plugin === '' ? 'no volume plugin matched' : `no volume plugin matched name: ${plugin}`);

/** Why no node can mount the volume; undefined: a node may have its driver. */
export function missingPlugin(source: SourceOnNode): string | undefined {
  const plugin = pluginOf(source);
  return plugin === '' || removed.has(plugin) ? noPlugin(plugin) : undefined;
}
