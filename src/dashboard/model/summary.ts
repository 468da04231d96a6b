/** What `moor top` shows, and prints as JSON. */
import type { ClusterObjects } from '../../why/graph/cluster-objects.ts';
import type { ObjectExplanation, UnreadResource } from '../../why/explanation/explanation.ts';
import { overviewOf } from '../../why/overview.ts';
import { type NodePlace, placesOf, type ZonePlace } from './attach-headroom.ts';
import { type ClaimRow, claimRow, selectRows } from './claim-rows.ts';
import { targetKey } from './explanations.ts';
import { StorageView } from './storage-view.ts';
import type { VolumeUsage } from './usage.ts';

export interface StorageSummary {
  /** RFC 3339 */
  readonly asOf: string;
  /** What is stuck comes first. */
  readonly claims: readonly SummarizedClaim[];
  readonly zones: readonly ZonePlace[];
  readonly stuck: readonly ObjectExplanation[];
  readonly waiting: readonly ObjectExplanation[];
  readonly unseen: readonly UnreadResource[];
}

export interface SummarizedClaim extends ClaimRow {
  /** null: its node does not say. */
  readonly usage: VolumeUsage | null;
}

/** `now`: milliseconds since 1970. */
export function summaryOf(objects: ClusterObjects, usage: ReadonlyMap<string, VolumeUsage>, now: number): StorageSummary {
  const { claims = [], volumes = [], pods = [], attachments = [], nodes = [], csiNodes = [], classes = [], drivers = [], snapshots = [] } = objects;
  const view = new StorageView({ claims, volumes, pods, attachments, nodes, csiNodes, classes, drivers, snapshots });
  const overview = overviewOf(objects, now);
  const explained = new Map([...overview.stuck, ...overview.waiting].map((each) => [targetKey(each.about), each]));
  const rows = claims.map((claim) => {
    const { namespace = '', name } = claim.metadata;
    return claimRow(claim, view, explained.get(targetKey({ kind: 'pvc', namespace, name })));
  });
  return {
    ...overview,
    claims: selectRows(rows, { text: '', phase: '', sort: 'phase', descending: false }).map((row) => ({ ...row, usage: usage.get(row.key) ?? null })),
    zones: placesOf(view),
  };
}

/** Those with the fewest attach slots left first; nodes without a limit are left out. */
export function tightestNodes(zones: readonly ZonePlace[], most: number): readonly NodePlace[] {
  const free = ({ headroom }: NodePlace): number => Math.min(...headroom.map(({ limit = Infinity, attached }) => limit - attached.length));
  return zones
    .flatMap(({ nodes }) => nodes)
    .filter((node) => !node.ready || free(node) < Infinity)
    .toSorted((a, b) => Number(a.ready) - Number(b.ready) || free(a) - free(b))
    .slice(0, most);
}
