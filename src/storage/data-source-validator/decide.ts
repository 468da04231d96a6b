/** volume-data-source-validator: a claim is told if no volume populator is registered for the kind of its data source. It only records events. */
import type { PersistentVolumeClaim } from '../../api/generated/types.ts';
import { snapshotGroup } from '../../api/kinds/snapshot/volume-snapshot.ts';
import { type Decision, type LastEvent, type RecordEvent, recordIfChanged } from '../../client/decision.ts';
import { stay, type VolumeReason } from '../volumes/decision.ts';

export interface DataSourceValidatorSnapshot {
  readonly claim: PersistentVolumeClaim;
  /** A VolumePopulator names the kind. */
  readonly isRegistered: (kind: SourceKind) => boolean;
  readonly lastEvent: LastEvent;
}

export interface SourceKind {
  readonly group: string;
  readonly kind: string;
}

export type DataSourceValidatorDecision = Decision<RecordEvent, VolumeReason>;

/** The kind that a volume populator has to be registered for; undefined: the claim needs none, or has its volume. Claims and snapshots are the provisioner's. */
export function populatedKindOf({ spec, status }: PersistentVolumeClaim): SourceKind | undefined {
  const { apiGroup, kind } = spec.dataSourceRef ?? {};
  if (kind === undefined || status.phase === 'Bound' || status.phase === 'Lost') return undefined;
  const group = apiGroup ?? '';
  const isBuiltIn = (group === '' && kind === 'PersistentVolumeClaim') || (group === snapshotGroup && kind === 'VolumeSnapshot');
  return isBuiltIn ? undefined : { group, kind };
}

export function decide({ claim, isRegistered, lastEvent }: DataSourceValidatorSnapshot, now: number): DataSourceValidatorDecision {
  const kind = populatedKindOf(claim);
  if (kind === undefined || isRegistered(kind)) return stay({ code: 'Recognized', text: 'its data source is of a kind that is known', next: 'none' });
  const event = { about: claim, type: 'Warning', reason: 'UnrecognizedDataSourceKind', message } as const;
  const text = `no VolumePopulator is registered for kind ${kind.kind} of group ${kind.group}`;
  return {
    ...recordIfChanged(event, lastEvent(claim.metadata.uid ?? ''), now),
    reasons: [{ code: 'UnrecognizedDataSourceKind', text, next: 'administrator' }],
  };
}

const message = 'The datasource for this PVC does not match any registered VolumePopulator';
