/** A NodeClaim from its creation to its end: launch, registration, initialization, liveness, termination (Karpenter's nodeclaim/lifecycle). */
import type { Node } from '../../api/generated/types.ts';
import type { NodeClaim } from '../../api/kinds/karpenter/node-claim.ts';
import { type LastEvent, type Reason, type RecordEvent, update, updateStatus } from '../../client/decision.ts';
import type { Launched, LaunchOutcome } from '../cloud-provider.ts';
import { annotations, terminationFinalizer } from '../labels.ts';
import { conditionOf, type ConditionDraft, durationMs, isTrue, timeText, withConditions } from '../node-claims.ts';
import type { LifecycleAction, LifecycleDecision } from './actions.ts';
import { initializationOf } from './initialization.ts';
import { isUnregisteredTaintMissing, registered } from './registration.ts';

export interface LifecycleSnapshot {
  readonly claim: NodeClaim;
  /** By the provider ID. */
  readonly node: Node | undefined;
  /** The cloud's last answer to a launch for this claim. */
  readonly launch: LaunchAnswer | undefined;
  /** `gone`: the cloud says so. */
  readonly instance: 'unknown' | 'terminating' | 'gone';
  readonly lastEvent: LastEvent;
}

export interface LaunchAnswer {
  readonly outcome: LaunchOutcome;
  readonly at: number;
}

const launchTimeoutMs = 5 * 60_000;
const registrationTimeoutMs = 15 * 60_000;
/** How often the cloud is asked whether an instance has ended. */
const terminationPollMs = 5_000;
const launchRetryMs = 10_000;

export function decideLifecycle(snapshot: LifecycleSnapshot, now: number): LifecycleDecision {
  const { claim } = snapshot;
  if (claim.metadata.deletionTimestamp !== undefined) return finalize(snapshot, now);
  if (!hasFinalizer(claim))
    return { actions: update(claim, withFinalizer(claim)), reasons: [{ code: 'New', text: 'the claim gets its finalizer before anything is launched' }] };
  if (!isTrue(claim, 'Launched')) return launch(snapshot, now);
  const afterRegistration = register(snapshot, now);
  if (afterRegistration !== undefined) return afterRegistration;
  return initialize(snapshot, now);
}

export const hasFinalizer = ({ metadata }: Pick<Node, 'metadata'>): boolean => metadata.finalizers?.includes(terminationFinalizer) ?? false;
const withFinalizer = <T extends Pick<Node, 'metadata'>>(object: T): T => ({
  ...object,
  metadata: { ...object.metadata, finalizers: [...(object.metadata.finalizers ?? []), terminationFinalizer] },
});
export const withoutFinalizer = <T extends Pick<Node, 'metadata'>>(object: T): T => ({
  ...object,
  metadata: { ...object.metadata, finalizers: (object.metadata.finalizers ?? []).filter((each) => each !== terminationFinalizer) },
});

function launch(snapshot: LifecycleSnapshot, now: number): LifecycleDecision {
  const { claim, launch: answer, lastEvent } = snapshot;
  const outcome = answer?.outcome;
  if (outcome?.type === 'launched') return launched(claim, outcome, now);
  if (now - createdAt(claim) > launchTimeoutMs) return giveUp(claim, { code: 'LaunchTimeout', text: 'the cloud launched no instance in five minutes' });
  if (answer === undefined || outcome === undefined) {
    const pending = withConditions(claim, [], now);
    const reasons = [{ code: 'Launching', text: 'the cloud is asked for an instance' }];
    return { actions: [...updateStatus(claim, pending), { do: 'launchInstance', object: claim }], reasons };
  }
  if (outcome.type === 'failed') return launchFailed(claim, { ...outcome, at: answer.at }, now);
  const reason = outcome.type === 'insufficientCapacity' ? 'InsufficientCapacityError' : 'NodeClassNotReady';
  const message = `NodeClaim ${claim.metadata.name ?? ''} event: ${truncated(outcome.message)}`;
  return giveUp(claim, { code: reason, text: outcome.message }, onceAbout(claim, { type: 'Warning', reason, message }, lastEvent));
}

function launched(claim: NodeClaim, { providerID, imageID, capacity, allocatable, labels }: Launched, now: number): LifecycleDecision {
  const labelled = { ...claim, metadata: { ...claim.metadata, labels: { ...labels, ...claim.metadata.labels } } };
  const detailed = { ...labelled, status: { ...claim.status, providerID, imageID, capacity, allocatable } };
  const actions = [...update(claim, labelled), ...updateStatus(labelled, withConditions(detailed, [{ type: 'Launched', status: 'True' }], now))];
  return { actions, reasons: [{ code: 'Launched', text: `the instance is ${providerID}` }] };
}

/** The refusal is written down, and the next attempt is made after a while. */
function launchFailed(
  claim: NodeClaim,
  { reason, message, at }: { readonly reason: string; readonly message: string; readonly at: number },
  now: number,
): LifecycleDecision {
  const failed = withConditions(claim, [{ type: 'Launched', status: 'Unknown', reason, message: truncated(message) }], now);
  const next = at + launchRetryMs;
  const actions: readonly LifecycleAction[] = [...updateStatus(claim, failed), ...(now < next ? [] : [{ do: 'launchInstance', object: claim } as const])];
  return { actions, reasons: [{ code: reason, text: message, next: 'the autoscaler asks the cloud again' }], again: Math.max(next, now + 1) };
}

const createdAt = ({ metadata }: NodeClaim): number => Date.parse(metadata.creationTimestamp ?? '');
const truncated = (text: string): string => (text.length < 300 ? text : `${text.slice(0, 300)}...`);

function giveUp(claim: NodeClaim, reason: Reason, told: readonly RecordEvent[] = []): LifecycleDecision {
  return { actions: [...told, { do: 'delete', object: claim }], reasons: [{ ...reason, next: 'the provisioner plans the pods again' }] };
}

function onceAbout(about: NodeClaim, event: Omit<RecordEvent['event'], 'about'>, lastEvent: LastEvent): readonly RecordEvent[] {
  const key = `${about.metadata.uid ?? ''}/${event.reason}`;
  return lastEvent(key)?.message === event.message ? [] : [{ do: 'recordEvent', event: { ...event, about }, rememberAs: key }];
}

/** Undefined: the node is registered. */
function register({ claim, node, lastEvent }: LifecycleSnapshot, now: number): LifecycleDecision | undefined {
  if (isTrue(claim, 'Registered')) return undefined;
  const launchedAt = Date.parse(conditionOf(claim, 'Launched')?.lastTransitionTime ?? '');
  const deadline = launchedAt + registrationTimeoutMs;
  if (node === undefined) {
    if (now > deadline) return giveUp(claim, { code: 'RegistrationTimeout', text: 'the node did not register in fifteen minutes' });
    const waiting: ConditionDraft = { type: 'Registered', status: 'Unknown', reason: 'NodeNotFound', message: 'Node not registered with cluster' };
    return {
      actions: updateStatus(claim, withConditions(claim, [waiting], now)),
      reasons: [{ code: 'NodeNotFound', text: 'the instance has not joined the cluster' }],
      again: deadline + 1,
    };
  }
  const missing: readonly RecordEvent[] = isUnregisteredTaintMissing(node)
    ? onceAbout(
        claim,
        {
          type: 'Warning',
          reason: 'UnregisteredTaintMissing',
          message: 'Missing karpenter.sh/unregistered taint which prevents registration related race conditions on Karpenter-managed nodes',
        },
        lastEvent,
      )
    : [];
  const named = { ...claim, status: { ...claim.status, nodeName: node.metadata.name ?? '' } };
  return {
    actions: [
      ...missing,
      ...update(node, registered(claim, node)),
      ...updateStatus(claim, withConditions(named, [{ type: 'Registered', status: 'True' }], now)),
    ],
    reasons: [{ code: 'Registered', text: `the node is ${node.metadata.name ?? ''}` }],
  };
}

function initialize({ claim, node }: LifecycleSnapshot, now: number): LifecycleDecision {
  if (isTrue(claim, 'Initialized')) return { actions: [], reasons: [] };
  const { node: labelled, condition } = initializationOf(claim, node);
  const writes = node === undefined || labelled === undefined ? [] : update(node, labelled);
  return {
    actions: [...writes, ...updateStatus(claim, withConditions(claim, [condition], now))],
    reasons: [{ code: condition.reason ?? condition.type, text: condition.message ?? '' }],
  };
}

/** The Node goes first, which drains it; then the instance; then the claim. */
function finalize({ claim, node, instance }: LifecycleSnapshot, now: number): LifecycleDecision {
  if (!hasFinalizer(claim)) return { actions: [], reasons: [] };
  const dated = withTerminationTime(claim);
  if (dated !== claim) return { actions: update(claim, dated), reasons: [{ code: 'TerminationTime', text: 'the drain of the node has a deadline' }] };
  if (node !== undefined) {
    const isDeleted = node.metadata.deletionTimestamp !== undefined;
    return {
      actions: isDeleted ? [] : [{ do: 'delete', object: node }],
      reasons: [{ code: 'NodeExists', text: 'the node is drained first', next: 'the termination controller' }],
    };
  }
  if (claim.status?.providerID === undefined || instance === 'gone')
    return { actions: update(claim, withoutFinalizer(claim)), reasons: [{ code: 'Terminated', text: 'there is no instance any more' }] };
  const terminating = withConditions(claim, [{ type: 'InstanceTerminating', status: 'True' }], now);
  return {
    actions: [...updateStatus(claim, terminating), { do: 'terminateInstance', object: claim }],
    reasons: [{ code: 'InstanceTerminating', text: 'the cloud ends the instance' }],
    again: now + terminationPollMs,
  };
}

function withTerminationTime(claim: NodeClaim): NodeClaim {
  const grace = durationMs(claim.spec.terminationGracePeriod);
  const { deletionTimestamp, annotations: known } = claim.metadata;
  if (grace === undefined || deletionTimestamp === undefined || known?.[annotations.terminationTimestamp] !== undefined) return claim;
  const time = timeText(Date.parse(deletionTimestamp) + grace);
  return { ...claim, metadata: { ...claim.metadata, annotations: { ...known, [annotations.terminationTimestamp]: time } } };
}
