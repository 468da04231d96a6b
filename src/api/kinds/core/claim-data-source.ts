import type { PersistentVolumeClaimSpec, TypedLocalObjectReference } from '../../generated/types.ts';

/**
 * A claim has two fields for the source of a new volume's content: `dataSource`, the old one, and `dataSourceRef`. Both
 * are made to say the same, in place. `old`: the spec before this change.
 */
export function normalizeDataSources(spec: PersistentVolumeClaimSpec, old?: PersistentVolumeClaimSpec): void {
  // Kubernetes drops a source of another namespace while the feature CrossNamespaceVolumeDataSource is off, and the claim gets an empty volume. Here it
  // stays, and the provisioner refuses it.
  if (isDropped(spec, old)) delete spec.dataSource;
  mirror(spec);
}

/** For the user, who would else find an empty volume. */
export function droppedDataSource(spec: PersistentVolumeClaimSpec, old?: PersistentVolumeClaimSpec): readonly string[] {
  const { kind, apiGroup } = spec.dataSource ?? {};
  if (kind === undefined || !isDropped(spec, old)) return [];
  return [
    `spec.dataSource: dropped, and the volume will be empty: it can be a PersistentVolumeClaim or a VolumeSnapshot of snapshot.storage.k8s.io, ` +
      `not ${JSON.stringify(kind)} of API group ${JSON.stringify(apiGroup ?? '')}; use spec.dataSourceRef for other kinds`,
  ];
}

/** The old way knew only claims and snapshots, and always ignored everything else. */
function isDropped({ dataSource, dataSourceRef }: PersistentVolumeClaimSpec, old: PersistentVolumeClaimSpec | undefined): boolean {
  const hadSource = old?.dataSource !== undefined || old?.dataSourceRef !== undefined;
  return !hadSource && dataSourceRef === undefined && !isClaimOrSnapshot(dataSource);
}

function isClaimOrSnapshot(source: TypedLocalObjectReference | undefined): boolean {
  const group = source?.apiGroup ?? '';
  if (source?.kind === 'PersistentVolumeClaim') return group === '';
  return source?.kind === 'VolumeSnapshot' && group === 'snapshot.storage.k8s.io';
}

function mirror(spec: PersistentVolumeClaimSpec): void {
  const { dataSource, dataSourceRef } = spec;
  if (dataSource !== undefined && dataSourceRef === undefined) {
    spec.dataSourceRef = { apiGroup: dataSource.apiGroup, kind: dataSource.kind, name: dataSource.name };
  } else if (dataSource === undefined && dataSourceRef !== undefined && (dataSourceRef.namespace ?? '') === '') {
    spec.dataSource = { apiGroup: dataSourceRef.apiGroup, kind: dataSourceRef.kind, name: dataSourceRef.name };
  }
}
