import { done, failed, type NodeDriver, succeeded } from '../contract.ts';

/** kubernetes.io/image: the files of an image. The runtime mounts them when it creates a container, as with the kubelet, so there is nothing to do before. */
export const imageVolumeNode: NodeDriver = {
  capabilities: { name: 'kubernetes.io/image', stages: false, mountOptions: false, block: false, requiresRemount: false },
  nodePublishVolume: async ({ target }) => succeeded({ path: target }),
  nodeUnpublishVolume: async () => done,
  nodeGetVolumeStats: async () => failed('Unimplemented', 'image volumes have no stats'),
};
