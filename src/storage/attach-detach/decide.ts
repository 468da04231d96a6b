/** One volume on one node: compares the desired state (attached or not) with the actual one, and decides the next actions. */
import type { VolumeAttachment } from '../../api/generated/types.ts';
import { type EventDraft, type RecordEvent, renewalOf } from '../../client/decision.ts';
import { stay } from '../volumes/decision.ts';
import type { AttachDetachAction, AttachDetachDecision, AttachDetachReason } from './actions.ts';
import { attachFailed, attachSucceeded, goingAway, noAnswer, waitingForDetach } from './messages.ts';
import { type AttachDetachSnapshot, type AttachmentState, type CompetingAttachment, type DesiredAttachment, eventKey } from './snapshot.ts';

/** An attach without an answer counts as under way for so long, and then as failed. The CSI attacher goes on all the same. */
const answerWithinMs = 120_000;
/** A volume that a node which is not ready never unmounted is detached after so long, as with Kubernetes' maxWaitForUnmountDuration. */
const unmountWithinMs = 360_000;

export function decide(snapshot: AttachDetachSnapshot, now: number): AttachDetachDecision {
  return isNeeded(snapshot) ? attach(snapshot, now) : detach(snapshot, now);
}

export const isNeeded = ({ attachRequired, users }: Pick<AttachDetachSnapshot, 'attachRequired' | 'users'>): boolean => attachRequired && users.length > 0;

function attach(snapshot: AttachDetachSnapshot, now: number): AttachDetachDecision {
  const { node, attachment, target, users } = snapshot;
  if (node.state === 'gone') return stay({ code: 'NodeGone', text: `node "${target.node}" is gone; it stays as it is for ${users.join(', ')}`, next: 'user' });
  if (!node.managed) return stay({ code: 'NodeNotManaged', text: `node "${target.node}" attaches its volumes itself`, next: 'node' });
  // The volume is not attached, whatever the node's status lists. A detach that is under way is left to end.
  const unlist: readonly AttachDetachAction[] = node.listed ? [{ do: 'report-detached', evenIfInUse: true }] : [];
  switch (attachment.state) {
    case 'attached':
      return node.listed
        ? stay({ code: 'Attached', text: `attached, and listed in the status of node "${target.node}"`, next: 'node' })
        : announce(snapshot, now);
    case 'none':
      return prefixed(unlist, ask(snapshot, now));
    case 'attaching':
      return prefixed(unlist, awaitAnswer(snapshot, attachment.since, now));
    case 'failed':
      return prefixed(unlist, fail(snapshot, { message: attachment.message, attempt: attachment.at }, now));
    case 'detaching':
      return awaitDetach(snapshot, attachment, now);
  }
}

/** The volume is attached: the node may mount it, and the pods get an event. */
function announce(snapshot: AttachDetachSnapshot, now: number): AttachDetachDecision {
  const recorded = recordForAll(snapshot, now, {
    state: 'attached',
    event: ({ volume }) => ({ type: 'Normal', reason: 'SuccessfulAttachVolume', message: attachSucceeded(volume.metadata.name ?? '') }),
  });
  const why: AttachDetachReason = { code: 'Attached', text: `attached; the status of node "${snapshot.target.node}" is updated`, next: 'attach-detach' };
  return { actions: [{ do: 'confirm-attached' }, { do: 'report-attached' }, ...recorded.actions], reasons: [why] };
}

function ask(snapshot: AttachDetachSnapshot, now: number): AttachDetachDecision {
  const { target, desiredBy, competitors, users } = snapshot;
  const [first] = desiredBy;
  if (first === undefined) return stay({ code: 'ClaimNotBound', text: `no claim of ${users.join(', ')} is bound to it`, next: 'user' });
  const blocking = competitors.filter(({ attachment }) => excludes(attachment, now));
  if (blocking.length > 0) return awaitCompetitors(snapshot, blocking, now);
  const why: AttachDetachReason = {
    code: 'Attaching',
    text: `pod ${first.pod.metadata.name ?? ''} needs it on node "${target.node}"`,
    next: 'external attacher',
  };
  return { actions: [{ do: 'create-attachment', object: newAttachment(snapshot, first) }], reasons: [why] };
}

function newAttachment({ target }: AttachDetachSnapshot, { volume, isInline }: DesiredAttachment): VolumeAttachment {
  const source = isInline === true ? { inlineVolumeSpec: volume.spec } : { persistentVolumeName: volume.metadata.name ?? '' };
  return {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'VolumeAttachment',
    metadata: { name: target.id },
    spec: { attacher: target.driver, source, nodeName: target.node },
    status: { attached: false },
  };
}

/** An attachment that failed, or never got an answer, excludes no other: the driver knows whether the volume is really attached. */
function excludes(attachment: AttachmentState, now: number): boolean {
  return attachment.state === 'attached' || attachment.state === 'detaching' || isUnderWay(attachment, now);
}

const isUnderWay = (attachment: AttachmentState, now: number): boolean => attachment.state === 'attaching' && now < attachment.since + answerWithinMs;

/** Another node has the volume. The event names its pods, unless the volume is being attached or detached there right now. */
function awaitCompetitors(snapshot: AttachDetachSnapshot, blocking: readonly CompetingAttachment[], now: number): AttachDetachDecision {
  const nodes = blocking.map(({ node }) => `"${node}"`).join(', ');
  const why: AttachDetachReason = { code: 'AttachedElsewhere', text: `it can be attached to one node only, and is to ${nodes}`, next: 'user' };
  const isPassing = blocking.some(({ attachment }) => attachment.state !== 'attached');
  const isHeld = blocking.some(({ pods, inUse }) => pods.length > 0 || inUse);
  const again = Math.min(...blocking.map(({ attachment }) => (attachment.state === 'attaching' ? attachment.since + answerWithinMs : Infinity)));
  if (isPassing || !isHeld) return { actions: [], reasons: [why], ...(again === Infinity ? {} : { again }) };
  const recorded = recordForAll(snapshot, now, {
    state: 'waiting for detach',
    event: ({ pod, volume }) => ({ type: 'Warning', reason: 'FailedAttachVolume', message: waitingForDetach(volume.metadata.name ?? '', pod, blocking) }),
    repeat: true,
  });
  return { ...recorded, reasons: [why] };
}

function awaitAnswer(snapshot: AttachDetachSnapshot, since: number, now: number): AttachDetachDecision {
  const { driver, handle } = snapshot.target;
  const deadline = since + answerWithinMs;
  if (now >= deadline) return fail(snapshot, { message: noAnswer(driver, handle), attempt: '' }, now);
  const why: AttachDetachReason = { code: 'Attaching', text: `the attacher of driver "${driver}" has been asked`, next: 'external attacher', by: deadline };
  return { actions: [], reasons: [why], again: deadline };
}

/** The CSI attacher tries again by itself. */
function fail(snapshot: AttachDetachSnapshot, { message, attempt }: { readonly message: string; readonly attempt: string }, now: number): AttachDetachDecision {
  const recorded = recordForAll(snapshot, now, {
    state: `failed ${attempt} ${message}`,
    event: ({ volume }) => ({ type: 'Warning', reason: 'FailedAttachVolume', message: attachFailed(volume.metadata.name ?? '', message) }),
    repeat: true,
  });
  const why: AttachDetachReason = { code: 'AttachFailed', text: `it could not be attached: ${message}`, next: 'external attacher' };
  return { ...recorded, reasons: [why] };
}

/** The volume is needed again before it was detached, or a user deleted the attachment: a new one is created once the old one is gone. */
function awaitDetach(snapshot: AttachDetachSnapshot, attachment: AttachmentState & { readonly state: 'detaching' }, now: number): AttachDetachDecision {
  if (!attachment.wasAttached) return fail(snapshot, { message: goingAway, attempt: '' }, now);
  return stay(detaching(attachment));
}

function detach(snapshot: AttachDetachSnapshot, now: number): AttachDetachDecision {
  const { attachment, node, target } = snapshot;
  const isListed = node.state === 'known' && node.listed;
  if (attachment.state === 'none' && !isListed)
    return stay({ code: 'Detached', text: `no pod on node "${target.node}" needs it, and it is not attached`, next: 'none' });
  if (attachment.state === 'attaching' && isUnderWay(attachment, now)) {
    // The CSI attacher may be half-way through: its answer decides what there is to detach.
    const by = attachment.since + answerWithinMs;
    return {
      ...stay<AttachDetachReason>({ code: 'AttachUnderWay', text: 'no pod needs it any more; its attachment is under way', next: 'external attacher', by }),
      again: by,
    };
  }
  const hold = holdOf(snapshot, now);
  if (hold.type === 'held') return hold.decision;
  const isForced = hold.type === 'forced';
  const unlist: readonly AttachDetachAction[] = isListed ? [{ do: 'report-detached', evenIfInUse: isForced }] : [];
  if (attachment.state === 'none')
    return { actions: unlist, reasons: [{ code: 'Detached', text: 'the node status no longer lists it', next: 'attach-detach' }] };
  if (attachment.state === 'detaching') return { actions: unlist, reasons: [detaching(attachment)] };
  // The write that takes the volume off the node's list checks volumesInUse. Without such a write, the server is asked.
  const confirm: readonly AttachDetachAction[] = isListed || isForced || node.state === 'gone' ? [] : [{ do: 'confirm-unused' }];
  return { actions: [...unlist, ...confirm, { do: 'delete-attachment', object: attachment.object }], reasons: [hold.why] };
}

type Hold =
  | { readonly type: 'held'; readonly decision: AttachDetachDecision }
  /** `forced`: the node may have it mounted, and does not answer. */
  | { readonly type: 'forced' | 'free'; readonly why: AttachDetachReason };

/** A node that has the volume mounted, or may have, keeps it, unless there is evidence that the node is dead. */
function holdOf({ node, attachment, target, unwantedSince = Infinity }: AttachDetachSnapshot, now: number): Hold {
  const name = `node "${target.node}"`;
  if (node.state === 'known' && node.outOfService) {
    return { type: 'forced', why: { code: 'OutOfService', text: `${name} is out of service`, next: 'attach-detach' } };
  }
  const isSilent = node.state === 'known' && !node.heardSince && (attachment.state === 'failed' || attachment.state === 'attaching');
  const isMounted = node.state === 'known' ? node.inUse || isSilent : node.wasInUse;
  if (!isMounted) return { type: 'free', why: { code: 'Unused', text: `no pod on ${name} needs it`, next: 'external attacher' } };
  const isReady = node.state === 'known' && node.ready;
  const deadline = unwantedSince + unmountWithinMs;
  if (!isReady && now >= deadline) {
    return { type: 'forced', why: { code: 'NodeDead', text: `${name} is not ready and has not unmounted it for six minutes`, next: 'external attacher' } };
  }
  const text = isSilent ? `${name} has not been heard of since the attach failed` : `${name} still has it mounted`;
  const reason: AttachDetachReason = { code: 'InUse', text, next: 'node' };
  return {
    type: 'held',
    decision: isReady || deadline === Infinity ? stay(reason) : { ...stay<AttachDetachReason>({ ...reason, by: deadline }), again: deadline },
  };
}

function detaching({ object, problem }: AttachmentState & { readonly state: 'detaching' }): AttachDetachReason {
  const trouble = problem === undefined ? '' : `; the last try failed: ${problem}`;
  return { code: 'Detaching', text: `driver "${object.spec.attacher}" is detaching it${trouble}`, next: 'external attacher' };
}

const prefixed = (first: readonly AttachDetachAction[], rest: AttachDetachDecision): AttachDetachDecision =>
  first.length === 0 ? rest : { ...rest, actions: [...first, ...rest.actions] };

interface AttachEvent {
  /** Recorded again only if another state was recorded in between, */
  readonly state: string;
  readonly event: (desired: DesiredAttachment) => EventDraft;
  /** or, while the state holds, at growing intervals. */
  readonly repeat?: boolean;
}

function recordForAll(
  { desiredBy, lastEvent, target }: AttachDetachSnapshot,
  now: number,
  { state, event, repeat = false }: AttachEvent,
): { readonly actions: readonly RecordEvent[]; readonly again?: number } {
  const due = desiredBy.filter(({ pod }) => {
    const last = lastEvent(eventKey(pod, target));
    return last === undefined || last.state !== state || (repeat && renewalOf(last) <= now);
  });
  const actions = due.map(
    (desired): RecordEvent => ({ do: 'recordEvent', event: { about: desired.pod, ...event(desired) }, rememberAs: eventKey(desired.pod, target), state }),
  );
  if (!repeat || desiredBy.length === 0) return { actions };
  const renewals = desiredBy.map((desired) => {
    const { reason, message } = event(desired);
    const last = lastEvent(eventKey(desired.pod, target));
    const isSame = last !== undefined && last.state === state;
    if (isSame && !due.includes(desired)) return renewalOf(last);
    return renewalOf({ reason, message, at: now, since: isSame ? (last.since ?? last.at) : now });
  });
  return { actions, again: Math.min(...renewals) };
}
