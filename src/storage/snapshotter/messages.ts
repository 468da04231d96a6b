/** Messages of snapshot-controller and csi-snapshotter (v8.6). */
const quoted = (text: string): string => JSON.stringify(text);
const notUpdated = (name: string, why: string): string => `snapshot controller failed to update ${name} on API server: ${why}`;

export const messages = {
  classFailed: (why: string) => `Failed to get snapshot class with error ${why}`,
  classNotFound: (name: string) => `volumesnapshotclass.snapshot.storage.k8s.io ${quoted(name)} not found`,
  defaultClassFailed: (why: string) => `Failed to set default snapshot class with error ${why}`,
  noDefaultClass: 'cannot find default snapshot class',
  severalDefaultClasses: (count: number) => `${count} default snapshot classes were found`,
  notCsi: (key: string) => `snapshotting non-CSI volumes is not supported, snapshot:${key}`,
  claimNotFound: (name: string) => `failed to retrieve PVC ${name} from the lister: ${quoted(`persistentvolumeclaim ${quoted(name)} not found`)}`,
  claimNotBound: (name: string) => `the PVC ${name} is not yet bound to a PV, will not attempt to take a snapshot`,
  volumeNotFound: (name: string) => `failed to retrieve PV ${name} from the API server: ${quoted(`persistentvolumes ${quoted(name)} not found`)}`,
  claimMisbound: 'claim in dataSource not bound or invalid',
  contentCreationFailed: (why: string) => `Failed to create snapshot content with error ${why}`,
  noClaim: (snapshot: string) => notUpdated(snapshot, 'cannot get claim from snapshot'),
  claimDeleting: (claim: string) => notUpdated(claim, 'cannot add finalizer on claim because it is being deleted'),
  input: (snapshot: string, why: string) => `failed to get input parameters to create snapshot ${snapshot}: ${quoted(why)}`,
  otherDriver: (o: { readonly volume: string; readonly driver: string; readonly className: string; readonly classDriver: string }) =>
    `volume ${o.volume} belongs to driver ${o.driver}, but VolumeSnapshotClass ${o.className} names driver ${o.classDriver}`,
  waiting: (key: string) => `Waiting for a snapshot ${key} to be created by the CSI driver.`,
  created: (key: string) => `Snapshot ${key} was successfully created by the CSI driver.`,
  ready: (key: string) => `Snapshot ${key} is ready to use.`,
  contentMissing: 'VolumeSnapshotContent is missing',
  misbound: 'VolumeSnapshotContent is not bound to the VolumeSnapshot correctly',
  boundToOther: (content: string) => `VolumeSnapshotContent [${content}] is bound to a different snapshot`,
  expectedPreProvisioned: 'VolumeSnapshotContent is dynamically provisioned while expecting a pre-provisioned one',
  expectedDynamic: (content: string) => `VolumeSnapshotContent ${content} is pre-provisioned while expecting a dynamically provisioned one`,
  restoring: 'Snapshot is being used to restore a PVC',
  inGroup: (snapshot: string, group: string) =>
    `deletion of the individual volume snapshot ${snapshot} is not allowed as it belongs to group snapshot ${group}. ` +
    'Deleting the group snapshot will trigger the deletion of all the individual volume snapshots that are part of the group.',
  creationFailed: (why: string) => `Failed to create snapshot: ${why}`,
  contentInput: (content: string, why: string) => `failed to get input parameters to create snapshot for content ${content}: ${quoted(why)}`,
  notTaken: (volume: string, why: string) => `failed to take snapshot of the volume ${volume}: ${quoted(why)}`,
  checkFailed: (why: string) => `Failed to check and update snapshot content: ${why}`,
  notListed: (content: string, why: string) => `failed to list snapshot for content ${content}: ${quoted(why)}`,
  deleteFailed: (why: string) => `Failed to delete snapshot: ${why}`,
  otherSource: (asked: string, answered: string) => `the driver answered with a snapshot of volume ${quoted(answered)} instead of ${quoted(asked)}`,
  otherHandle: (known: string, answered: string) => `the driver answered with snapshot ${quoted(answered)} instead of ${quoted(known)}`,
  noHandle: 'the driver answered without the id of a snapshot',
  rpc: (code: string, message: string) => `rpc error: code = ${code} desc = ${message}`,
} as const;
