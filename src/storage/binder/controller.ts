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
import { type Change, changedObject, type Index, keyOf } from '../../client/informers/cache.ts';
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
  /** Updated with every change of volumes and claims before this controller's sources are. */
  readonly view: VolumesView;
  readonly events: RecordedEvents;
  readonly log: Log;
  /** Fired for claims that found no volume: the provisioner decides about them next. */
  readonly provisionTrigger: Trigger<string>;
  /** Claims for which the provisioner found a volume. */
  readonly bindTrigger: Source<string>;
  /** Writes both objects in one transaction. Absent: the server cannot, and the mode is `plain`. */
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

/** A write of a volume or a claim: the key of its pass, the claim that is to get the volume, and the outcome. */
interface VolumeWriteInFlight {
  readonly key: BinderKey;
  readonly claim: string | undefined;
  readonly outcome: Promise<Outcome>;
}

/** The claim that gets the volume by this action, if any. */
function claimGettingVolume(action: BinderAction, key: BinderKey): string | undefined {
  if (action.do === 'bind') return keyOf(action.claim.metadata);
  return key.startsWith('pvc/') ? key.slice('pvc/'.length) : undefined;
}

class VolumeBinder {
  /** Fired after a bind that failed, for the volume's next candidate. */
  readonly trigger = new Trigger<BinderKey>();
  readonly #options: BinderOptions;
  readonly #writer: ObjectWriter;
  readonly #offers = new Offers();
  /** By volume name: the claims whose bind the server refused. */
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
    // The pass of a volume must not choose a volume whose bind is in flight, not even for the claim that it is offered to.
    this.#snapshotForVolumes = { ...this.#snapshotForClaims, bestFit: (claim, fit) => view.bestFit(claim, fit, '') };
  }

  /** A volume enqueues itself, the claims that it names or that name it, and one claim that it could satisfy. */
  *keysForVolumeChange(change: Change<PersistentVolume>): Generator<BinderKey> {
    const { view } = this.#options;
    const { before, after } = change;
    const { name } = changedObject(change).metadata;
    this.#refused.delete(name);
    yield volumeKey(name);
    for (const object of [before, after]) {
      const ref = object?.spec.claimRef;
      if (ref !== undefined) yield claimKey(keyOf(ref));
    }
    for (const key of view.claimsNaming(name)) yield claimKey(key);
    yield* this.#offer(name);
  }

  *keysForClaimChange(change: Change<PersistentVolumeClaim>): Generator<BinderKey> {
    const { view } = this.#options;
    const { before, after } = change;
    const key = keyOf(changedObject(change).metadata);
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

  *keysForClassChange(change: Change<StorageClass>): Generator<BinderKey> {
    const { view } = this.#options;
    for (const key of view.waitingOfClass(changedObject(change).metadata.name)) yield claimKey(key);
    const isDefault = [change.before, change.after].some((storageClass) => storageClass !== undefined && isDefaultClass(storageClass.metadata));
    if (isDefault) for (const key of view.waitingOfClass('')) yield claimKey(key);
  }

  /**
   * A free volume enqueues the claim that it suits best; if it is new, its own pass binds the two. The claim of an earlier offer is
   * enqueued too, unless it got the volume: other volumes were not offered to it because this one was.
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

  /** A settled pair needs no decision, except for the debug log. */
  #isSkipped(volume: Volume | undefined, claim: Claim | undefined): boolean {
    return !this.#options.log.debugs && areSettled(volume, claim);
  }

  /** From the decision until the server answers the write, other passes leave the volume alone. */
  markInFlight(subject: BinderSubject, actions: readonly BinderAction[]): void {
    for (const action of actions) {
      const volume = action.do === 'bind' ? action.volume : action.do === 'update' && action.object.kind === 'PersistentVolume' ? action.object : undefined;
      const claim = claimGettingVolume(action, subject.type === 'claim' ? claimKey(subject.claim.key) : volumeKey(subject.volume.name));
      if (volume !== undefined && claim !== undefined) this.#options.view.bindsInFlight.set(volume.metadata.name ?? '', claim);
    }
  }

  bind(action: Bind, key: BinderKey): Promise<Outcome> {
    return this.#endInFlight(action.volume, { key, claim: claimGettingVolume(action, key), outcome: this.#bindTogether(action) });
  }

  write(action: VolumeOrClaimWrite, key: BinderKey): Promise<Outcome> {
    return this.#endInFlight(action.object, { key, claim: claimGettingVolume(action, key), outcome: this.#writer.perform(action) });
  }

  /**
   * The cache reads its own writes: once the answer is here, the volume's claimRef shows that it is taken. If it is not, the claims that
   * skipped it meanwhile are enqueued. The key of this pass is not: the loop retries it later, or a write that the server always
   * refuses would keep both busy.
   */
  async #endInFlight({ kind, metadata }: PersistentVolume | PersistentVolumeClaim, { key, claim, outcome }: VolumeWriteInFlight): Promise<Outcome> {
    const name = metadata.name ?? '';
    let end: Outcome | undefined;
    try {
      return (end = await outcome);
    } finally {
      const { bindsInFlight } = this.#options.view;
      if (kind === 'PersistentVolume' && claim !== undefined && bindsInFlight.get(name) === claim) {
        bindsInFlight.delete(name);
        if (typeof end === 'object') this.#refuse(name, claim);
        for (const next of this.#offer(name)) if (next !== key) this.trigger.fire(next);
      }
    }
  }

  /** The server may refuse the bind for ever: until the volume changes, it is offered to other claims. */
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
    if (bindTogether === undefined) throw new Error('the binder decided on a transaction, which this server does not have');
    return outcomeOf(await bindTogether(pair));
  }
}
