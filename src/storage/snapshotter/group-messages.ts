/** Messages of snapshot-controller and csi-snapshotter about groups (v8.6). */
const quoted = (text: string): string => JSON.stringify(text);

export const groupMessages = {
  classFailed: (name: string) =>
    `failed to get group snapshot class with error volumegroupsnapshotclass.groupsnapshot.storage.k8s.io ${quoted(name)} not found`,
  defaultClassFailed: (why: string) => `Failed to set default group snapshot class with error ${why}`,
  noDefaultClass: 'cannot find default group snapshot class',
  severalDefaultClasses: (count: number) => `${count} default group snapshot classes were found`,
  contentCreationFailed: (why: string) => `failed to create group snapshot content with error ${why}`,
  input: (group: string, why: string) => `failed to get input parameters to create group snapshot ${group}: ${quoted(why)}`,
  noClaims: (selector: string) => `label selector ${selector} for group snapshot not applied to any PVC`,
  badSelector: (selector: string, why: string) => `failed to list PVCs with label selector ${selector}: ${quoted(why)}`,
  notCsi: (group: string, volume: string) => `cannot snapshot a non-CSI volume for group snapshot ${group}: ${volume}`,
  otherDriver: (o: { readonly driver: string; readonly classDriver: string; readonly group: string; readonly volume: string }) =>
    `Volume CSI driver (${o.driver}) mismatch with VolumeGroupSnapshotClass (${o.classDriver}) ${o.group}: ${o.volume}`,
  unsupported: (driver: string) => `CSI driver ${driver} does not support group snapshots: CREATE_DELETE_GET_VOLUME_GROUP_SNAPSHOT capability is not reported`,
  waiting: (key: string) => `Waiting for a group snapshot ${key} to be created by the CSI driver.`,
  created: (key: string) => `GroupSnapshot ${key} was successfully created by the CSI driver.`,
  ready: (key: string) => `GroupSnapshot ${key} is ready to use.`,
  contentMissing: 'VolumeGroupSnapshotContent is missing',
  misbound: 'VolumeGroupSnapshotContent is not bound to the VolumeGroupSnapshot correctly',
  boundToOther: (content: string) => `VolumeGroupSnapshotContent [${content}] is bound to a different group snapshot`,
  expectedPreProvisioned: 'VolumeGroupSnapshotContent is dynamically provisioned while expecting a pre-provisioned one',
  expectedDynamic: (content: string) => `VolumeGroupSnapshotContent ${content} is pre-provisioned while expecting a dynamically provisioned one`,
  restoring: (snapshot: string, group: string) => `Snapshot ${snapshot} belonging to VolumeGroupSnapshot ${group} is being used to restore a PVC`,
  creationFailed: (why: string) => `Failed to create group snapshot: ${why}`,
  checkFailed: (why: string) => `Failed to check and update group snapshot content: ${why}`,
  deleteFailed: (why: string) => `Failed to delete group snapshot: ${why}`,
  contentInput: (content: string, why: string) =>
    `failed to get input parameters to create group snapshot for group snapshot content ${content}: ${quoted(why)}`,
  notTaken: (volumes: readonly string[], why: string) => `failed to take group snapshot of the volumes [${volumes.join(' ')}]: ${quoted(why)}`,
  otherSources: 'the driver answered with snapshots of other volumes than it was asked for',
} as const;
