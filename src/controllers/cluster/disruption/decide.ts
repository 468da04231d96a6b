import type { Condition, Pod, PodDisruptionBudget, PodDisruptionBudgetStatus } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { timestamp } from '../../../api/kinds/timestamps.ts';
import { isPodReady } from '../../pods/state.ts';
import { type EventDraft, type RecordEvent, recordOnce, updateStatus } from '../../../client/decision.ts';
import type { BudgetAction, BudgetDecision } from './actions.ts';
import { expectedOf, type ScaleOf } from './expected.ts';
import { goTextOfSelector } from './selector-text.ts';

export interface BudgetSnapshot {
  readonly budget: Stored<PodDisruptionBudget>;
  /** The pods that it selects, sorted by name. */
  readonly pods: readonly Stored<Pod>[];
  readonly scaleOf: ScaleOf;
  /** The message that was last recorded under a key, unless that was long ago. */
  readonly recorded: (key: string) => string | undefined;
}

/** A pod whose eviction was allowed and that is not deleted within this time counts as healthy again. */
const deletionTimeoutMs = 2 * 60_000;

/** disruptionsAllowed: healthy pods beyond the number that must be healthy. */
export function decideBudget(snapshot: BudgetSnapshot, now: number): BudgetDecision {
  const { budget, pods, scaleOf } = snapshot;
  const expected = expectedOf(budget, pods, scaleOf);
  const none = pods.length === 0 ? recordUnlessRecorded(snapshot, { type: 'Normal', reason: 'NoPods', message: 'No matching pods found' }) : [];
  if (expected.state === 'failed') return fail(snapshot, { why: expected.why, now, before: none });

  const disrupted = disruptedPods(budget, pods, now);
  const healthy = pods.filter((pod) => isHealthy(pod, disrupted)).length;
  const status = statusOf(budget, { healthy, desired: expected.healthy, expected: expected.pods, disrupted: disrupted.waiting }, now);
  const unmanaged = expected.unmanaged.length === 0 ? [] : recordUnlessRecorded(snapshot, unmanagedPods(budget));
  const actions: readonly BudgetAction[] = [
    ...none,
    ...unmanaged,
    ...(status === budget.status ? [] : updateStatus(budget, { ...budget, status })),
    ...disrupted.overdue.map((pod) => notDeleted(budget, pod)),
  ];
  const text = `${healthy} of ${expected.pods} pods are healthy, ${expected.healthy} have to be: ${status.disruptionsAllowed} may go`;
  return { actions, reasons: [{ code: 'Counted', text }], ...(disrupted.again === undefined ? {} : { again: disrupted.again }) };
}

/** No disruption is allowed as long as the expected number of pods is unknown. */
function fail(
  snapshot: BudgetSnapshot,
  { why, now, before }: { readonly why: string; readonly now: number; readonly before: readonly RecordEvent[] },
): BudgetDecision {
  const { budget } = snapshot;
  const message = `Failed to calculate the number of expected pods: ${why}`;
  const status = withCondition({ ...budget.status, disruptionsAllowed: 0 }, { status: 'False', reason: 'SyncFailed', message: why }, now);
  const isNews = budget.status.disruptionsAllowed !== 0 || status.conditions !== budget.status.conditions;
  return {
    actions: [
      ...before,
      ...recordUnlessRecorded(snapshot, { type: 'Warning', reason: 'CalculateExpectedPodCountFailed', message }),
      ...(isNews ? updateStatus(budget, { ...budget, status }) : []),
    ],
    reasons: [{ code: 'SyncFailed', text: why }],
  };
}

interface Counts {
  readonly healthy: number;
  readonly desired: number;
  readonly expected: number;
  readonly disrupted: Readonly<Record<string, string>>;
}

/** Returns the same object if nothing changes. */
function statusOf(budget: PodDisruptionBudget, { healthy, desired, expected, disrupted }: Counts, now: number): PodDisruptionBudgetStatus {
  const { status: old, metadata } = budget;
  // A budget that selects no pods yet must not allow an eviction of the first ones before they are counted.
  const disruptionsAllowed = expected <= 0 ? 0 : Math.max(0, healthy - desired);
  const generation = metadata.generation ?? 0;
  const counted: PodDisruptionBudgetStatus = {
    ...(generation === 0 ? {} : { observedGeneration: generation }),
    ...(Object.keys(disrupted).length === 0 ? {} : { disruptedPods: { ...disrupted } }),
    disruptionsAllowed,
    currentHealthy: healthy,
    desiredHealthy: desired,
    expectedPods: expected,
    ...(old.conditions === undefined ? {} : { conditions: old.conditions }),
  };
  const allowed = disruptionsAllowed > 0 ? ({ status: 'True', reason: 'SufficientPods' } as const) : ({ status: 'False', reason: 'InsufficientPods' } as const);
  const condition = old.conditions?.find(({ type }) => type === conditionType);
  const isDescribed = condition?.status === allowed.status && condition.reason === allowed.reason;
  return isDescribed && isSame(old, counted) ? old : withCondition(counted, { ...allowed, message: '' }, now);
}

const conditionType = 'DisruptionAllowed';

const isSame = (a: PodDisruptionBudgetStatus, b: PodDisruptionBudgetStatus): boolean =>
  a.observedGeneration === b.observedGeneration &&
  a.disruptionsAllowed === b.disruptionsAllowed &&
  a.currentHealthy === b.currentHealthy &&
  a.desiredHealthy === b.desiredHealthy &&
  a.expectedPods === b.expectedPods &&
  sameEntries(a.disruptedPods ?? {}, b.disruptedPods ?? {});

function sameEntries(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}

/** With the DisruptionAllowed condition; the same object if nothing changes. */
function withCondition(status: PodDisruptionBudgetStatus, given: Pick<Condition, 'status' | 'reason' | 'message'>, now: number): PodDisruptionBudgetStatus {
  const conditions = status.conditions ?? [];
  const old = conditions.find(({ type }) => type === conditionType);
  const { observedGeneration } = status;
  if (
    old !== undefined &&
    old.status === given.status &&
    old.reason === given.reason &&
    old.message === given.message &&
    old.observedGeneration === observedGeneration
  )
    return status;
  const next: Condition = {
    type: conditionType,
    ...given,
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
    lastTransitionTime: old?.status === given.status ? old.lastTransitionTime : timestamp(now),
  };
  return { ...status, conditions: old === undefined ? [...conditions, next] : conditions.map((other) => (other === old ? next : other)) };
}

interface Disrupted {
  /** By pod name: when its eviction was allowed. Only pods that still exist. */
  readonly waiting: Readonly<Record<string, string>>;
  readonly overdue: readonly Stored<Pod>[];
  /** When the next of them is overdue. */
  readonly again: number | undefined;
}

function disruptedPods({ status }: PodDisruptionBudget, pods: readonly Stored<Pod>[], now: number): Disrupted {
  const waiting: Record<string, string> = {};
  const overdue: Stored<Pod>[] = [];
  let again: number | undefined;
  for (const pod of pods) {
    const since = status.disruptedPods?.[pod.metadata.name];
    if (since === undefined || pod.metadata.deletionTimestamp !== undefined) continue;
    const due = Date.parse(since) + deletionTimeoutMs;
    if (due < now) {
      overdue.push(pod);
      continue;
    }
    waiting[pod.metadata.name] = since;
    again = Math.min(again ?? due + 1, due + 1);
  }
  return { waiting, overdue, again };
}

const isHealthy = (pod: Stored<Pod>, { waiting }: Disrupted): boolean =>
  pod.metadata.deletionTimestamp === undefined && !Object.hasOwn(waiting, pod.metadata.name) && isPodReady(pod);

/** Recorded unless it was before. */
function recordUnlessRecorded({ budget, recorded }: BudgetSnapshot, event: EventDraft): readonly RecordEvent[] {
  const key = `${budget.metadata.uid} ${event.reason}`;
  return recorded(key) === event.message ? [] : [{ do: 'recordEvent', event: { about: budget, ...event }, rememberAs: key }];
}

const unmanagedPods = ({ spec }: PodDisruptionBudget): EventDraft => ({
  type: 'Warning',
  reason: 'UnmanagedPods',
  message:
    `Pods selected by this PodDisruptionBudget (selector: ${goTextOfSelector(spec.selector)}) were found ` +
    'to be unmanaged. As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. ' +
    'To account for these pods please set ".spec.minAvailable" field of the PDB to an integer value.',
});

/** The namespace comes twice, as in Kubernetes. */
const notDeleted = ({ metadata: { namespace = '' } }: Stored<PodDisruptionBudget>, pod: Stored<Pod>): RecordEvent =>
  recordOnce({
    about: pod,
    type: 'Warning',
    reason: 'NotDeleted',
    message: `Pod was expected by PDB ${namespace}/${namespace} to be deleted but it wasn't`,
  });
