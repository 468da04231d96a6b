import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from '../../api/generated/types.ts';
import { untypedKind } from '../../api/kind.ts';
import { nodeKind } from '../../api/kinds/core/node.ts';
import { volumeIntentKind } from '../../api/kinds/mooring/volume-intent.ts';
import { persistentVolumeClaimKind } from '../../api/kinds/core/persistent-volume-claim.ts';
import { persistentVolumeKind } from '../../api/kinds/core/persistent-volume.ts';
import { storageClassKind } from '../../api/kinds/storage/storage-class.ts';
import { volumeSnapshotContentKind, volumeSnapshotKind } from '../../api/kinds/snapshot/volume-snapshot.ts';
import { restoredSnapshotOf } from '../volumes/data-source.ts';
import { annotations } from '../../api/volumes/annotations.ts';
import { type Claim, claimKey, takesAnyVolume } from '../volumes/claim.ts';
import type { CreateOutcome, DeleteOutcome, DriverCapabilities } from '../../api/volumes/driver-capabilities.ts';
import { afterFailure, type Asset, isFor, type VolumeIntent, volumeNameOf } from '../../api/volumes/intent.ts';
import { boundPair } from '../volumes/edits.ts';
import type { VolumesView } from '../volumes/view.ts';
import { changedObject, type Index, keyOf } from '../../client/informers/cache.ts';
import type { Client, Result, VolumeClaimBinding } from '../../client/client.ts';
import type { ObjectWrite } from '../../client/decision.ts';
import { RecentMap } from '../../client/recent-map.ts';
import { confirmCurrent } from '../../client/controller/confirm.ts';
import type { Informers } from '../../client/informers/informers.ts';
import { defineController } from '../../client/controller/define-controller.ts';
import { BackgroundCalls } from '../../client/controller/background-calls.ts';
import { type Controller, type Outcome, outcomeOf, type Source, source, Trigger } from '../../client/controller/loop.ts';
import type { RecordedEvents } from '../../client/events/event-dedup.ts';
import { ObjectWriter } from '../../client/controller/object-writer.ts';
import type { Clock, Log } from '../../world/world.ts';
import { type ChangingDrivers, driverSource } from '../volumes/driver-changes.ts';
import {
  afterCleanupFailed,
  afterCreated,
  afterDeleted,
  afterRefused,
  beforeAttempt,
  type CreateIntent,
  type DeleteAsset,
  type ProvisionerAction,
  type PublishVolume,
  provisionedVolume,
} from './actions.ts';
import { CsiSources } from './csi-sources.ts';
import { decide, isLeftGuarded, lacksMigratedTo, markedFor, type ProvisionerSubject, type ProvisionerSnapshot, succeeded } from './decide.ts';
import { messages } from './messages.ts';
import { provisionerOf } from './provisioning-need.ts';
import { DataSources } from './data-sources.ts';
import type { SnapshotSources } from './snapshot-source.ts';

/** The drivers in this process. Neither call rejects; both may be made again with the same arguments. */
export interface ProvisioningDrivers extends ChangingDrivers {
  facts(name: string): DriverCapabilities | undefined;
  create(intent: CreateIntent): Promise<CreateOutcome>;
  delete(driver: string, asset: Asset): Promise<DeleteOutcome>;
  /** Whether volumes of the driver can be restored from its snapshots. */
  restores?(driver: string): boolean;
}

export interface ProvisionerOptions {
  readonly client: Client;
  readonly informers: Informers;
  /** Updated with every change of volumes and claims before this controller's sources are. */
  readonly view: VolumesView;
  readonly events: RecordedEvents;
  readonly clock: Clock;
  readonly log: Log;
  readonly drivers: ProvisioningDrivers;
  /** Claims for which the binder found no volume. */
  readonly provisionTrigger: Source<string>;
  /** Fired for claims for which there is a volume after all: the binder decides about them next. */
  readonly bindTrigger: Trigger<string>;
  /** Creates a volume that is bound to its claim from the start, and ends its intent, in one transaction. Absent: the server cannot. */
  readonly bindTogether?: (binding: VolumeClaimBinding) => Promise<Result<unknown>>;
  /** The server has the kinds of snapshots. */
  readonly hasSnapshots?: boolean;
  /** The server has VolumePopulators and ReferenceGrants. */
  readonly hasDataSources?: boolean;
}

/**
 * Keys are 'namespace/name' of claims. The binder decides first whether a claim needs a new volume, and fires `provisionTrigger` if
 * nothing fits. Each fires the other's trigger when they disagree, because a volume came or went between their passes.
 */
export function provisioner(options: ProvisionerOptions): Controller<string, ProvisionerSubject, ProvisionerAction> {
  const { view } = options;
  const running = new Provisioner(options);
  const snapshotChanges =
    options.hasSnapshots === true
      ? [
          source(volumeSnapshotKind, (change) => running.claimsForSnapshot(keyOf(changedObject(change).metadata))),
          source(volumeSnapshotContentKind, (change) => running.claimsForSnapshot(keyOf(changedObject(change).spec.volumeSnapshotRef))),
        ]
      : [];
  return defineController<string, ProvisionerSubject, ProvisionerAction>({
    name: 'provisioner',
    parallelism: 64,
    sources: [
      options.provisionTrigger,
      source(persistentVolumeClaimKind, (change) => running.keysForClaimChange(keyOf(changedObject(change).metadata))),
      source(persistentVolumeKind, ({ before, after }) => [...running.keysForVolumeChange(before), ...running.keysForVolumeChange(after)]),
      source(volumeIntentKind, ({ before, after }) => [before, after].flatMap((intent) => (intent === undefined ? [] : claimOfIntent(intent)))),
      source(storageClassKind, (change) => view.waitingOfClass(changedObject(change).metadata.name)),
      driverSource(options.drivers, (driver) => running.claimsForDriver(driver)),
      running.trigger,
      ...running.csiSources(),
      source(nodeKind, ({ before, after }) => (before === undefined && after !== undefined ? running.claimsForNode(after.metadata.name) : [])),
      ...snapshotChanges,
      ...running.dataSourceChanges(),
    ],
    snapshot: (key) => running.snapshot(key),
    decide,
    onDecision({ claim }, { reasons }) {
      if (claim !== undefined && reasons.some(({ code, next }) => code === 'NothingToProvision' && next === 'binder')) options.bindTrigger.fire(claim.key);
    },
    writer: running.writer,
    events: options.events,
    actions: {
      create: (action) => running.begin(action),
      createAsset: ({ intent }) => running.createAsset(intent),
      publishVolume: (action) => running.publish(action),
      deleteAsset: (action) => running.deleteAsset(action),
    },
  });
}

const none: readonly string[] = [];
const claimOfIntent = (intent: VolumeIntent): readonly string[] =>
  isFor(intent, 'Create') ? [claimKey(intent.spec.claimRef.namespace, intent.spec.claimRef.name)] : [];
const driverOfIntent = (intent: VolumeIntent): readonly string[] => (isFor(intent, 'Create') ? [intent.spec.driver] : []);
const selectedNodeOf = ({ metadata }: PersistentVolumeClaim): readonly string[] => {
  const node = metadata.annotations?.[annotations.selectedNode];
  return node === undefined ? [] : [node];
};

function snapshotSources({ informers, drivers }: ProvisionerOptions): SnapshotSources {
  const [snapshots, contents] = [informers.cache(volumeSnapshotKind), informers.cache(volumeSnapshotContentKind)];
  return {
    snapshot: (namespace, name) => snapshots.get({ namespace, name }),
    content: (name) => contents.get({ name }),
    restores: (driver) => drivers.restores?.(driver) === true,
  };
}
/** It changed meanwhile. The intent was still there: the server looks at it first. */
const isConflictOfClaim = (result: Result<unknown>): boolean =>
  !result.ok && result.reason === 'conflict' && result.error.details?.kind === persistentVolumeClaimKind.plural;
const provisionersOf = (storageClass: StorageClass): readonly string[] => [provisionerOf(storageClass)];

class Provisioner {
  /** Fired by answers of drivers. */
  readonly trigger = new Trigger<string>();
  readonly #options: ProvisionerOptions;
  readonly #csi: CsiSources;
  readonly #calls: BackgroundCalls;
  /** By uid: whether the volume of an intent certainly does not exist. True of an intent that this process wrote, until an attempt may have made the volume. */
  readonly #nothingMade = new RecentMap<string, boolean>(10_000);
  readonly #classesByProvisioner: Index<StorageClass>;
  readonly writer: ObjectWriter;
  readonly #intentsByClaim: Index<VolumeIntent>;
  readonly #intentsByDriver: Index<VolumeIntent>;
  readonly #claimsByNode: Index<PersistentVolumeClaim>;
  readonly #claimsBySnapshot: Index<PersistentVolumeClaim>;
  readonly #dataSources: DataSources | undefined;
  readonly #snapshot: ProvisionerSnapshot;

  constructor(options: ProvisionerOptions) {
    const { client, informers, view, events, drivers } = options;
    this.#options = options;
    this.#csi = new CsiSources(informers, view, (name) => drivers.facts(name)?.csi !== undefined);
    this.#calls = new BackgroundCalls(options.log);
    this.#classesByProvisioner = informers.cache(storageClassKind).addIndex(provisionersOf);
    this.writer = new ObjectWriter(client, [
      untypedKind(persistentVolumeKind),
      untypedKind(persistentVolumeClaimKind),
      untypedKind(volumeIntentKind),
      untypedKind(volumeSnapshotKind),
    ]);
    this.#intentsByClaim = informers.cache(volumeIntentKind).addIndex(claimOfIntent);
    this.#intentsByDriver = informers.cache(volumeIntentKind).addIndex(driverOfIntent);
    this.#claimsByNode = informers.cache(persistentVolumeClaimKind).addIndex(selectedNodeOf);
    this.#claimsBySnapshot = informers.cache(persistentVolumeClaimKind).addIndex(restoredSnapshotOf);
    this.#dataSources = options.hasDataSources === true ? new DataSources(informers) : undefined;
    const [classes, nodes] = [informers.cache(storageClassKind), informers.cache(nodeKind)];
    this.#snapshot = {
      lastEvent: events.lastEvent,
      bindsTogether: options.bindTogether !== undefined,
      volume: (name) => view.volumes.get(name),
      class: (name) => classes.get({ name }),
      bestFit: (claim, fit) => view.bestFit(claim, fit),
      hasNode: (name) => nodes.get({ name }) !== undefined,
      driver: (name) => drivers.facts(name),
      ...(options.hasSnapshots === true ? { snapshots: snapshotSources(options) } : {}),
      csi: this.#csi.snapshot,
      dataSources: this.#dataSources,
    };
  }

  dataSourceChanges(): readonly Source<string>[] {
    return this.#dataSources?.sources() ?? [];
  }

  csiSources(): readonly Source<string>[] {
    return this.#csi.sources((driver) => this.claimsForDriver(driver));
  }

  *claimsForDriver(driver: string): Generator<string> {
    for (const { metadata } of this.#classesByProvisioner.get(driver)) yield* this.#options.view.waitingOfClass(metadata.name);
    for (const intent of this.#intentsByDriver.get(driver)) yield* claimOfIntent(intent);
  }

  /** Only claims with an intent, or without their migration annotation. New work comes from the binder. */
  keysForClaimChange(key: string): readonly string[] {
    const claim = this.#options.view.claim(key);
    const isOurs = claim !== undefined && (lacksMigratedTo(claim) || isLeftGuarded(claim.object));
    return this.#intentsByClaim.has(key) || isOurs ? [key] : none;
  }

  keysForVolumeChange(volume: PersistentVolume | undefined): readonly string[] {
    const claim = volume?.spec.claimRef;
    if (claim === undefined) return none;
    const key = claimKey(claim.namespace ?? '', claim.name ?? '');
    return this.#intentsByClaim.has(key) ? [key] : none;
  }

  claimsForSnapshot(key: string): readonly string[] {
    return this.#claimsBySnapshot.get(key).map(({ metadata }) => keyOf(metadata));
  }

  claimsForNode(name: string): readonly string[] {
    return this.#claimsByNode.get(name).map(({ metadata }) => keyOf(metadata));
  }

  snapshot(key: string): ProvisionerSubject | undefined {
    const claim = this.#options.view.claim(key);
    const intents = this.#intentsByClaim.get(key).flatMap((intent) => (isFor(intent, 'Create') ? [intent] : []));
    if (claim === undefined && intents.length === 0) return undefined;
    const isCloned = claim === undefined || this.#csi.isCloned(claim);
    return { claim, intents, snapshot: this.#snapshot, isCloned, isAsked: (intent) => this.#calls.isRunning(volumeNameOf(intent)) };
  }

  /** Writes what a decision creates. */
  async begin(write: Extract<ObjectWrite, { readonly do: 'create' }>): Promise<Outcome> {
    const result = await this.writer.attempt(write);
    if (!result.ok || result.value === undefined || write.object.kind !== volumeIntentKind.kind) return outcomeOf(result);
    const intent = result.value as VolumeIntent;
    this.#nothingMade.set(intent.metadata.uid ?? '', true);
    // The answer to the write is as good as a read of the intent. Other drivers are asked in a pass of their own, which waits for them.
    return isFor(intent, 'Create') && this.#isSocket(intent) ? this.#ask(intent) : 'done';
  }

  #isSocket({ spec }: CreateIntent): boolean {
    return this.#options.drivers.facts(spec.driver)?.csi !== undefined;
  }

  /** The server is asked for the intent once more: a deposed leader must not create an asset that was deleted long ago. */
  async createAsset(intent: CreateIntent): Promise<Outcome> {
    if (intent.status.final === true) return this.#createAgain(intent);
    const current = await confirmCurrent(this.#options.client, volumeIntentKind, intent);
    return current === 'done' ? this.#start(intent) : current;
  }

  /**
   * An intent whose `final` is true may be deleted by any later leader. It must not say so while the driver is asked again: after a crash, nothing else
   * tells of that attempt. The write fails if the intent has changed, as the read would have.
   */
  async #createAgain(intent: CreateIntent): Promise<Outcome> {
    const result = await this.writer.attempt({ do: 'update', object: beforeAttempt(intent), from: intent });
    if (!result.ok || result.value === undefined) return outcomeOf(result);
    const asked = result.value as CreateIntent;
    this.#nothingMade.set(asked.metadata.uid ?? '', true);
    return this.#start(asked);
  }

  #start(intent: CreateIntent): Promise<Outcome> | Outcome {
    return this.#isSocket(intent) ? this.#ask(intent) : this.#create(intent);
  }

  #ask(intent: CreateIntent): Outcome {
    const { namespace, name } = intent.spec.claimRef;
    return this.#calls.start(
      volumeNameOf(intent),
      () => this.#create(intent),
      () => this.trigger.fire(claimKey(namespace, name)),
    );
  }

  async #create(intent: CreateIntent): Promise<Outcome> {
    const { drivers, clock } = this.#options;
    const uid = intent.metadata.uid ?? '';
    const wasNothingMade = this.#nothingMade.get(uid) === true;
    // The volume may exist from here on. What was made is known to the server only if the write of the answer succeeds.
    this.#nothingMade.set(uid, false);
    const answer = await drivers.create(intent);
    const outcome = answer.type === 'created' ? this.#verified(intent, answer) : answer;
    if (outcome.type === 'created') {
      const { asset, mismatch } = outcome;
      if (mismatch === undefined) return this.#keep(intent, asset);
      this.#warn(intent, 'ProvisioningFailed', messages.failed(intent.spec.driver, intent.spec.request.storageClassName, mismatch));
      return this.#record(intent, afterRefused(intent, asset, mismatch));
    }
    const final = outcome.final && wasNothingMade;
    this.#nothingMade.set(uid, final);
    const recorded = await this.#record(intent, afterFailure(intent, { ...outcome, final }, clock.now()));
    this.#warn(intent, 'ProvisioningFailed', messages.failed(intent.spec.driver, intent.spec.request.storageClassName, outcome.message));
    return recorded;
  }

  /**
   * A driver behind a socket answers a repeated call with the same volume, by its name, so its answer need not be written into the intent first: after a
   * crash it is asked again. What is not a new PersistentVolume at once goes through the intent.
   */
  async #keep(intent: CreateIntent, asset: Asset): Promise<Outcome> {
    if (!this.#isSocket(intent)) return this.#record(intent, afterCreated(intent, asset));
    const volume = provisionedVolume(intent, asset);
    const bound = await this.#createBound(intent, volume);
    if (bound?.ok === true) return 'done';
    // After any other failure the pair may have been written, and reclaimed since: a volume would be created whose backend is deleted, and no intent says so.
    const mayCreate = bound === undefined || isConflictOfClaim(bound);
    if (mayCreate && (await this.writer.attempt({ do: 'create', object: volume })).ok) return 'done';
    return this.#record(intent, afterCreated(intent, asset));
  }

  /** Undefined: the claim does not wait for the volume any more. The binder decides about the two, once the volume is there. */
  async #createBound(intent: CreateIntent, volume: PersistentVolume): Promise<Result<unknown> | undefined> {
    const { bindTogether, events } = this.#options;
    const claim = this.#claimOf(intent);
    if (bindTogether === undefined || claim === undefined || !takesAnyVolume(claim) || claim.object.metadata.deletionTimestamp !== undefined) return undefined;
    const { name, uid } = intent.metadata;
    if (name === undefined || uid === undefined) return undefined;
    const result = await bindTogether({
      ...boundPair(volume, { ...claim, object: markedFor(claim, claim.provisioner ?? intent.spec.driver) }),
      intent: { name, uid },
    });
    if (result.ok) events.record(succeeded(intent, claim));
    return result;
  }

  #claimOf({ spec: { claimRef } }: CreateIntent): Claim | undefined {
    const claim = this.#options.view.claim(claimKey(claimRef.namespace, claimRef.name));
    return claim?.uid === claimRef.uid ? claim : undefined;
  }

  /** A driver that answers with the volume of another claim must not get two PersistentVolumes for it, and above all not be asked to delete it. */
  #verified(intent: CreateIntent, outcome: Extract<CreateOutcome, { type: 'created' }>): CreateOutcome {
    const owner = this.#csi.ownerOf(intent.spec.driver, outcome.asset.handle, volumeNameOf(intent));
    if (owner === undefined) return outcome;
    return { type: 'failed', message: `the driver answered with volume ${JSON.stringify(outcome.asset.handle)}, which is the one of ${owner}`, final: false };
  }

  async publish({ intent, volume }: PublishVolume): Promise<Outcome> {
    const result = await this.writer.attempt({ do: 'create', object: volume });
    if (result.ok || result.reason === 'alreadyExists') return 'done';
    const { asset } = intent.status;
    if (asset === undefined || (result.reason !== 'invalid' && result.reason !== 'forbidden')) return outcomeOf(result);
    this.#warn(intent, 'ProvisioningFailed', messages.refused(intent.spec.claimRef, result.error.message));
    return this.#record(intent, afterRefused(intent, asset, result.error.message));
  }

  async deleteAsset({ intent, asset }: DeleteAsset): Promise<Outcome> {
    const { client, drivers } = this.#options;
    const current = await confirmCurrent(client, volumeIntentKind, intent);
    if (current !== 'done') return current;
    if (drivers.facts(intent.spec.driver)?.csi === undefined) return this.#delete(intent, asset);
    const { namespace, name } = intent.spec.claimRef;
    return this.#calls.start(
      volumeNameOf(intent),
      () => this.#delete(intent, asset),
      () => this.trigger.fire(claimKey(namespace, name)),
    );
  }

  async #delete(intent: CreateIntent, asset: Asset): Promise<Outcome> {
    const { drivers, clock } = this.#options;
    const outcome = await drivers.delete(intent.spec.driver, asset);
    if (outcome.type === 'deleted') return this.#record(intent, afterDeleted(intent, clock.now()));
    this.#warn(intent, 'ProvisioningCleanupFailed', messages.cleanupFailed(intent.spec.claimRef, outcome.message));
    return this.#record(intent, afterCleanupFailed(intent, outcome, clock.now()));
  }

  #record(from: VolumeIntent, object: VolumeIntent): Promise<Outcome> {
    return this.writer.perform({ do: 'update', object, from });
  }

  #warn(intent: CreateIntent, reason: string, message: string): void {
    const claim = this.#claimOf(intent);
    if (claim !== undefined) this.#options.events.record({ about: claim.object, type: 'Warning', reason, message });
  }
}
