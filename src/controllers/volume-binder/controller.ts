import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from '../../api/generated/types.ts';
import { erased } from '../../api/kind.ts';
import { persistentVolumeClaimKind } from '../../api/kinds/persistent-volume-claim.ts';
import { persistentVolumeKind } from '../../api/kinds/persistent-volume.ts';
import { storageClassKind } from '../../api/kinds/storage-class.ts';
import { podKind } from '../../api/kinds/workloads/pod.ts';
import { type Claim, takesAnyVolume } from '../../domain/volumes/claim.ts';
import { claimsOfPod, hasEnded } from '../../domain/volumes/pods.ts';
import { defaultClassOf, isDefaultClass, waitsForConsumer } from '../../domain/volumes/storage-class.ts';
import type { VolumesView } from '../../domain/volumes/view.ts';
import type { Volume } from '../../domain/volumes/volume.ts';
import { type Change, type Index, keyOf } from '../../machinery/cache.ts';
import type { Client, Result } from '../../machinery/client.ts';
import { confirmGone } from '../../machinery/confirm.ts';
import type { Informers } from '../../machinery/informers.ts';
import { Bell, type Controller, type Outcome, outcomeOf, type Source, source } from '../../machinery/loop.ts';
import type { Tellings } from '../../machinery/tellings.ts';
import { ObjectWriter } from '../../machinery/writes.ts';
import type { Log } from '../../world/world.ts';
import type { Bind, BinderAction } from './actions.ts';
import { areSettled, type BinderSnapshot, decide, podToSchedule, type Seen } from './decide.ts';
import { begun, chosen, done, type Line, lookedAt } from './narrate.ts';
import { Offers } from './offers.ts';

export interface BinderOptions {
  readonly client: Client;
  readonly informers: Informers;
  /** Told of every change of volumes and claims before this controller is. */
  readonly view: VolumesView;
  readonly tellings: Tellings;
  readonly log: Log;
  /** Rung for claims that found no volume: the provisioner looks at them next. */
  readonly toMake: Bell<string>;
  /** Claims for which the provisioner found a volume. */
  readonly toBind: Source<string>;
  /** Writes both objects in one transaction. Absent: the server cannot, and they are bound step by step. */
  readonly bindTogether?: (pair: Bind) => Promise<Result<unknown>>;
}

/** 'pv/<name>' or 'pvc/<namespace>/<name>' */
export type BinderKey = `pv/${string}` | `pvc/${string}`;

const volumeKey = (name: string): BinderKey => `pv/${name}`;
const claimKey = (key: string): BinderKey => `pvc/${key}`;

export function volumeBinder(options: BinderOptions): Controller<BinderKey, BinderSnapshot, BinderAction> {
  const binder = new VolumeBinder(options);
  const log = options.log.with({ controller: 'volume-binder' });
  const say = (lines: () => readonly Line[]): void => {
    if (log.debugs) for (const { message, fields } of lines()) log.debug(message, fields);
  };
  return {
    name: 'volume-binder',
    parallelism: 64,
    sources: [
      binder.bell,
      { subscribe: (informers, add) => options.toBind.subscribe(informers, (key) => add(claimKey(key))) },
      source(persistentVolumeKind, (change) => binder.volumeChanged(change)),
      source(persistentVolumeClaimKind, (change) => binder.claimChanged(change)),
      source(storageClassKind, (change) => binder.classChanged(change)),
      source(podKind, ({ before, after }) => new Set([before, after].flatMap((pod) => (pod === undefined ? [] : claimsOfPod(pod).map(claimKey))))),
    ],
    snapshot: (key) => binder.snapshot(key),
    decide: (snapshot, now) => {
      say(() => [lookedAt(snapshot)]);
      const decision = decide(snapshot, now);
      say(() => chosen(snapshot, decision));
      binder.hold(snapshot, decision.actions);
      if (snapshot.type === 'claim' && decision.reasons.some(({ next }) => next === 'provisioner')) options.toMake.ring(snapshot.claim.key);
      return decision;
    },
    perform: async (action, key) => {
      say(() => begun(action));
      const outcome = await binder.perform(action, key);
      if (outcome === 'done') say(() => done(action));
      return outcome;
    },
  };
}

/** A write that gives a volume away, or not: whose turn it is, who is to have the volume, and what comes of it. */
interface Giving {
  readonly key: BinderKey;
  readonly taker: string | undefined;
  readonly outcome: Promise<Outcome>;
}

/** The claim that is to have the volume which an action writes, if any. */
function takerIn(action: BinderAction, key: BinderKey): string | undefined {
  if (action.do === 'bind') return keyOf(action.claim.metadata);
  return key.startsWith('pvc/') ? key.slice('pvc/'.length) : undefined;
}

class VolumeBinder {
  /** For volumes that were to be given away, and were not. */
  readonly bell = new Bell<BinderKey>();
  readonly #options: BinderOptions;
  readonly #writer: ObjectWriter;
  readonly #offers = new Offers();
  /** By the names of volumes: the claims that the server would not let have them. */
  readonly #refused = new Map<string, Set<string>>();
  readonly #podsByClaim: Index<Parameters<typeof claimsOfPod>[0]>;
  readonly #classes: { get(ref: { name: string }): StorageClass | undefined; list(): Iterable<StorageClass> };
  readonly #seenByClaims: Seen;
  readonly #seenByVolumes: Seen;

  constructor(options: BinderOptions) {
    this.#options = options;
    this.#writer = new ObjectWriter(options.client, [erased(persistentVolumeKind), erased(persistentVolumeClaimKind)]);
    this.#podsByClaim = options.informers.cache(podKind).addIndex(claimsOfPod);
    this.#classes = options.informers.cache(storageClassKind);
    const { view, tellings, bindTogether } = options;
    this.#seenByClaims = {
      mode: bindTogether === undefined ? 'plain' : 'transaction',
      told: tellings.told,
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
    this.#seenByVolumes = { ...this.#seenByClaims, bestFit: (claim, fit) => view.bestFit(claim, fit, '') };
  }

  /** A volume wakes itself, the claims it points at or is named by, and one claim that it could satisfy. */
  *volumeChanged({ before, after }: Change<PersistentVolume>): Generator<BinderKey> {
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

  *claimChanged({ before, after }: Change<PersistentVolumeClaim>): Generator<BinderKey> {
    const { view } = this.#options;
    const { namespace = '', name = '' } = (after ?? before)?.metadata ?? {};
    const key = `${namespace}/${name}`;
    yield claimKey(key);
    for (const volume of view.volumes.pointingAt(key)) yield volumeKey(volume.name);
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

  *classChanged({ before, after }: Change<StorageClass>): Generator<BinderKey> {
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
    const isFree = volume !== undefined && (isNew || view.isOnOffer(volume)) && !waitsForConsumer(this.#classes.get({ name: volume.className }));
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

  snapshot(key: BinderKey): BinderSnapshot | undefined {
    const { view } = this.#options;
    if (key.startsWith('pvc/')) {
      const claim = view.claim(key.slice('pvc/'.length));
      if (claim === undefined || this.#isPassedOver(view.volumes.get(claim.volumeName), claim)) return undefined;
      return { type: 'claim', claim, seen: this.#seenByClaims };
    }
    const volume = view.volumes.get(key.slice('pv/'.length));
    if (volume === undefined || this.#isPassedOver(volume, view.claim(volume.claim?.key ?? ''))) return undefined;
    return { type: 'volume', volume, seen: this.#seenByVolumes };
  }

  /** Whoever follows the log is told that nothing is to be done; nobody else needs a decision for that. */
  #isPassedOver(volume: Volume | undefined, claim: Claim | undefined): boolean {
    return !this.#options.log.debugs && areSettled(volume, claim);
  }

  /** From the decision until the volume's write is answered, passes that run beside this one leave the volume alone. */
  hold(snapshot: BinderSnapshot, actions: readonly BinderAction[]): void {
    for (const action of actions) {
      const given = action.do === 'bind' ? action.volume : action.do === 'update' && action.object.kind === 'PersistentVolume' ? action.object : undefined;
      const taker = takerIn(action, snapshot.type === 'claim' ? claimKey(snapshot.claim.key) : volumeKey(snapshot.volume.name));
      if (given !== undefined && taker !== undefined) this.#options.view.beingGiven.set(given.metadata.name ?? '', taker);
    }
  }

  /** Without `async`: what is performed thousands of times a second is a promise already. `key`: whose turn it is. */
  perform(action: BinderAction, key: BinderKey): Promise<Outcome> {
    switch (action.do) {
      case 'bind':
        return this.#releasing(action.volume, { key, taker: takerIn(action, key), outcome: this.#bindTogether(action) });
      case 'create':
      case 'update':
      case 'updateStatus':
      case 'delete':
        return this.#releasing(action.object, { key, taker: takerIn(action, key), outcome: this.#writer.perform(action) });
      case 'confirmClaimGone':
        return confirmGone(this.#options.client, persistentVolumeClaimKind, action.claim);
      case 'tell':
        this.#options.tellings.tell(action.event, action.rememberAs);
        return Promise.resolve('done');
    }
  }

  /**
   * The cache reads its own writes: once the answer is here, the volume shows itself that it is taken. If it is not, those who passed
   * it over meanwhile have to be called back. Whoever's turn it was comes back by itself, and not at once: a write that the
   * server always refuses would keep both busy.
   */
  async #releasing({ kind, metadata }: PersistentVolume | PersistentVolumeClaim, { key, taker, outcome }: Giving): Promise<Outcome> {
    const name = metadata.name ?? '';
    let end: Outcome | undefined;
    try {
      return (end = await outcome);
    } finally {
      const { beingGiven } = this.#options.view;
      if (kind === 'PersistentVolume' && taker !== undefined && beingGiven.get(name) === taker) {
        beingGiven.delete(name);
        if (typeof end === 'object') this.#refuse(name, taker);
        for (const woken of this.#offer(name)) if (woken !== key) this.bell.ring(woken);
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
