import type { ControllerRevision, DaemonSet, Node, Pod } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { daemonSetKind } from '../../../api/kinds/apps/daemon-set.ts';
import type { KubeObject } from '../../../api/object.ts';
import { updateStatus } from '../../../client/decision.ts';
import { sortedJson } from '../../../api/sorted-json.ts';
import { sortByOwner, ownershipActions } from '../../pods/ownership.ts';
import { selects } from '../../pods/selector.ts';
import { isPodTerminal, nextAvailability } from '../../pods/state.ts';
import { controllerReference } from '../../pods/template.ts';
import type { DaemonSetAction, DaemonSetDecision } from './actions.ts';
import { podForNode, targetNode } from './daemon-pod.ts';
import { nodeRequirementsOf, eligibilityOf } from './eligibility.ts';
import type { FailureBackoff } from './failure-backoff.ts';
import { historyOf, outdated } from './history.ts';
import { type PodChanges, type PlacementSnapshot, placePods } from './placement.ts';
import { rollPods } from './rolling.ts';
import { statusOf } from './status.ts';

export interface DaemonSetSnapshot {
  readonly set: Stored<DaemonSet>;
  /** The pods that it controls, and those in its namespace without controller. */
  readonly candidates: readonly Stored<Pod>[];
  /** The revisions that it controls, and those in its namespace without controller. */
  readonly revisions: readonly Stored<ControllerRevision>[];
  readonly revisionNamed: (name: string) => Stored<ControllerRevision> | undefined;
  /** All nodes of the cluster. */
  readonly nodes: readonly Stored<Node>[];
  /** The back-off for failed pods, which this process remembers. */
  readonly failureOn: (key: string) => FailureBackoff | undefined;
}

/** At most this many pods are created or deleted in one pass; the next pass sees the result. */
const burst = 250;

/**
 * One pod on every eligible node. First pods and revisions are adopted or released, then missing pods are created and surplus ones
 * deleted, and only when nothing is missing are old pods replaced.
 */
export function decideDaemonSet(snapshot: DaemonSetSnapshot, now: number): DaemonSetDecision {
  const { set, candidates, revisions, revisionNamed, failureOn } = snapshot;
  if (set.metadata.deletionTimestamp !== undefined) return decided('Deleted', 'it is being deleted');
  const matches = ({ metadata }: Stored<KubeObject>) => selects(set.spec.selector, metadata.labels);
  const [pods, history] = [sortByOwner(set, candidates, matches), sortByOwner(set, revisions, matches)];
  const reference = controllerReference(set, daemonSetKind);
  const claiming = [...ownershipActions(reference, set, pods), ...ownershipActions(reference, set, history)];
  if (claiming.length > 0) return decided('PodsClaimed', 'pods or revisions begin or cease to match its selector', ...claiming);
  const { hash, collisionCount, old, actions } = historyOf(set, { revisions: history.owned, named: revisionNamed, pods: pods.owned });
  if (actions.length > 0) return decided('HistoryKept', 'its template has changed', ...actions);
  const placement: PlacementSnapshot = { set, hash, eligibility: eligibilityByNode(set, snapshot.nodes), podsOn: podsByNode(pods.owned), failureOn, now };
  return decidePods(placement, { collisionCount, forgotten: outdated(set, old, pods.owned) });
}

const decided = (code: string, text: string, ...actions: readonly DaemonSetAction[]): DaemonSetDecision => ({ actions, reasons: [{ code, text }] });

function eligibilityByNode(set: Stored<DaemonSet>, nodes: readonly Stored<Node>[]): PlacementSnapshot['eligibility'] {
  const demands = nodeRequirementsOf(set);
  return new Map(nodes.map((node) => [node.metadata.name, eligibilityOf(node, demands)]));
}

/** Without pods that have ended and are being deleted. */
function podsByNode(pods: readonly Stored<Pod>[]): PlacementSnapshot['podsOn'] {
  const byNode = new Map<string, Stored<Pod>[]>();
  for (const pod of pods) {
    const node = targetNode(pod);
    if (node === undefined || (isPodTerminal(pod) && pod.metadata.deletionTimestamp !== undefined)) continue;
    const here = byNode.get(node);
    if (here === undefined) byNode.set(node, [pod]);
    else here.push(pod);
  }
  return byNode;
}

interface RevisionsToKeep {
  readonly collisionCount: number | undefined;
  readonly forgotten: readonly Stored<ControllerRevision>[];
}

/** Creations come last: one that a quota refuses must not keep the status from being written. */
function decidePods(placement: PlacementSnapshot, { collisionCount, forgotten }: RevisionsToKeep): DaemonSetDecision {
  const { set, hash, now } = placement;
  const placing = placePods(placement);
  const isPlaced = placing.remove.length + placing.create.length === 0;
  const { remove, create, records } = isPlaced ? { ...rollPods(placement), records: placing.records } : placing;
  const status = statusOf(placement, collisionCount);
  const again = earliest(placing.again, nextAvailability([...placement.podsOn.values()].flat(), set.spec.minReadySeconds ?? 0, now));
  return {
    actions: [
      ...records,
      ...(remove.length === 0 ? [] : [{ do: 'deletePods', set, pods: remove.slice(0, burst) } as const]),
      ...(isPlaced ? forgotten.map((revision) => ({ do: 'deleteRevision', revision }) as const) : []),
      ...(sortedJson(status) === sortedJson(set.status) ? [] : updateStatus(set, { ...set, status })),
      ...(create.length === 0 ? [] : [{ do: 'createPods', set, pods: create.slice(0, burst).map((node) => podForNode(set, node, hash)) } as const]),
    ],
    reasons: [reasonOf({ remove, create, records }, isPlaced)],
    ...(again === undefined ? {} : { again }),
  };
}

function earliest(...times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

function reasonOf({ remove, create }: PodChanges, isPlaced: boolean): DaemonSetDecision['reasons'][number] {
  if (remove.length + create.length === 0) return { code: 'Settled', text: 'every node has what it should have' };
  const text = `${create.length} nodes need a pod, ${remove.length} pods have to go`;
  return { code: isPlaced ? 'RollingUpdate' : 'NodesDiffer', text };
}
