/** Which pods a DaemonSet has to create and delete so that there is one on every eligible node. */
import type { DaemonSet, Pod } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { amountOf } from '../../../api/kinds/apps/rolling-update.ts';
import { recordOnce } from '../../../client/decision.ts';
import { isPodAvailable, isPodReady } from '../../pods/state.ts';
import { type DaemonSetAction, foundFailedPod, foundSucceededPod } from './actions.ts';
import { HASH_LABEL } from './daemon-pod.ts';
import type { NodeEligibility } from './eligibility.ts';
import { afterFailure, type FailureBackoff, staysUntil } from './failure-backoff.ts';

/** A DaemonSet and its pods by node. */
export interface PlacementSnapshot {
  readonly set: Stored<DaemonSet>;
  readonly hash: string;
  /** Of every node. */
  readonly eligibility: ReadonlyMap<string, NodeEligibility>;
  /** Includes nodes that do not exist any more. */
  readonly podsOn: ReadonlyMap<string, readonly Stored<Pod>[]>;
  readonly failureOn: (key: string) => FailureBackoff | undefined;
  readonly now: number;
}

export interface PodChanges {
  readonly remove: readonly Stored<Pod>[];
  /** Nodes that need a pod. */
  readonly create: readonly string[];
  /** Events and back-offs. */
  readonly records: readonly DaemonSetAction[];
  /** When a failed pod may be deleted; milliseconds since 1970. */
  readonly again?: number;
}

export const noPodChanges: PodChanges = { remove: [], create: [], records: [] };

export function placePods(snapshot: PlacementSnapshot): PodChanges {
  const remove: Stored<Pod>[] = [];
  const create: string[] = [];
  const records: DaemonSetAction[] = [];
  let again: number | undefined;
  for (const [node, eligible] of snapshot.eligibility) {
    const changes = onNode(snapshot, node, eligible);
    remove.push(...changes.remove);
    create.push(...changes.create);
    records.push(...changes.records);
    if (changes.again !== undefined) again = Math.min(again ?? Infinity, changes.again);
  }
  for (const [node, pods] of snapshot.podsOn) if (!snapshot.eligibility.has(node)) remove.push(...pods.filter(isUnscheduled));
  return { remove, create, records, ...(again === undefined ? {} : { again }) };
}

/** It waits for a node that does not exist any more; no other controller would delete it. */
const isUnscheduled = ({ metadata, spec }: Pod): boolean => (spec.nodeName ?? '') === '' && metadata.deletionTimestamp === undefined;

function onNode(snapshot: PlacementSnapshot, node: string, eligible: NodeEligibility): PodChanges {
  const all = snapshot.podsOn.get(node) ?? [];
  const pods = all.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  if (eligible === 'none') return { ...noPodChanges, remove: pods };
  if (all.length === 0) return eligible === 'run' ? { ...noPodChanges, create: [node] } : noPodChanges;
  const ended = replaceEnded(snapshot, node, pods);
  const running = pods.filter(({ status }) => status.phase !== 'Failed' && status.phase !== 'Succeeded').sort(oldestFirst);
  if (!allowsSurge(snapshot.set)) return { ...ended, remove: [...ended.remove, ...running.slice(1)] };
  if (running.length === 0) return { ...ended, create: eligible === 'run' ? [node] : [] };
  return { ...ended, remove: [...ended.remove, ...surplus(snapshot, running)] };
}

/** Failed and succeeded pods are deleted, and replaced once they are gone. */
function replaceEnded({ set, failureOn, now }: PlacementSnapshot, node: string, pods: readonly Stored<Pod>[]): PodChanges {
  const remove: Stored<Pod>[] = [];
  const records: DaemonSetAction[] = [];
  let again: number | undefined;
  for (const pod of pods) {
    if (pod.status.phase === 'Succeeded') {
      records.push(recordOnce({ about: set, ...foundSucceededPod(pod, node) }));
      remove.push(pod);
    } else if (pod.status.phase === 'Failed') {
      const key = failureKey(set, node);
      again = staysUntil(failureOn(key), now);
      if (again !== undefined) continue;
      records.push({ do: 'rememberFailure', key, backoff: afterFailure(failureOn(key), now) }, recordOnce({ about: set, ...foundFailedPod(pod, node) }));
      remove.push(pod);
    }
  }
  return { remove, create: [], records, ...(again === undefined ? {} : { again }) };
}

/** The generation in the key resets the back-off when the DaemonSet changes. */
const failureKey = ({ metadata, status }: Stored<DaemonSet>, node: string): string => `${metadata.uid}/${status.observedGeneration ?? 0}/${node}`;

/** Pods that are bound to the node come before unscheduled ones. */
export function oldestFirst(a: Stored<Pod>, b: Stored<Pod>): number {
  const isOn = ({ spec }: Pod): number => ((spec.nodeName ?? '') === '' ? 1 : 0);
  return isOn(a) - isOn(b) || compare(a.metadata.creationTimestamp, b.metadata.creationTimestamp) || compare(a.metadata.name, b.metadata.name);
}

const compare = (a = '', b = ''): number => (a < b ? -1 : a > b ? 1 : 0);

/**
 * With maxSurge an old and a new pod share a node until the new one is available, or the old one is not ready any more.
 */
function surplus({ set, hash, now }: PlacementSnapshot, running: readonly Stored<Pod>[]): readonly Stored<Pod>[] {
  const fresh = running.filter(({ metadata }) => metadata.labels?.[HASH_LABEL] === hash);
  const stale = running.filter(({ metadata }) => metadata.labels?.[HASH_LABEL] !== hash);
  const [newPod, oldPod] = [fresh[0], stale[0]];
  const doubles = [...fresh.slice(1), ...stale.slice(1)];
  if (newPod === undefined || oldPod === undefined) return doubles;
  const isReplaced = !isPodReady(oldPod) || isPodAvailable(newPod, set.spec.minReadySeconds ?? 0, now);
  return isReplaced ? [...doubles, oldPod] : doubles;
}

const allowsSurge = (set: DaemonSet): boolean => limitsOf(set, 1).surge > 0;

export interface Limits {
  readonly surge: number;
  readonly unavailable: number;
}

/** `wanted`: the number of eligible nodes. */
export function limitsOf({ spec: { updateStrategy } }: DaemonSet, wanted: number): Limits {
  if (updateStrategy.type !== 'RollingUpdate') return { surge: 0, unavailable: 0 };
  const { maxSurge = 0, maxUnavailable = 0 } = updateStrategy.rollingUpdate ?? {};
  const share = (value: number | string): number => (typeof value === 'number' ? value : Math.ceil((amountOf(value) * wanted) / 100));
  const [surge, unavailable] = [share(maxSurge), share(maxUnavailable)];
  // With neither the update would never progress; validation refuses that.
  return { surge, unavailable: surge === 0 && unavailable === 0 ? 1 : unavailable };
}
