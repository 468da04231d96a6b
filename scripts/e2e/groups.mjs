// The groups of docs/CONFORMANCE.md: which specs of e2e.test each of them runs.

/** Specs that no group runs: they need a cloud, other nodes or programs, or break the cluster for those that follow. */
const never = [
  '\\[Disruptive\\]',
  '\\[Slow\\]',
  '\\[Flaky\\]',
  '\\[Feature:',
  '\\[FeatureGate:',
  '\\[Driver: (gcepd|aws|azure|vsphere|iscsi|rbd|ceph|nfs|csi-hostpath|pd.csi|windows)',
  'CSI Mock',
  'Pod Disks',
  'PersistentVolumes NFS',
  'In-tree Volumes \\[Driver: (local\\] \\[LocalVolumeType: gce|emptydir\\]|hostPathSymlink)',
].join('|');

const conformance = (sig) => ({ focus: `\\[sig-${sig}\\].*\\[Conformance\\]` });

export const groups = {
  storage: conformance('storage'),
  'storage-other': { focus: '\\[sig-storage\\]', skip: `\\[Conformance\\]|${never}` },
  apps: { focus: '\\[sig-apps\\].*(\\[Conformance\\]|StatefulSet)', skip: '\\[Slow\\]|\\[Disruptive\\]|\\[Flaky\\]' },
  'api-machinery': conformance('api-machinery'),
  node: conformance('node'),
  scheduling: conformance('scheduling'),
  'auth-cli-instrumentation': { focus: '\\[sig-(auth|cli|instrumentation)\\].*\\[Conformance\\]' },
  network: conformance('network'),
};
