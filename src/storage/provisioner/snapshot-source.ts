/** Volumes that are restored from a snapshot: external-provisioner's checks (v6.3, `getSnapshotSource`). */
import type { StorageClass } from '../../api/generated/types.ts';
import { snapshotGroup, type VolumeSnapshot, type VolumeSnapshotContent } from '../../api/kinds/snapshot/volume-snapshot.ts';
import { compareQuantities, quantityValue } from '../../api/quantity.ts';
import { snapshotAnnotations, snapshotFinalizers } from '../../api/volumes/snapshot-annotations.ts';
import type { ContentSource } from '../../api/volumes/intent.ts';
import { type Claim, sourceNamespaceOf } from '../volumes/claim.ts';

/** The snapshots of the cluster. */
export interface SnapshotSources {
  snapshot(namespace: string, name: string): VolumeSnapshot | undefined;
  content(name: string): VolumeSnapshotContent | undefined;
  /** CSI's CREATE_DELETE_SNAPSHOT. */
  restores(driver: string): boolean;
}

export type SnapshotSource =
  | { readonly type: 'snapshot'; readonly source: ContentSource; readonly snapshot: VolumeSnapshot }
  | { readonly type: 'refused'; readonly message: string };

interface Restoring {
  readonly claim: Claim;
  readonly storageClass: StorageClass;
  readonly driver: string;
}

/** Undefined: the claim wants no snapshot, or the driver restores none. */
export function snapshotSourceOf({ claim, storageClass, driver }: Restoring, sources: SnapshotSources | undefined): SnapshotSource | undefined {
  const wanted = claim.dataSource;
  if (sources === undefined || wanted?.kind !== 'VolumeSnapshot' || wanted.group !== snapshotGroup) return undefined;
  if (!sources.restores(driver)) return undefined;
  const { name } = wanted;
  const refused = (why: string): SnapshotSource => ({
    type: 'refused',
    message: `error getting handle for DataSource Type VolumeSnapshot by Name ${name}: ${why}`,
  });
  const snapshot = sources.snapshot(sourceNamespaceOf(claim), name);
  if (snapshot === undefined) return refused(`error getting snapshot ${name} from api server: volumesnapshots.${snapshotGroup} "${name}" not found`);
  // With the finalizer, this restore began before the deletion, and goes on.
  if (snapshot.metadata.deletionTimestamp !== undefined && snapshot.metadata.finalizers?.includes(snapshotFinalizers.provisioning) !== true)
    return refused(`snapshot ${name} is being deleted`);
  const contentName = snapshot.status?.boundVolumeSnapshotContentName;
  if (contentName === undefined) return refused(`snapshot ${name} not bound`);
  const content = sources.content(contentName);
  if (content === undefined) return refused(`error getting snapshotcontent ${contentName} for snapshot ${name}`);
  const { uid, namespace, name: refName } = content.spec.volumeSnapshotRef;
  if (uid !== snapshot.metadata.uid || namespace !== snapshot.metadata.namespace || refName !== name)
    return refused(`snapshotcontent ${contentName} for snapshot ${name} is bound to a different snapshot`);
  if (content.spec.driver !== driver)
    return refused(`snapshotcontent ${contentName} for snapshot ${name} is not handled by CSI driver of StorageClass ${storageClass.metadata.name ?? ''}`);
  if (snapshot.status?.readyToUse !== true) return refused(`snapshot ${name} is not Ready`);
  const handle = content.status?.snapshotHandle;
  if (handle === undefined) return refused(`snapshot handle ${name} is not available`);
  const why = sizeProblem(claim, snapshot) ?? modeProblem(claim, content);
  return why === undefined ? { type: 'snapshot', source: { type: 'snapshot', handle }, snapshot } : refused(why);
}

function sizeProblem({ request }: Claim, { metadata, status }: VolumeSnapshot): string | undefined {
  const size = status?.restoreSize;
  if (size === undefined || compareQuantities(request, String(size)) >= 0) return undefined;
  return `requested volume size ${quantityValue(request)} is less than the size ${quantityValue(String(size))} for the source snapshot ${metadata.name ?? ''}`;
}

/** A file system that is read as a raw device, or the other way round, may harm the kernel: only an administrator allows it. */
function modeProblem({ namespace, name, volumeMode }: Claim, { metadata, spec }: VolumeSnapshotContent): string | undefined {
  if (spec.sourceVolumeMode === undefined || spec.sourceVolumeMode === volumeMode) return undefined;
  const key = snapshotAnnotations.allowVolumeModeChange;
  const allowed = metadata.annotations?.[key];
  if (allowed !== undefined && truths.has(allowed)) return undefined;
  const forbidden = `requested volume ${namespace}/${name} modifies the mode of the source volume but does not have permission to do so. `;
  if (allowed === undefined) return `${forbidden}${key} annotation is not present on snapshotcontent ${metadata.name ?? ''}`;
  if (falsehoods.has(allowed)) return `${forbidden}${key} is set to false on snapshotcontent ${metadata.name ?? ''}`;
  return `${forbidden}failed to convert ${key} annotation value to boolean with error: strconv.ParseBool: parsing ${JSON.stringify(allowed)}: invalid syntax`;
}

/** Go's strconv.ParseBool. */
const truths: ReadonlySet<string> = new Set(['1', 't', 'T', 'true', 'TRUE', 'True']);
const falsehoods: ReadonlySet<string> = new Set(['0', 'f', 'F', 'false', 'FALSE', 'False']);

/** The snapshot, held until no volume is created from it any more; the snapshotter removes the finalizer. */
export function heldSnapshot(snapshot: VolumeSnapshot): VolumeSnapshot {
  const { finalizers = [] } = snapshot.metadata;
  if (finalizers.includes(snapshotFinalizers.provisioning)) return snapshot;
  return { ...snapshot, metadata: { ...snapshot.metadata, finalizers: [...finalizers, snapshotFinalizers.provisioning] } };
}
