import type { Pod } from '../../api/generated/types.ts';
import type { Stored } from '../../api/stored.ts';
import type { VolumeState } from '../volumes/volume-state.ts';
import { type MountWaitState, waitForVolumes } from '../volumes/mount-events.ts';
import type { NodeExpansion, VolumeAction, VolumeDecision } from './actions.ts';
import type { PublishedRecord, StagedRecord } from './journal.ts';
import type { PodVolume } from './pod-volume.ts';

/** Desired and actual state of a pod's volumes. */
export type PodVolumesSnapshot =
  /** Its volumes are wanted. */
  | { readonly type: 'wanted'; readonly pod: Stored<Pod>; readonly volumes: readonly VolumeEntry[]; readonly memory: MountWaitState }
  /** None of its containers runs, and none will. */
  | { readonly type: 'unwanted'; readonly uid: string; readonly records: readonly UnwantedRecord<PublishedRecord>[]; readonly hasDirectory: boolean }
  /** Volumes that are staged, and wanted by no pod. */
  | { readonly type: 'orphaned'; readonly records: readonly UnwantedRecord<StagedRecord>[] };

export interface VolumeEntry {
  readonly state: VolumeState;
  /** Undefined: its claim cannot be used. */
  readonly volume: PodVolume | undefined;
  /** `again`: it has to be staged again to be expanded, and no pod uses it. */
  readonly staging: 'needless' | 'missing' | 'done' | { readonly again: StagedRecord };
  /** Undefined: the volume needs no expansion on the node, or cannot be expanded now. */
  readonly growth: { readonly to: NodeExpansion; readonly notBefore: number | undefined } | undefined;
  /** `stale`: the objects that it is made of have changed. `again`: when it has to be published again in any case. */
  readonly published: { readonly stale: boolean; readonly again: number | undefined } | undefined;
  /** An operation on it is running. */
  readonly busy: boolean;
  /** When a failed operation may be retried. */
  readonly notBefore: number | undefined;
}

export interface UnwantedRecord<Record> {
  readonly record: Record;
  readonly busy: boolean;
  readonly notBefore: number | undefined;
}

/**
 * The reconciler: one step from the actual to the desired state of a pod's volumes, or of the volumes that no pod uses:
 *
 *     wanted, ready, not staged   → stage      (once for the node)
 *     wanted, ready, staged       → publish    (for the pod)
 *     published, changed          → publish    again
 *     staged, and larger          → expand     before any other pod gets it
 *     unwanted                    → unpublish, and clean up once the last is gone
 *     staged for no pod           → unstage
 *
 * A volume that is busy or has just failed does not hold up the others.
 */
export function reconcileVolumes(snapshot: PodVolumesSnapshot, now: number): VolumeDecision {
  switch (snapshot.type) {
    case 'wanted':
      return reconcileWanted(snapshot, now);
    case 'unwanted':
      return unmountUnwanted(snapshot, now);
    case 'orphaned':
      return {
        ...undo(snapshot.records, (record) => ({ do: 'unstage', record }), now),
        reasons: [{ code: 'Unused', text: 'no pod uses the volume any more' }],
      };
  }
}

function reconcileWanted({ pod, volumes, memory }: Extract<PodVolumesSnapshot, { type: 'wanted' }>, now: number): VolumeDecision {
  const steps = volumes.map((volume) => stepFor(volume, pod, now));
  const wait = waitForVolumes(volumes.map(unlessMounted), memory, now);
  const events = wait.events.map(({ reason, message }): VolumeAction => ({ do: 'record-event', pod, reason, message }));
  // Recorded before it is remembered: a crash between the two records an event twice rather than never.
  const isNews = events.length > 0 || wait.memory.timesOutAt !== memory.timesOutAt;
  const remember: VolumeAction[] = !isNews ? [] : [{ do: 'remember', pod, mounts: wait.memory }];
  const waiting = volumes.filter(({ published }) => published === undefined);
  return {
    actions: [...steps.flatMap(({ action }) => action ?? []), ...events, ...remember],
    reasons:
      waiting.length === 0
        ? [{ code: 'Mounted', text: 'all volumes are attached and mounted' }]
        : waiting.map(({ state }) => ({ code: `Volume-${state.state}`, text: `volume ${state.name} is ${state.state}, and not mounted` })),
    ...soonest([wait.again, ...steps.map(({ again }) => again)]),
  };
}

/** A mounted volume waits for nothing, until it has to be published again. */
const unlessMounted = ({ state, published }: VolumeEntry): VolumeState =>
  published === undefined || published.stale ? state : { state: 'ready', name: state.name };

interface Step {
  readonly action?: VolumeAction;
  readonly again?: number | undefined;
}

function stepFor({ state, volume, staging, growth, published, busy, notBefore }: VolumeEntry, pod: Stored<Pod>, now: number): Step {
  if (busy || volume === undefined) return {};
  const mounted = published !== undefined;
  if (growth !== undefined && staging === 'done') {
    const isTooSoon = growth.notBefore !== undefined && now < growth.notBefore;
    if (!isTooSoon) return { action: { do: 'expand', pod, volume, growth: growth.to, mounted } };
    if (!mounted) return { again: growth.notBefore };
  }
  const isDue = published !== undefined && (published.stale || (published.again !== undefined && now >= published.again));
  if (published !== undefined && !isDue) return { again: published.again };
  // A mounted volume stays mounted, whatever happens to its claim.
  if (state.state !== 'ready') return {};
  if (notBefore !== undefined && now < notBefore) return { again: notBefore };
  const attached = state.attached;
  if (typeof staging === 'object') return { action: { do: 'unstage', record: staging.again, waits: volume.podUid } };
  return { action: { do: staging === 'missing' ? 'stage' : 'publish', pod, volume, attached } };
}

function unmountUnwanted({ uid, records, hasDirectory }: Extract<PodVolumesSnapshot, { type: 'unwanted' }>, now: number): VolumeDecision {
  const reasons = [{ code: 'Left', text: 'no container of the pod runs, and none will' }];
  if (records.length === 0) return { actions: hasDirectory ? [{ do: 'clean', uid }] : [], reasons };
  return { ...undo(records, (record) => ({ do: 'unpublish', record }), now), reasons };
}

function undo<Record>(
  records: readonly UnwantedRecord<Record>[],
  how: (record: Record) => VolumeAction,
  now: number,
): { readonly actions: readonly VolumeAction[]; readonly again?: number } {
  const free = records.filter(({ busy }) => !busy);
  const due = free.filter(({ notBefore }) => notBefore === undefined || now >= notBefore);
  return {
    actions: due.map(({ record }) => how(record)),
    ...soonest(free.map(({ notBefore }) => (notBefore !== undefined && now < notBefore ? notBefore : undefined))),
  };
}

function soonest(times: readonly (number | undefined)[]): { readonly again?: number } {
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? {} : { again: Math.min(...known) };
}
