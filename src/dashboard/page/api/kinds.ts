import type { KubeObject } from '../../../api/object.ts';
import type { Kind } from '../../../api/kind.ts';
import type { Event } from '../../../api/generated/types.ts';
import type { VolumeIntent } from '../../../api/volumes/intent.ts';
import type { StorageKinds } from '../../model/storage-view.ts';

/** A kind as the page needs it: it addresses objects, and neither validates nor prints them, so that the schemas stay on the server. */
function kind<T extends KubeObject>(apiVersion: string, name: string, plural: string, namespaced: boolean): Kind<T> {
  const [group = '', version = ''] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
  return { group, version, kind: name, plural, namespaced } as unknown as Kind<T>;
}

const storage = 'storage.k8s.io/v1';

export const storageKinds: { readonly [List in keyof StorageKinds]: Kind<StorageKinds[List]> } = {
  claims: kind('v1', 'PersistentVolumeClaim', 'persistentvolumeclaims', true),
  volumes: kind('v1', 'PersistentVolume', 'persistentvolumes', false),
  pods: kind('v1', 'Pod', 'pods', true),
  attachments: kind(storage, 'VolumeAttachment', 'volumeattachments', false),
  nodes: kind('v1', 'Node', 'nodes', false),
  csiNodes: kind(storage, 'CSINode', 'csinodes', false),
  classes: kind(storage, 'StorageClass', 'storageclasses', false),
  drivers: kind(storage, 'CSIDriver', 'csidrivers', false),
  snapshots: kind('snapshot.storage.k8s.io/v1', 'VolumeSnapshot', 'volumesnapshots', true),
};

export const eventKind = kind<Event>('v1', 'Event', 'events', true);
export const intentKind = kind<VolumeIntent>('mooring.dev/v1', 'VolumeIntent', 'volumeintents', false);
