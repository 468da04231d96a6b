import type { PersistentVolumeClaim, PersistentVolumeClaimSpec } from '../../api/generated/types.ts';
import { snapshotGroup } from '../../api/kinds/snapshot/volume-snapshot.ts';

/** What a claim wants its new volume to be filled with. */
export interface DataSource {
  /** The field that the user reads: the API mirrors one to the other where it can. */
  readonly field: 'spec.dataSource' | 'spec.dataSourceRef';
  /** '' for the core group. */
  readonly group: string;
  readonly kind: string;
  readonly name: string;
  /** '' for the claim's own. */
  readonly namespace: string;
}

/** Undefined: a new volume is empty. */
export function dataSourceOf({ dataSource, dataSourceRef }: PersistentVolumeClaimSpec): DataSource | undefined {
  const [field, written] = dataSource === undefined ? (['spec.dataSourceRef', dataSourceRef] as const) : (['spec.dataSource', dataSource] as const);
  if (written === undefined) return undefined;
  return { field, group: written.apiGroup ?? '', kind: written.kind, name: written.name, namespace: dataSourceRef?.namespace ?? '' };
}

/** 'spec.dataSource names VolumeSnapshot "before" of group snapshot.storage.k8s.io' */
export function showDataSource({ field, group, kind, name, namespace }: DataSource): string {
  const place = `${group === '' ? '' : ` of group ${group}`}${namespace === '' ? '' : ` in namespace ${namespace}`}`;
  return `${field} names ${kind} ${JSON.stringify(name)}${place}`;
}

/** The snapshot that a claim which waits for its volume wants to have restored: 'namespace/name'. */
export function restoredSnapshotOf({ metadata, spec, status }: PersistentVolumeClaim): readonly string[] {
  const source = dataSourceOf(spec);
  if (source?.kind !== 'VolumeSnapshot' || source.group !== snapshotGroup || status.phase === 'Bound' || status.phase === 'Lost') return [];
  return [`${source.namespace === '' ? (metadata.namespace ?? '') : source.namespace}/${source.name}`];
}
