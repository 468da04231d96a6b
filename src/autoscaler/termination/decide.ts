/** A Node that is deleted goes in order: taint, drain, detach, terminate (Karpenter's node/termination). */
import type { Node, PersistentVolumeClaim, Pod, VolumeAttachment } from '../../api/generated/types.ts';
import type { NodeClaim } from '../../api/kinds/karpenter/node-claim.ts';
import { isSameTaint } from '../../api/taints.ts';
import { type EventDraft, type LastEvent, type RecordEvent, update, updateStatus } from '../../client/decision.ts';
import { claimsOfPod } from '../../storage/volumes/pods.ts';
import { annotations, disruptedTaint, terminationFinalizer } from '../labels.ts';
import { conditionOf, type ConditionDraft, withConditions } from '../node-claims.ts';
import { isDrainable, mayNotBeDisrupted } from '../pods.ts';
import type { TerminationAction, TerminationDecision } from './actions.ts';
import { nextGroup } from './drain-order.ts';

export interface TerminationSnapshot {
  readonly node: Node;
  readonly claim: NodeClaim | undefined;
  readonly pods: readonly Pod[];
  readonly attachments: readonly VolumeAttachment[];
  readonly volumeOfClaim: (key: string) => PersistentVolumeClaim | undefined;
  /** The cloud's last answer. */
  readonly instance: 'unknown' | 'there' | 'terminating' | 'gone';
  readonly isReady: boolean;
  readonly lastEvent: LastEvent;
}

/** Pods that the scheduler bound before it saw the taint are drained too. */
const leastDrainMs = 5_000;
const pollMs = 1_000;
const terminationPollMs = 5_000;

export function decideTermination(snapshot: TerminationSnapshot, now: number): TerminationDecision {
  const { node, claim, instance, isReady } = snapshot;
  if (node.metadata.deletionTimestamp === undefined || !node.metadata.finalizers?.includes(terminationFinalizer)) return { actions: [], reasons: [] };
  const begun: readonly TerminationAction[] = claim === undefined || claim.metadata.deletionTimestamp !== undefined ? [] : [{ do: 'delete', object: claim }];
  if (!isReady) {
    const providerID = node.spec.providerID ?? '';
    if (instance === 'gone' || providerID === '') return ended(node, begun, 'the instance is lost: its node is neither drained nor awaited');
    if (instance === 'unknown')
      return {
        actions: [...begun, { do: 'checkInstance', object: node, providerID }],
        reasons: [{ code: 'NodeNotReady', text: 'the cloud is asked whether the instance exists' }],
      };
  }
  const tainted = withTaint(node);
  if (tainted !== node) return { actions: [...begun, ...update(node, tainted)], reasons: [{ code: 'Tainted', text: 'no further pods are to come' }] };
  const steps = [drain(snapshot, now), detach(snapshot, now), terminate(snapshot, now)];
  return follow(snapshot, { steps, begun, now });
}

/** A step of the termination: what it does, and the condition of the claim; `done`: the next one may begin. */
interface Step {
  readonly done: boolean;
  readonly actions: readonly TerminationAction[];
  readonly condition: ConditionDraft | undefined;
  readonly code: string;
  readonly text: string;
  readonly pollMs?: number;
}

function follow(
  { node, claim }: TerminationSnapshot,
  { steps, begun, now }: { readonly steps: readonly Step[]; readonly begun: readonly TerminationAction[]; readonly now: number },
): TerminationDecision {
  const reached = steps.slice(0, steps.findIndex(({ done }) => !done) + 1);
  const all = reached.length === 0 ? steps : reached;
  const conditions = all.flatMap(({ condition }) => condition ?? []);
  const writes = claim === undefined ? [] : updateStatus(claim, withConditions(claim, conditions, now));
  const last = all.at(-1);
  if (last === undefined || last.done) return ended(node, [...begun, ...writes], 'the instance has ended');
  return { actions: [...begun, ...writes, ...last.actions], reasons: [{ code: last.code, text: last.text }], again: now + (last.pollMs ?? pollMs) };
}

const ended = (node: Node, begun: readonly TerminationAction[], text: string): TerminationDecision => {
  const finalizers = (node.metadata.finalizers ?? []).filter((each) => each !== terminationFinalizer);
  return { actions: [...begun, ...update(node, { ...node, metadata: { ...node.metadata, finalizers } })], reasons: [{ code: 'Terminated', text }] };
};

function withTaint(node: Node): Node {
  const taints = node.spec.taints ?? [];
  if (taints.some((taint) => isSameTaint(taint, disruptedTaint))) return node;
  const excluded = { 'node.kubernetes.io/exclude-from-external-load-balancers': 'karpenter' };
  return {
    ...node,
    metadata: { ...node.metadata, labels: { ...node.metadata.labels, ...excluded } },
    spec: { ...node.spec, taints: [...taints, disruptedTaint] },
  };
}

const terminationTime = (claim: NodeClaim | undefined): number | undefined => {
  const text = claim?.metadata.annotations?.[annotations.terminationTimestamp];
  return text === undefined ? undefined : Date.parse(text);
};

function drain(snapshot: TerminationSnapshot, now: number): Step {
  const { claim, pods, node, isReady, lastEvent } = snapshot;
  const waiting = pods.filter((pod) => isDrainable(pod, { now, isReady }));
  const state = claim === undefined ? undefined : conditionOf(claim, 'Drained');
  const draining: ConditionDraft = { type: 'Drained', status: 'Unknown', reason: 'Draining', message: 'Draining' };
  const step = { code: 'Draining', text: `${waiting.length} pods are on the node`, pollMs };
  if (waiting.length > 0) {
    const actions = [...evictions(snapshot, { waiting, now }), ...onceAbout(node, failedDraining(waiting.length), { lastEvent, now })];
    return { ...step, done: false, actions, condition: draining };
  }
  const since = state?.status === 'Unknown' ? Date.parse(state.lastTransitionTime ?? '') : undefined;
  const isOver = claim === undefined || state?.status === 'True' || (since !== undefined && now - since >= leastDrainMs);
  return { ...step, done: isOver, actions: [], condition: isOver ? { type: 'Drained', status: 'True' } : draining };
}

function evictions({ claim }: TerminationSnapshot, { waiting, now }: { readonly waiting: readonly Pod[]; readonly now: number }): readonly TerminationAction[] {
  const deadline = terminationTime(claim);
  const reason = claim === undefined ? 'Terminated' : (conditionOf(claim, 'DisruptionReason')?.reason ?? 'Terminated');
  const late = deadline === undefined ? [] : waiting.filter((pod) => deadline - graceMs(pod) <= now && !endsBefore(pod, deadline));
  const gone = new Set(late);
  const evicted = nextGroup(waiting).filter((pod) => pod.metadata.deletionTimestamp === undefined && !mayNotBeDisrupted(pod) && !gone.has(pod));
  return [
    ...late.map((object) => ({ do: 'deletePod', object, gracePeriodSeconds: Math.max(1, Math.floor(((deadline ?? now) - now) / 1000)) }) as const),
    ...evicted.map((object) => ({ do: 'evict', object, reason }) as const),
  ];
}

const graceMs = ({ spec }: Pod): number => (spec.terminationGracePeriodSeconds ?? 30) * 1000;
const endsBefore = ({ metadata }: Pod, deadline: number): boolean =>
  metadata.deletionTimestamp !== undefined && Date.parse(metadata.deletionTimestamp) <= deadline + 1000;

const failedDraining = (count: number): EventDraft => ({
  type: 'Warning',
  reason: 'FailedDraining',
  message: `Failed to drain node, ${count} pods are waiting to be evicted`,
});

const repeatMs = 2 * 60_000;

function onceAbout(node: Node, event: EventDraft, { lastEvent, now }: { readonly lastEvent: LastEvent; readonly now: number }): readonly RecordEvent[] {
  const key = `${node.metadata.uid ?? ''}/${event.reason}`;
  const last = lastEvent(key);
  if (last !== undefined && now - last.at < repeatMs) return [];
  return [{ do: 'recordEvent', event: { ...event, about: node }, rememberAs: key }];
}

/** The volumes of pods that stay on the node do not count: they are detached with the instance. */
function detach({ node, claim, pods, attachments, volumeOfClaim, isReady, lastEvent }: TerminationSnapshot, now: number): Step {
  const staying = new Set(
    pods.filter((pod) => !isDrainable(pod, { now, isReady })).flatMap((pod) => claimsOfPod(pod).flatMap((key) => volumeOfClaim(key)?.spec.volumeName ?? [])),
  );
  const pending = attachments.filter(({ spec }) => spec.source.persistentVolumeName !== undefined && !staying.has(spec.source.persistentVolumeName));
  const step = { code: 'AwaitingVolumeDetachment', text: `${pending.length} volumes are attached`, actions: [] };
  if (pending.length === 0) return { ...step, done: true, condition: { type: 'VolumesDetached', status: 'True' } };
  const deadline = terminationTime(claim);
  if (deadline !== undefined && now > deadline)
    return {
      ...step,
      done: true,
      condition: { type: 'VolumesDetached', status: 'False', reason: 'TerminationGracePeriodElapsed', message: 'TerminationGracePeriodElapsed' },
    };
  const condition = { type: 'VolumesDetached', status: 'Unknown', reason: 'AwaitingVolumeDetachment', message: 'AwaitingVolumeDetachment' } as const;
  return { ...step, done: false, condition, actions: onceAbout(node, awaitingDetachment(pending), { lastEvent, now }) };
}

const mostNamed = 5;

function awaitingDetachment(attachments: readonly VolumeAttachment[]): EventDraft {
  const names = attachments.map(({ metadata }) => metadata.name ?? '').sort();
  const rest = names.length > mostNamed ? ` and ${names.length - mostNamed} other(s)` : '';
  const message = `Awaiting deletion of bound volumeattachments (${names.slice(0, mostNamed).join(', ')}${rest})`;
  return { type: 'Normal', reason: 'AwaitingVolumeDetachment', message };
}

function terminate({ node, claim, instance }: TerminationSnapshot, _now: number): Step {
  const providerID = claim?.status?.providerID ?? node.spec.providerID ?? '';
  const isGone = instance === 'gone' || providerID === '';
  return {
    done: isGone,
    actions: isGone ? [] : [{ do: 'terminateInstance', object: node, providerID }],
    condition: { type: 'InstanceTerminating', status: 'True' },
    code: 'InstanceTerminating',
    text: 'the cloud ends the instance',
    pollMs: terminationPollMs,
  };
}
