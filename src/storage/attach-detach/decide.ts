/** One volume on one node: should it be attached, is it, and what is to be done about the difference? */
import type { VolumeAttachment } from '../../api/generated/types.ts';
import type { EventDraft, RecordEvent } from '../../client/decision.ts';
import { stay } from '../volumes/decision.ts';
import type { AttachDetachAction, AttachDetachDecision, AttachDetachReason } from './actions.ts';
import { attachFailed, attachSucceeded, goingAway, noAnswer, waitingForDetach } from './messages.ts';
import { type AttachDetachSnapshot, type AttachmentState, type CompetingAttachment, type DesiredAttachment, eventKey } from './snapshot.ts';

/** An attach without an answer counts as under way for so long, and then as failed. It goes on all the same. */
const answerWithinMs = 120_000;
/** A volume that a dead node never unmounted is taken from it after so long. */
const unmountWithinMs = 360_000;
/** What still fails is said again: as often as Kubernetes' own repetitions get through in the long run. */
const repeatAfterMs = 300_000;

export function decide(snapshot: AttachDetachSnapshot, now: number): AttachDetachDecision {
  return isNeeded(snapshot) ? attach(snapshot, now) : detach(snapshot, now);
}

export const isNeeded = ({ attachRequired, users }: Pick<AttachDetachSnapshot, 'attachRequired' | 'users'>): boolean => attachRequired && users.length > 0;

function attach(snapshot: AttachDetachSnapshot, now: number): AttachDetachDecision {
  const { node, attachment, target, users } = snapshot;
  if (node.state === 'gone') return stay({ code: 'NodeGone', text: `node "${target.node}" is gone; it stays as it is for ${users.join(', ')}`, next: 'user' });
  if (!node.managed) return stay({ code: 'NodeNotManaged', text: `node "${target.node}" attaches its volumes itself`, next: 'node' });
  // It is not attached, whatever the node was told. What goes by somebody else's hand is left to end.
  const withdraw: readonly AttachDetachAction[] = node.listed ? [{ do: 'report-detached', evenIfInUse: true }] : [];
  switch (attachment.state) {
    case 'attached':
      return node.listed ? stay({ code: 'Attached', text: `attached, and node "${target.node}" knows`, next: 'node' }) : announce(snapshot, now);
    case 'none':
      return prefixed(withdraw, ask(snapshot, now));
    case 'attaching':
      return prefixed(withdraw, awaitAnswer(snapshot, attachment.since, now));
    case 'failed':
      return prefixed(withdraw, fail(snapshot, { message: attachment.message, attempt: attachment.at }, now));
    case 'detaching':
      return awaitDetach(snapshot, attachment, now);
  }
}

/** The attachment is there: the node may mount the volume, and the pods are told. */
function announce(snapshot: AttachDetachSnapshot, now: number): AttachDetachDecision {
  const recorded = recordForAll(snapshot, now, {
    state: 'attached',
    event: ({ volume }) => ({ type: 'Normal', reason: 'SuccessfulAttachVolume', message: attachSucceeded(volume.metadata.name ?? '') }),
  });
  const why: AttachDetachReason = { code: 'Attached', text: `attached; node "${snapshot.target.node}" is told`, next: 'attach-detach' };
  return { actions: [{ do: 'confirm-attached' }, { do: 'report-attached' }, ...recorded.actions], reasons: [why] };
}

function ask(snapshot: AttachDetachSnapshot, now: number): AttachDetachDecision {
  const { target, desiredBy, competitors, users } = snapshot;
  const [want] = desiredBy;
  if (want === undefined) return stay({ code: 'ClaimNotBound', text: `no claim of ${users.join(', ')} is bound to it`, next: 'user' });
  const inTheWay = competitors.filter(({ attachment }) => excludes(attachment, now));
  if (inTheWay.length > 0) return awaitCompetitors(snapshot, inTheWay, now);
  const why: AttachDetachReason = {
    code: 'Attaching',
    text: `pod ${want.pod.metadata.name ?? ''} needs it on node "${target.node}"`,
    next: 'external attacher',
  };
  return { actions: [{ do: 'create-attachment', object: newAttachment(snapshot, want) }], reasons: [why] };
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

/** One that failed, or never got an answer, excludes nobody: the driver knows whether the volume is really there. */
function excludes(attachment: AttachmentState, now: number): boolean {
  return attachment.state === 'attached' || attachment.state === 'detaching' || isUnderWay(attachment, now);
}

const isUnderWay = (attachment: AttachmentState, now: number): boolean => attachment.state === 'attaching' && now < attachment.since + answerWithinMs;

/** Another node has the volume. Its pods are named, unless it is leaving or arriving there this very moment. */
function awaitCompetitors(snapshot: AttachDetachSnapshot, inTheWay: readonly CompetingAttachment[], now: number): AttachDetachDecision {
  const nodes = inTheWay.map(({ node }) => `"${node}"`).join(', ');
  const why: AttachDetachReason = { code: 'AttachedElsewhere', text: `it can be attached to one node only, and is to ${nodes}`, next: 'user' };
  const isPassing = inTheWay.some(({ attachment }) => attachment.state !== 'attached');
  const isHeld = inTheWay.some(({ pods, inUse }) => pods.length > 0 || inUse);
  const again = Math.min(...inTheWay.map(({ attachment }) => (attachment.state === 'attaching' ? attachment.since + answerWithinMs : Infinity)));
  if (isPassing || !isHeld) return { actions: [], reasons: [why], ...(again === Infinity ? {} : { again }) };
  const recorded = recordForAll(snapshot, now, {
    state: 'waiting for detach',
    event: ({ pod, volume }) => ({ type: 'Warning', reason: 'FailedAttachVolume', message: waitingForDetach(volume.metadata.name ?? '', pod, inTheWay) }),
  });
  return { actions: recorded.actions, reasons: [why] };
}

function awaitAnswer(snapshot: AttachDetachSnapshot, since: number, now: number): AttachDetachDecision {
  const { driver, handle } = snapshot.target;
  const deadline = since + answerWithinMs;
  if (now >= deadline) return fail(snapshot, { message: noAnswer(driver, handle), attempt: '' }, now);
  const why: AttachDetachReason = { code: 'Attaching', text: `the attacher of driver "${driver}" has been asked`, next: 'external attacher', by: deadline };
  return { actions: [], reasons: [why], again: deadline };
}

/** Whoever attaches tries again by itself. */
function fail(snapshot: AttachDetachSnapshot, { message, attempt }: { readonly message: string; readonly attempt: string }, now: number): AttachDetachDecision {
  const recorded = recordForAll(snapshot, now, {
    state: `failed ${attempt} ${message}`,
    event: ({ volume }) => ({ type: 'Warning', reason: 'FailedAttachVolume', message: attachFailed(volume.metadata.name ?? '', message) }),
    repeat: true,
  });
  const why: AttachDetachReason = { code: 'AttachFailed', text: `it could not be attached: ${message}`, next: 'external attacher' };
  return { ...recorded, reasons: [why] };
}

/** It is needed again before it was gone, or somebody deleted the attachment: first it goes, then there will be another. */
function awaitDetach(snapshot: AttachDetachSnapshot, attachment: AttachmentState & { readonly state: 'detaching' }, now: number): AttachDetachDecision {
  if (!attachment.wasAttached) return fail(snapshot, { message: goingAway, attempt: '' }, now);
  return stay(detaching(attachment));
}

function detach(snapshot: AttachDetachSnapshot, now: number): AttachDetachDecision {
  const { attachment, node, target } = snapshot;
  const isListed = node.state === 'known' && node.listed;
  if (attachment.state === 'none' && !isListed)
    return stay({ code: 'Detached', text: `nobody on node "${target.node}" needs it, and it is not there`, next: 'none' });
  if (attachment.state === 'attaching' && isUnderWay(attachment, now)) {
    // Whoever attaches may be half-way through: its answer decides what there is to detach.
    const by = attachment.since + answerWithinMs;
    return {
      ...stay<AttachDetachReason>({ code: 'AttachUnderWay', text: 'nobody needs it any more; its attachment is under way', next: 'external attacher', by }),
      again: by,
    };
  }
  const hold = holdOf(snapshot, now);
  if (hold.type === 'held') return hold.decision;
  const isForced = hold.type === 'forced';
  const withdraw: readonly AttachDetachAction[] = isListed ? [{ do: 'report-detached', evenIfInUse: isForced }] : [];
  if (attachment.state === 'none')
    return { actions: withdraw, reasons: [{ code: 'Detached', text: 'the node is told that it is gone', next: 'attach-detach' }] };
  if (attachment.state === 'detaching') return { actions: withdraw, reasons: [detaching(attachment)] };
  // What the node says is checked by the write that takes the volume off its list; if there is none, it is asked for.
  const confirm: readonly AttachDetachAction[] = isListed || isForced || node.state === 'gone' ? [] : [{ do: 'confirm-unused' }];
  return { actions: [...withdraw, ...confirm, { do: 'delete-attachment', object: attachment.object }], reasons: [hold.why] };
}

type Hold =
  | { readonly type: 'held'; readonly decision: AttachDetachDecision }
  /** The node may have it mounted, and cannot be asked. */
  | { readonly type: 'forced' | 'free'; readonly why: AttachDetachReason };

/** A node that has the volume mounted, or may have for all we know, keeps it; unless there is evidence that it is dead. */
function holdOf({ node, attachment, target, unwantedSince = Infinity }: AttachDetachSnapshot, now: number): Hold {
  const name = `node "${target.node}"`;
  if (node.state === 'known' && node.outOfService) {
    return { type: 'forced', why: { code: 'OutOfService', text: `${name} is out of service`, next: 'attach-detach' } };
  }
  const isSilent = node.state === 'known' && !node.heardSince && (attachment.state === 'failed' || attachment.state === 'attaching');
  const isMounted = node.state === 'known' ? node.inUse || isSilent : node.wasInUse;
  if (!isMounted) return { type: 'free', why: { code: 'Unused', text: `nobody on ${name} needs it`, next: 'external attacher' } };
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
  /** or if it was recorded long ago. */
  readonly repeat?: boolean;
}

function recordForAll(
  { desiredBy, lastEvent, target }: AttachDetachSnapshot,
  now: number,
  { state, event, repeat = false }: AttachEvent,
): { readonly actions: readonly RecordEvent[]; readonly again?: number } {
  const due = desiredBy.filter(({ pod }) => {
    const last = lastEvent(eventKey(pod, target));
    return last === undefined || last.state !== state || (repeat && last.at + repeatAfterMs <= now);
  });
  const actions = due.map(
    (desired): RecordEvent => ({ do: 'recordEvent', event: { about: desired.pod, ...event(desired) }, rememberAs: eventKey(desired.pod, target), state }),
  );
  if (!repeat || desiredBy.length === 0) return { actions };
  const times = desiredBy.map((desired) => (due.includes(desired) ? now : (lastEvent(eventKey(desired.pod, target))?.at ?? now)));
  return { actions, again: Math.min(...times) + repeatAfterMs };
}
