/** Snapshots, from a VolumeSnapshot to the driver and back. Pure; the parts are beside it. */
import type { PersistentVolumeClaim } from '../../api/generated/types.ts';
import type { VolumeGroupSnapshot } from '../../api/kinds/snapshot/volume-group-snapshot.ts';
import type { VolumeSnapshot } from '../../api/kinds/snapshot/volume-snapshot.ts';
import { type ContentSubject, decideContent } from './decide-content.ts';
import { decideGroup } from './decide-group.ts';
import { decideGroupContent, type GroupContentSubject } from './decide-group-content.ts';
import { decideClaim, decideSnapshot, type SnapshotterDecision } from './decide-snapshot.ts';
import type { SnapshotsSnapshot } from './snapshot-view.ts';

export type { SnapshotterDecision } from './decide-snapshot.ts';
export type { SnapshotsSnapshot } from './snapshot-view.ts';

/** What one decision is about. */
export type SnapshotterSubject = { readonly from: SnapshotsSnapshot } & (
  | { readonly type: 'snapshot'; readonly snapshot: VolumeSnapshot }
  | ({ readonly type: 'content' } & ContentSubject)
  | { readonly type: 'claim'; readonly claim: PersistentVolumeClaim }
  | { readonly type: 'group'; readonly group: VolumeGroupSnapshot }
  | ({ readonly type: 'groupContent' } & GroupContentSubject)
);

export function decide(subject: SnapshotterSubject, now: number): SnapshotterDecision {
  switch (subject.type) {
    case 'snapshot':
      return decideSnapshot(subject.snapshot, subject.from, now);
    case 'content':
      return decideContent(subject, subject.from, now);
    case 'claim':
      return decideClaim(subject.claim, subject.from);
    case 'group':
      return decideGroup(subject.group, subject.from, now);
    case 'groupContent':
      return decideGroupContent(subject, subject.from, now);
  }
}
