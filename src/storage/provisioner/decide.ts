/**
 * Volumes for claims without a match: annotates the claim for an external provisioner, or has a driver in this process create the
 * volume. Every asset of a driver becomes a PersistentVolume, even if its claim is gone by then: the claimRef names that claim,
 * so the volume is released and reclaimed like any other, and nothing leaks.
 */
import type { PersistentVolumeClaim } from '../../api/generated/types.ts';
import { annotations, finalizers } from '../../api/volumes/annotations.ts';
import type { Claim } from '../volumes/claim.ts';
import { type Decision, type LastEvent, type ObjectEvent, recordIfChanged, recordOnce, update } from '../../client/decision.ts';
import { showDataSource } from '../volumes/data-source.ts';
import type { VolumeReason } from '../volumes/decision.ts';
import { sortedJson } from '../../api/sorted-json.ts';
import { withAnnotations, withFinalizers } from '../volumes/edits.ts';
import { type CreateRequest, newIntent, volumeNameOf, waitsUntil } from '../../api/volumes/intent.ts';
import { isInTree, csiDriverOf } from '../../api/volumes/csi-migration.ts';
import { type CreateIntent, type ProvisionerAction, provisionedName, provisionedVolume } from './actions.ts';
import { messages } from './messages.ts';
import { type ProvisioningNeed, provisioningNeedOf, type ProvisioningSnapshot } from './provisioning-need.ts';
import { heldSnapshot } from './snapshot-source.ts';

export interface ProvisionerSnapshot extends ProvisioningSnapshot {
  readonly lastEvent: LastEvent;
  /** A volume is created and bound to its claim in one write. */
  readonly bindsTogether?: boolean;
}

/** The claim of one name, if it exists, and the intents for it and for earlier claims of that name. */
export interface ProvisionerSubject {
  readonly claim: Claim | undefined;
  readonly intents: readonly CreateIntent[];
  readonly snapshot: ProvisionerSnapshot;
  /** A clone of the claim's volume is wanted or being made. */
  readonly isCloned?: boolean;
  /** A driver is being asked for the intent's volume. */
  readonly isAsked?: (intent: CreateIntent) => boolean;
}

export interface ProvisionerReason extends VolumeReason {
  readonly volume?: string;
  readonly provisioner?: string;
}

export type ProvisionerDecision = Decision<ProvisionerAction, ProvisionerReason>;

export function decide({ claim, intents, snapshot, isCloned = false, isAsked = () => false }: ProvisionerSubject, now: number): ProvisionerDecision {
  if (claim !== undefined && !isCloned && isLeftGuarded(claim.object)) {
    return {
      actions: update(claim.object, unguarded(claim.object)),
      reasons: [{ code: 'NothingToProvision', text: 'no clone of it is being made', next: 'none' }],
    };
  }
  const parts = intents.map((intent) => {
    const pursuit = { claim: claim?.uid === intent.spec.claimRef.uid ? claim : undefined, snapshot, now };
    return isAsked(intent) ? waitForAnswer(intent, pursuit) : continueIntent(intent, pursuit);
  });
  const isBegun = intents.some((intent) => intent.spec.claimRef.uid === claim?.uid);
  return mergeDecisions(claim === undefined || isBegun ? parts : [...parts, begin(claim, snapshot, now)]);
}

function mergeDecisions(parts: readonly ProvisionerDecision[]): ProvisionerDecision {
  const [only] = parts;
  if (only !== undefined && parts.length === 1) return only;
  const times = parts.flatMap(({ again }) => again ?? []);
  return {
    actions: parts.flatMap(({ actions }) => actions),
    reasons: parts.flatMap(({ reasons }) => reasons),
    ...(times.length === 0 ? {} : { again: Math.min(...times) }),
  };
}

/** There is no intent for this claim. */
function begin(claim: Claim, snapshot: ProvisionerSnapshot, now: number): ProvisionerDecision {
  const annealed = withMigratedTo(claim);
  if (annealed !== claim.object) return { actions: update(claim.object, annealed), reasons: [] };
  const need = provisioningNeedOf(claim, snapshot);
  switch (need.type) {
    case 'nothing':
      return { actions: [], reasons: [{ code: 'NothingToProvision', text: need.because, next: need.fits === undefined ? 'none' : 'binder' }] };
    case 'external':
      return waitForExternal(claim, need.provisioner, { snapshot, now });
    case 'populated':
      return waitForPopulator(claim, need, { snapshot, now });
    case 'refused':
      return refuse(claim, need, { snapshot, now });
    case 'make':
      return provision(claim, need, { snapshot, now });
  }
}

interface SnapshotAt {
  readonly snapshot: ProvisionerSnapshot;
  readonly now: number;
}

function waitForExternal(claim: Claim, provisioner: string, { snapshot, now }: SnapshotAt): ProvisionerDecision {
  const message = messages.externalProvisioning(provisioner);
  const recorded = recordIfChanged({ about: claim.object, type: 'Normal', reason: 'ExternalProvisioning', message }, snapshot.lastEvent(claim.uid), now);
  return {
    actions: [...update(claim.object, markedFor(claim, provisioner)), ...recorded.actions],
    reasons: [{ code: 'ExternalProvisioning', text: message, next: 'external provisioner', provisioner }],
    again: recorded.again,
  };
}

/** external-provisioner leaves such a claim alone: a volume populator makes a volume of its own, fills it, and binds it by its claimRef. */
function waitForPopulator(
  claim: Claim,
  { provisioner, source }: Extract<ProvisioningNeed, { type: 'populated' }>,
  { snapshot, now }: SnapshotAt,
): ProvisionerDecision {
  const event: ObjectEvent = { about: claim.object, type: 'Normal', reason: 'Provisioning', message: messages.populated };
  const recorded = recordIfChanged(event, snapshot.lastEvent(claim.uid), now);
  const text = `the volume populator of kind ${source.kind} of group ${source.group} has to fill a volume for it: ${showDataSource(source)}`;
  return {
    actions: [...update(claim.object, markedFor(claim, provisioner)), ...recorded.actions],
    reasons: [{ code: 'ExternalPopulator', text, next: 'volume populator', provisioner }],
    again: recorded.again,
  };
}

function refuse(
  claim: Claim,
  { message, provisioner, reschedule }: Extract<ProvisioningNeed, { type: 'refused' }>,
  { snapshot, now }: SnapshotAt,
): ProvisionerDecision {
  const marked = provisioner === undefined ? claim.object : markedFor(claim, provisioner);
  const event: ObjectEvent = { about: claim.object, type: 'Warning', reason: 'ProvisioningFailed', message };
  const reasons: readonly ProvisionerReason[] = [{ code: 'ProvisioningFailed', text: message, next: 'administrator' }];
  if (reschedule === true) return { actions: [...update(claim.object, withoutNode(marked)), recordOnce(event)], reasons };
  const recorded = recordIfChanged(event, snapshot.lastEvent(claim.uid), now);
  return { actions: [...update(claim.object, marked), ...recorded.actions], reasons, again: recorded.again };
}

function provision(
  claim: Claim,
  { driver, provisioner, request, restored, sourceClaim }: Extract<ProvisioningNeed, { type: 'make' }>,
  { snapshot, now }: SnapshotAt,
): ProvisionerDecision {
  const guarded = sourceClaim === undefined ? [] : update(sourceClaim.object, guardedForCloning(sourceClaim.object));
  if (guarded.length > 0) {
    return { actions: guarded, reasons: [{ code: 'Provisioning', text: 'the claim that it clones is protected first', next: 'provisioner', provisioner }] };
  }
  const { namespace, name, uid } = claim;
  const { resourceVersion } = claim.object.metadata;
  const claimRef = { namespace, name, uid, ...(resourceVersion === undefined ? {} : { resourceVersion }) };
  const intent = newIntent(provisionedName(claim), { operation: 'Create', driver: driver.name, claimRef, request });
  const marked = isInTree(provisioner) ? update(claim.object, markedFor(claim, provisioner)) : waitForExternal(claim, provisioner, { snapshot, now }).actions;
  const isMarkedLater = snapshot.bindsTogether === true && driver.csi !== undefined && driver.name === provisioner;
  return {
    actions: [
      ...(isMarkedLater ? [] : marked),
      // Before the intent: from here on the snapshot cannot be deleted.
      ...(restored === undefined ? [] : update(restored, heldSnapshot(restored))),
      { do: 'create', object: intent },
    ],
    reasons: [{ code: 'Provisioning', text: `volume "${volumeNameOf(intent)}" is being made`, next: 'driver', volume: volumeNameOf(intent), provisioner }],
  };
}

interface IntentProgress extends SnapshotAt {
  /** The claim for which the intent was written, if it still exists. */
  readonly claim: Claim | undefined;
}

const progress = (intent: CreateIntent, text: string): ProvisionerReason[] => [
  { code: 'Provisioning', text, next: 'driver', volume: volumeNameOf(intent), provisioner: intent.spec.driver },
];

/**
 * Nothing is decided before the driver's answer is written down: without the intent, what it may be making would have no owner. Most volumes are there
 * at once, and their claims are marked for the provisioner by the write that binds them; of the others, users are told meanwhile.
 */
function waitForAnswer(intent: CreateIntent, { claim, snapshot, now }: IntentProgress): ProvisionerDecision {
  const reasons = progress(intent, 'the driver is asked to make it');
  if (claim === undefined || isInTree(claim.provisioner ?? intent.spec.driver)) return { actions: [], reasons };
  const patience = (Date.parse(intent.metadata.creationTimestamp ?? '') || 0) + slowAnswerMs - now;
  // A longer wait means that the clocks disagree.
  if (patience > 0 && patience <= slowAnswerMs) return { actions: [], reasons, again: now + patience };
  const { actions, again } = waitForExternal(claim, claim.provisioner ?? intent.spec.driver, { snapshot, now });
  return { actions, reasons, ...(again === undefined ? {} : { again }) };
}

const slowAnswerMs = 2000;

/** The claim of an intent, marked for its provisioner, if that was left to the write that binds it. */
const marking = (claim: Claim | undefined, { spec }: CreateIntent): readonly ProvisionerAction[] =>
  claim === undefined || claim.provisioner !== undefined || isInTree(spec.driver) ? [] : update(claim.object, markedFor(claim, spec.driver));

/** An intent is always finished, with or without its claim, unless the driver certainly created nothing. */
function continueIntent(intent: CreateIntent, pursuit: IntentProgress): ProvisionerDecision {
  if (isPublished(intent, pursuit.snapshot)) return finish(intent, pursuit.claim);
  const { phase, asset, message } = intent.status;
  const why = (text: string) => progress(intent, text);
  if (phase === 'Failing') return retry(intent, pursuit);
  // With the message of an earlier attempt, the driver is being asked again.
  if (asset === undefined)
    return { actions: [{ do: 'createAsset', intent }], reasons: message === undefined ? why('the driver is asked to make it') : [failure(intent)] };
  if (phase !== 'Refused')
    return { actions: [{ do: 'publishVolume', intent, volume: provisionedVolume(intent, asset) }], reasons: why('it was made, and becomes known') };
  const wait = waitsUntil(intent, pursuit.now, pursuit.snapshot.driver(intent.spec.driver)?.csi?.answersSince);
  const reasons = why(`the API refused it, and it is deleted again: ${intent.status.message ?? ''}`);
  return wait === undefined ? { actions: [{ do: 'deleteAsset', intent, asset }], reasons } : { actions: [], reasons, again: wait };
}

/** A volume of this name may be another one. The intent's own may have lost its claimRef: the binder removes it if the claim got another volume. */
function isPublished(intent: CreateIntent, snapshot: ProvisionerSnapshot): boolean {
  const volume = snapshot.volume(volumeNameOf(intent));
  if (volume?.claim?.uid === intent.spec.claimRef.uid) return true;
  return volume !== undefined && volume.provisionedBy === intent.spec.driver && intent.status.asset !== undefined;
}

function finish(intent: CreateIntent, claim: Claim | undefined): ProvisionerDecision {
  const name = volumeNameOf(intent);
  const text = messages.succeeded(name, intent.spec.driver);
  return {
    actions: [...marking(claim, intent), ...(claim === undefined ? [] : [recordOnce(succeeded(intent, claim))]), { do: 'delete', object: intent }],
    reasons: [{ code: 'ProvisioningSucceeded', text, next: 'binder', volume: name }],
  };
}

export const succeeded = (intent: CreateIntent, { object: about }: Claim): ObjectEvent => ({
  about,
  type: 'Normal',
  reason: 'ProvisioningSucceeded',
  message: messages.succeeded(volumeNameOf(intent), intent.spec.driver),
});

const failure = (intent: CreateIntent): ProvisionerReason => ({
  code: 'ProvisioningFailed',
  text: intent.status.message ?? '',
  next: 'driver',
  volume: volumeNameOf(intent),
  provisioner: intent.spec.driver,
});

/** The driver failed. If the scheduler selected a node, it selects again; otherwise the same request is tried for ever. */
function retry(intent: CreateIntent, { claim, snapshot, now }: IntentProgress): ProvisionerDecision {
  const { final = false } = intent.status;
  const reasons = [failure(intent)];
  // Only in this version: a process that was the leader a moment ago may have asked the driver again.
  const drop = { do: 'delete', object: intent, ifUnchanged: true } as const;
  if (final && (claim === undefined || !stillNeeds(claim, intent, snapshot))) return { actions: [drop], reasons };
  if (final && claim?.selectedNode !== undefined && intent.status.reschedule !== false) {
    return { actions: [...update(claim.object, withoutNode(claim.object)), drop], reasons };
  }
  const wait = waitsUntil(intent, now, snapshot.driver(intent.spec.driver)?.csi?.answersSince);
  const marked = marking(claim, intent);
  return wait === undefined ? { actions: [...marked, { do: 'createAsset', intent }], reasons } : { actions: marked, reasons, again: wait };
}

function stillNeeds(claim: Claim, intent: CreateIntent, snapshot: ProvisionerSnapshot): boolean {
  const need = provisioningNeedOf(claim, snapshot);
  return need.type === 'make' && need.driver.name === intent.spec.driver && sameRequest(need.request, intent.spec.request);
}

/** Both come from the same function, or from the server unchanged. */
const sameRequest = (a: CreateRequest, b: CreateRequest): boolean => sortedJson(a) === sortedJson(b);

/** External provisioners read either annotation. */
export function markedFor(claim: Claim, provisioner: string): PersistentVolumeClaim {
  if (claim.provisioner === provisioner) return claim.object;
  return withAnnotations(claim.object, {
    [annotations.betaStorageProvisioner]: provisioner,
    [annotations.storageProvisioner]: provisioner,
    [annotations.migratedTo]: csiDriverOf(provisioner),
  });
}

const isGuarded = ({ metadata }: PersistentVolumeClaim): boolean => metadata.finalizers?.includes(finalizers.cloningProtection) ?? false;

/** Its volume must not be deleted while the driver copies it. */
const guardedForCloning = (claim: PersistentVolumeClaim): PersistentVolumeClaim =>
  isGuarded(claim) ? claim : withFinalizers(claim, [...(claim.metadata.finalizers ?? []), finalizers.cloningProtection]);

/** external-provisioner removes the finalizer once the claim is deleted. */
export const isLeftGuarded = (claim: PersistentVolumeClaim): boolean => claim.metadata.deletionTimestamp !== undefined && isGuarded(claim);

const unguarded = (claim: PersistentVolumeClaim): PersistentVolumeClaim =>
  withFinalizers(
    claim,
    (claim.metadata.finalizers ?? []).filter((name) => name !== finalizers.cloningProtection),
  );

const withoutNode = (claim: PersistentVolumeClaim): PersistentVolumeClaim => withAnnotations(claim, { [annotations.selectedNode]: undefined });

export const lacksMigratedTo = (claim: Claim): boolean => withMigratedTo(claim) !== claim.object;

/** A claim annotated with a migrated in-tree plugin has migrated-to as well, and only then. */
function withMigratedTo({ object, provisioner, betaProvisioner, migratedTo }: Claim): PersistentVolumeClaim {
  const marked = provisioner ?? betaProvisioner;
  if (marked === undefined) return object;
  const successor = csiDriverOf(marked);
  return (migratedTo ?? '') === (successor ?? '') ? object : withAnnotations(object, { [annotations.migratedTo]: successor });
}
