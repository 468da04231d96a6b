import { compareQuantities } from '../../api/quantity.ts';
import type { StorageView } from './storage-view.ts';

/** An expansion that was asked for and is not complete. */
export interface Expansion {
  readonly namespace: string;
  readonly name: string;
  readonly from: string;
  readonly to: string;
  /** 'NodeResizePending', or '' if no controller has begun. */
  readonly state: string;
}

/** A claim whose content comes from a snapshot or another claim. */
export interface Copy {
  readonly namespace: string;
  readonly name: string;
  /** 'VolumeSnapshot/before-upgrade' */
  readonly source: string;
  readonly phase: string;
}

export function expansionsIn({ lists }: StorageView): readonly Expansion[] {
  return lists.claims.flatMap(({ metadata: { namespace = '', name }, spec, status }) => {
    const [to, from] = [spec.resources.requests?.['storage'], status.capacity?.['storage']];
    if (to === undefined || from === undefined || compareQuantities(to, from) <= 0) return [];
    return [{ namespace, name, from, to, state: status.allocatedResourceStatuses?.['storage'] ?? '' }];
  });
}

export function copiesIn({ lists }: StorageView): readonly Copy[] {
  return lists.claims.flatMap(({ metadata: { namespace = '', name }, spec, status }) => {
    const source = spec.dataSourceRef ?? spec.dataSource;
    return source === undefined ? [] : [{ namespace, name, source: `${source.kind}/${source.name}`, phase: status.phase ?? '' }];
  });
}
