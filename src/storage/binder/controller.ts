import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from '../../api/generated/types.ts';
import { untypedKind } from '../../api/kind.ts';
import { persistentVolumeClaimKind } from '../../api/kinds/core/persistent-volume-claim.ts';
import { persistentVolumeKind } from '../../api/kinds/core/persistent-volume.ts';
import { storageClassKind } from '../../api/kinds/storage/storage-class.ts';
import { podKind } from '../../api/kinds/pod/pod.ts';
import { type Claim, takesAnyVolume } from '../volumes/claim.ts';
import { claimsOfPod, hasEnded } from '../volumes/pods.ts';
import { defaultClassOf, isDefaultClass, waitsForConsumer } from '../../api/volumes/storage-class.ts';
import type { VolumesView } from '../volumes/view.ts';
import type { Volume } from '../volumes/volume.ts';
import { type Change, type Index, keyOf } from '../../client/informers/cache.ts';
import type { Client, Result } from '../../client/client.ts';
import { confirmGone } from '../../client/controller/confirm.ts';
import type { Informers } from '../../client/informers/informers.ts';
import type { ObjectWrite } from '../../client/decision.ts';
import { defineController } from '../../client/controller/define-controller.ts';
import { type Controller, type Outcome, outcomeOf, type Source, source, Trigger } from '../../client/controller/loop.ts';
import type { RecordedEvents } from '../../client/events/event-dedup.ts';
import { ObjectWriter } from '../../client/controller/object-writer.ts';
import type { Log } from '../../world/world.ts';
import type { Bind, BinderAction } from './actions.ts';
import { areSettled, type BinderDecision, type BinderSnapshot, type BinderSubject, decide, podToSchedule } from './decide.ts';
import { actionStartLines, decisionLines, actionDoneLines, type LogLine, syncLine } from './log-messages.ts';
import { Offers } from './offers.ts';

export interface BinderOptions {
  readonly client: Client;
  readonly informers: Informers;
  /** Told of every change of volumes and claims before this controller is. */
  readonly view: VolumesView;
  readonly events: RecordedEvents;
  readonly log: Log;
  /** Rung for claims that found no volume: the provisioner looks at them next. */
  readonly provisionTrigger: Trigger<string>;
  /** Claims for which the provisioner found a volume. */
  readonly bindTrigger: Source<string>;
  /** Writes both objects in one transaction. Absent: the server cannot, and they are bound step by step. */
  readonly bindTogether?: (pair: Bind) => Promise<Result<unknown>>;
}

/** 'pv/<name>' or 'pvc/<namespace>/<name>' */
export type BinderKey = `pv/${string}` | `pvc/${string}`;

const volumeKey = (name: string): BinderKey => `pv/${name}`;
const claimKey = (key: string): BinderKey => `pvc/${key}`;

export function volumeBinder(options: BinderOptions): Controller<BinderKey, BinderSubject, BinderAction> {
  const binder = new VolumeBinder(options);
  const log = options.log.with({ controller: 'volume-binder' });
  const debug = (lines: () => readonly LogLine[]): void => {
    if (log.debugs) for (const { message, fields } of lines()) log.debug(message, fields);
  };
  const write = (action: VolumeOrClaimWrite, key: BinderKey): Promise<Outcome> => binder.write(action, key);
  const controller = defineController<BinderKey, BinderSubject, BinderAction>({
    name: 'volume-binder',
    parallelism: 64,
    sources: [
      binder.trigger,
      { subscribe: (informers, add) => options.bindTrigger.subscribe(informers, (key) => add(claimKey(key))) },
      source(persistentVolumeKind, (change) => binder.keysForVolumeChange(change)),
      source(persistentVolumeClaimKind, (change) => binder.keysForClaimChange(change)),
      source(storageClassKind, (change) => binder.keysForClassChange(change)),
      source(podKind, ({ before, after }) => new Set([before, after].flatMap((pod) => (pod === undefined ? [] : claimsOfPod(pod).map(claimKey))))),
    ],
    snapshot: (key) => binder.snapshot(key),
    decide,
    onDecision(subject, decision: BinderDecision) {
      debug(() => [syncLine(subject), ...decisionLines(subject, decision)]);
      binder.markInFlight(subject, decision.actions);
      if (subject.type === 'claim' && needsVolume(decision)) options.provisionTrigger.fire(subject.claim.key);
    },
    events: options.events,
    actions: {
      bind: (action, key) => binder.bind(action, key),
      create: write,
      update: write,
      updateStatus: write,
      delete: write,
      confirmClaimGone: ({ claim }) => confirmGone(options.client, persistentVolumeClaimKind, claim),
    },
  });
  return {
    ...controller,
    async perform(action, key, subject) {
      debug(() => actionStartLines(action));
      const outcome = await controller.perform(action, key, subject);
      if (outcome === 'done') debug(() => actionDoneLines(action));
      return outcome;
    },
  };
}

type VolumeOrClaimWrite = ObjectWrite<PersistentVolume> | ObjectWrite<PersistentVolumeClaim>;

const needsVolume = ({ reasons }: BinderDecision): boolean => reasons.some(({ next }) => next === 'provisioner');

/** A write that gives a volume away, or not: whose turn it is, who is to have the volume, and what comes of it. */
interface VolumeWriteInFlight {
  readonly key: BinderKey;
  readonly claim: string | undefined;
  readonly outcome: Promise<Outcome>;
}

/** The claim that is to have the volume which an action writes, if any. */
function claimGettingVolume(action: BinderAction, key: BinderKey): string | undefined {
  if (action.do === 'bind') return keyOf(action.claim.metadata);
  return key.startsWith('pvc/') ? key.slice('pvc/'.length) : undefined;
}

class VolumeBinder {
  /** For volumes that were to be given away, and were not. */
  readonly trigger = new Trigger<BinderKey>();
  readonly #options: BinderOptions;
  readonly #writer: ObjectWriter;
  readonly #offers = new Offers();
  /** By the names of volumes: the claims that the server would not let have them. */
  readonly #refused = new Map<string, Set<string>>();
  readonly #podsByClaim: Index<Parameters<typeof claimsOfPod>[0]>;
  readonly #classes: { get(ref: { name: string }): StorageClass | undefined; list(): Iterable<StorageClass> };
  readonly #snapshotForClaims: BinderSnapshot;
  readonly #snapshotForVolumes: BinderSnapshot;

  constructor(options: BinderOptions) {
    this.#options = options;
    this.#writer = new ObjectWriter(options.client, [untypedKind(persistentVolumeKind), untypedKind(persistentVolumeClaimKind)]);
    this.#podsByClaim = options.informers.cache(podKind).addIndex(claimsOfPod);
    this.#classes = options.informers.cache(storageClassKind);
    const { view, events, bindTogether } = options;
    this.#snapshotForClaims = {
      mode: bindTogether === undefined ? 'plain' : 'transaction',
      lastEvent: events.lastEvent,
      volume: (name) => view.volumes.get(name),
      claim: (key) => view.claim(key),
      ownerOf: (name) => view.ownerOf(name),
      class: (name) => this.#classes.get({ name }),
      defaultClass: () => defaultClassOf(this.#classes.list()),
      bestFit: (claim, fit) => view.bestFit(claim, fit),
      offeredTo: (name) => view.claim(this.#offers.claimFor(name) ?? ''),
      podsToSchedule: (key) => this.#podsByClaim.get(key).flatMap((pod) => (hasEnded(pod) || (pod.spec.nodeName ?? '') !== '' ? [] : [podToSchedule(pod)])),
    };
    // A volume's own turn must not choose what is being given to anybody, not even to the claim that it is offered to.
    this.#snapshotForVolumes = { ...this.#snapshotForClaims, bestFit: (claim, fit) => view.bestFit(claim, fit, '') };
  }

  /** A volume wakes itself, the claims it points at or is named by, and one claim that it could satisfy. */
  *keysForVolumeChange({ before, after }: Change<PersistentVolume>): Generator<BinderKey> {
    const { view } = this.#options;
    const name = (after ?? before)?.metadata.name ?? '';
    this.#refused.delete(name);
    yield volumeKey(name);
    for (const object of [before, after]) {
      const ref = object?.spec.claimRef;
      if (ref !== undefined) yield claimKey(`${ref.namespace ?? ''}/${ref.name ?? ''}`);
    }
    for (const key of view.claimsNaming(name)) yield claimKey(key);
    yield* this.#offer(name);
  }

  *keysForClaimChange({ before, after }: Change<PersistentVolumeClaim>): Generator<BinderKey> {
    const { view } = this.#options;
    const { namespace = '', name = '' } = (after ?? before)?.metadata ?? {};
    const key = `${namespace}/${name}`;
    yield claimKey(key);
    for (const volume of view.volumes.withClaimRef(key)) yield volumeKey(volume.name);
    const [previous, named] = [before?.spec.volumeName, after?.spec.volumeName];
    if (named !== undefined) yield volumeKey(named);
    if (previous !== undefined && previous !== named) yield volumeKey(previous);
    const claim = view.claim(key);
    if (claim !== undefined && takesAnyVolume(claim)) return;
    const refused = this.#offers.answered(key);
    if (refused === undefined) return;
    yield volumeKey(refused);
    yield* this.#offer(refused);
  }

  *keysForClassChange({ before, after }: Change<StorageClass>): Generator<BinderKey> {
    const { view } = this.#options;
    for (const key of view.waitingOfClass((after ?? before)?.metadata.name ?? '')) yield claimKey(key);
    const isDefault = [before, after].some((storageClass) => storageClass !== undefined && isDefaultClass(storageClass.metadata));
    if (isDefault) for (const key of view.waitingOfClass('')) yield claimKey(key);
  }

  /**
   * The volume, if it is free, wakes the claim that it suits best; if it is new, its own turn binds the two. A claim that it is offered to no longer is woken
   * too, unless it has got it: it may have missed others, which were not offered to it because this one was.
   */
  *#offer(name: string): Generator<BinderKey> {
    const { view } = this.#options;
    const volume = view.volumes.get(name);
    const isNew = volume !== undefined && this.#isNew(volume);
    const isFree = volume !== undefined && (isNew || view.isAvailable(volume)) && !waitsForConsumer(this.#classes.get({ name: volume.className }));
    const before = this.#offers.claimFor(name);
    const claim = isFree ? this.#offers.make(volume, this.#candidatesFor(volume)) : undefined;
    if (!isFree) this.#offers.withdraw(name);
    if (claim !== undefined && !isNew) yield claimKey(claim.key);
    if (before !== undefined && before !== claim?.key && before !== volume?.claim?.key) yield claimKey(before);
  }

  #isNew({ name, claim, phase, deleting }: Volume): boolean {
    const { view, bindTogether } = this.#options;
    return bindTogether !== undefined && phase === 'Pending' && claim === undefined && !deleting && view.ownerOf(name) === undefined;
  }

  snapshot(key: BinderKey): BinderSubject | undefined {
    const { view } = this.#options;
    if (key.startsWith('pvc/')) {
      const claim = view.claim(key.slice('pvc/'.length));
      if (claim === undefined || this.#isSkipped(view.volumes.get(claim.volumeName), claim)) return undefined;
      return { type: 'claim', claim, snapshot: this.#snapshotForClaims };
    }
    const volume = view.volumes.get(key.slice('pv/'.length));
    if (volume === undefined || this.#isSkipped(volume, view.claim(volume.claim?.key ?? ''))) return undefined;
    return { type: 'volume', volume, snapshot: this.#snapshotForVolumes };
  }

  /** Whoever follows the log is told that nothing is to be done; nobody else needs a decision for that. */
  #isSkipped(volume: Volume | undefined, claim: Claim | undefined): boolean {
    return !this.#options.log.debugs && areSettled(volume, claim);
  }

  /** From the decision until the volume's write is answered, passes that run beside this one leave the volume alone. */
  markInFlight(snapshot: BinderSubject, actions: readonly BinderAction[]): void {
    for (const action of actions) {
      const given = action.do === 'bind' ? action.volume : action.do === 'update' && action.object.kind === 'PersistentVolume' ? action.object : undefined;
      const taker = claimGettingVolume(action, snapshot.type === 'claim' ? claimKey(snapshot.claim.key) : volumeKey(snapshot.volume.name));
      if (given !== undefined && taker !== undefined) this.#options.view.bindsInFlight.set(given.metadata.name ?? '', taker);
    }
  }

  bind(action: Bind, key: BinderKey): Promise<Outcome> {
    return this.#endInFlight(action.volume, { key, claim: claimGettingVolume(action, key), outcome: this.#bindTogether(action) });
  }

  write(action: VolumeOrClaimWrite, key: BinderKey): Promise<Outcome> {
    return this.#endInFlight(action.object, { key, claim: claimGettingVolume(action, key), outcome: this.#writer.perform(action) });
  }

  /**
   * The cache reads its own writes: once the answer is here, the volume shows itself that it is taken. If it is not, those who passed
   * it over meanwhile have to be called back. Whoever's turn it was comes back by itself, and not at once: a write that the
   * server always refuses would keep both busy.
   */
  async #endInFlight({ kind, metadata }: PersistentVolume | PersistentVolumeClaim, { key, claim: taker, outcome }: VolumeWriteInFlight): Promise<Outcome> {
    const name = metadata.name ?? '';
    let end: Outcome | undefined;
    try {
      return (end = await outcome);
    } finally {
      const { bindsInFlight: beingGiven } = this.#options.view;
      if (kind === 'PersistentVolume' && taker !== undefined && beingGiven.get(name) === taker) {
        beingGiven.delete(name);
        if (typeof end === 'object') this.#refuse(name, taker);
        for (const woken of this.#offer(name)) if (woken !== key) this.trigger.fire(woken);
      }
    }
  }

  /** The server may never let the claim have the volume: until the volume changes, others are asked. */
  #refuse(volumeName: string, claim: string): void {
    if (this.#options.view.volumes.get(volumeName) === undefined) return;
    const refused = this.#refused.get(volumeName) ?? new Set();
    this.#refused.set(volumeName, refused.add(claim));
  }

  *#candidatesFor(volume: Volume): Generator<Claim> {
    const refused = this.#refused.get(volume.name);
    for (const claim of this.#options.view.waiting.candidatesFor(volume)) if (refused?.has(claim.key) !== true) yield claim;
  }

  async #bindTogether(pair: Bind): Promise<Outcome> {
    const { bindTogether } = this.#options;
    if (bindTogether === undefined) throw new Error('decided to bind in one transaction, which this server cannot');
    return outcomeOf(await bindTogether(pair));
  }
}
