import type { PersistentVolume, PersistentVolumeClaim } from '../../api/generated/types.ts';
import { untypedKind } from '../../api/kind.ts';
import { nodeKind } from '../../api/kinds/core/node.ts';
import { volumeIntentKind } from '../../api/kinds/mooring/volume-intent.ts';
import { persistentVolumeClaimKind } from '../../api/kinds/core/persistent-volume-claim.ts';
import { persistentVolumeKind } from '../../api/kinds/core/persistent-volume.ts';
import { storageClassKind } from '../../api/kinds/storage/storage-class.ts';
import { annotations } from '../../api/volumes/annotations.ts';
import { claimKey } from '../volumes/claim.ts';
import type { CreateOutcome, DeleteOutcome, DriverCapabilities } from '../../api/volumes/driver-capabilities.ts';
import { afterFailure, type Asset, isFor, type VolumeIntent } from '../../api/volumes/intent.ts';
import type { VolumesView } from '../volumes/view.ts';
import { changedObject, type Index, keyOf } from '../../client/informers/cache.ts';
import type { Client } from '../../client/client.ts';
import { confirmCurrent } from '../../client/controller/confirm.ts';
import type { Informers } from '../../client/informers/informers.ts';
import { defineController } from '../../client/controller/define-controller.ts';
import { type Controller, type Outcome, outcomeOf, type Source, source, type Trigger } from '../../client/controller/loop.ts';
import type { RecordedEvents } from '../../client/events/event-dedup.ts';
import { ObjectWriter } from '../../client/controller/object-writer.ts';
import type { Clock } from '../../world/world.ts';
import {
  afterCleanupFailed,
  afterCreated,
  afterDeleted,
  afterRefused,
  type CreateIntent,
  type DeleteAsset,
  type ProvisionerAction,
  type PublishVolume,
} from './actions.ts';
import { decide, lacksMigratedTo, type ProvisionerSubject, type ProvisionerSnapshot } from './decide.ts';
import { messages } from './messages.ts';

/** The drivers in this process; the set is fixed when it starts, so no source tells of new ones. Neither call rejects; both may be made again with the same arguments. */
export interface ProvisioningDrivers {
  facts(name: string): DriverCapabilities | undefined;
  create(intent: CreateIntent): Promise<CreateOutcome>;
  delete(driver: string, asset: Asset): Promise<DeleteOutcome>;
}

export interface ProvisionerOptions {
  readonly client: Client;
  readonly informers: Informers;
  /** Updated with every change of volumes and claims before this controller's sources are. */
  readonly view: VolumesView;
  readonly events: RecordedEvents;
  readonly clock: Clock;
  readonly drivers: ProvisioningDrivers;
  /** Claims for which the binder found no volume. */
  readonly provisionTrigger: Source<string>;
  /** Fired for claims for which there is a volume after all: the binder decides about them next. */
  readonly bindTrigger: Trigger<string>;
}

/**
 * Keys are 'namespace/name' of claims. The binder decides first whether a claim needs a new volume, and fires `provisionTrigger` if
 * nothing fits. Each fires the other's trigger when they disagree, because a volume came or went between their passes.
 */
export function provisioner(options: ProvisionerOptions): Controller<string, ProvisionerSubject, ProvisionerAction> {
  const { view } = options;
  const running = new Provisioner(options);
  return defineController<string, ProvisionerSubject, ProvisionerAction>({
    name: 'provisioner',
    parallelism: 16,
    sources: [
      options.provisionTrigger,
      source(persistentVolumeClaimKind, (change) => running.keysForClaimChange(keyOf(changedObject(change).metadata))),
      source(persistentVolumeKind, ({ before, after }) => [...running.keysForVolumeChange(before), ...running.keysForVolumeChange(after)]),
      source(volumeIntentKind, ({ before, after }) => [before, after].flatMap((intent) => (intent === undefined ? [] : claimOfIntent(intent)))),
      source(storageClassKind, (change) => view.waitingOfClass(changedObject(change).metadata.name)),
      source(nodeKind, ({ before, after }) => (before === undefined && after !== undefined ? running.claimsForNode(after.metadata.name) : [])),
    ],
    snapshot: (key) => running.snapshot(key),
    decide,
    onDecision({ claim }, { reasons }) {
      if (claim !== undefined && reasons.some(({ code, next }) => code === 'NothingToProvision' && next === 'binder')) options.bindTrigger.fire(claim.key);
    },
    writer: running.writer,
    events: options.events,
    actions: {
      createAsset: ({ intent }) => running.createAsset(intent),
      publishVolume: (action) => running.publish(action),
      deleteAsset: (action) => running.deleteAsset(action),
    },
  });
}

const none: readonly string[] = [];
const claimOfIntent = (intent: VolumeIntent): readonly string[] =>
  isFor(intent, 'Create') ? [claimKey(intent.spec.claimRef.namespace, intent.spec.claimRef.name)] : [];
const selectedNodeOf = ({ metadata }: PersistentVolumeClaim): readonly string[] => {
  const node = metadata.annotations?.[annotations.selectedNode];
  return node === undefined ? [] : [node];
};

class Provisioner {
  readonly #options: ProvisionerOptions;
  readonly writer: ObjectWriter;
  readonly #intentsByClaim: Index<VolumeIntent>;
  readonly #claimsByNode: Index<PersistentVolumeClaim>;
  readonly #snapshot: ProvisionerSnapshot;

  constructor(options: ProvisionerOptions) {
    const { client, informers, view, events, drivers } = options;
    this.#options = options;
    this.writer = new ObjectWriter(client, [untypedKind(persistentVolumeKind), untypedKind(persistentVolumeClaimKind), untypedKind(volumeIntentKind)]);
    this.#intentsByClaim = informers.cache(volumeIntentKind).addIndex(claimOfIntent);
    this.#claimsByNode = informers.cache(persistentVolumeClaimKind).addIndex(selectedNodeOf);
    const [classes, nodes] = [informers.cache(storageClassKind), informers.cache(nodeKind)];
    this.#snapshot = {
      lastEvent: events.lastEvent,
      volume: (name) => view.volumes.get(name),
      class: (name) => classes.get({ name }),
      bestFit: (claim, fit) => view.bestFit(claim, fit),
      hasNode: (name) => nodes.get({ name }) !== undefined,
      driver: (name) => drivers.facts(name),
    };
  }

  /** Only claims with an intent, or without their migration annotation. New work comes from the binder. */
  keysForClaimChange(key: string): readonly string[] {
    const claim = this.#options.view.claim(key);
    return this.#intentsByClaim.has(key) || (claim !== undefined && lacksMigratedTo(claim)) ? [key] : none;
  }

  keysForVolumeChange(volume: PersistentVolume | undefined): readonly string[] {
    const claim = volume?.spec.claimRef;
    if (claim === undefined) return none;
    const key = claimKey(claim.namespace ?? '', claim.name ?? '');
    return this.#intentsByClaim.has(key) ? [key] : none;
  }

  claimsForNode(name: string): readonly string[] {
    return this.#claimsByNode.get(name).map(({ metadata }) => keyOf(metadata));
  }

  snapshot(key: string): ProvisionerSubject | undefined {
    const claim = this.#options.view.claim(key);
    const intents = this.#intentsByClaim.get(key).flatMap((intent) => (isFor(intent, 'Create') ? [intent] : []));
    return claim === undefined && intents.length === 0 ? undefined : { claim, intents, snapshot: this.#snapshot };
  }

  /** The server is asked for the intent once more: a deposed leader must not create an asset that was deleted long ago. */
  async createAsset(intent: CreateIntent): Promise<Outcome> {
    const { client, drivers, clock } = this.#options;
    const current = await confirmCurrent(client, volumeIntentKind, intent);
    if (current !== 'done') return current;
    const outcome = await drivers.create(intent);
    if (outcome.type === 'created') return this.#record(intent, afterCreated(intent, outcome.asset));
    const recorded = await this.#record(intent, afterFailure(intent, outcome, clock.now()));
    this.#warn(intent, 'ProvisioningFailed', messages.failed(intent.spec.driver, intent.spec.request.storageClassName, outcome.message));
    return recorded;
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
    const { client, drivers, clock } = this.#options;
    const current = await confirmCurrent(client, volumeIntentKind, intent);
    if (current !== 'done') return current;
    const outcome = await drivers.delete(intent.spec.driver, asset);
    if (outcome.type === 'deleted') return this.#record(intent, afterDeleted(intent, clock.now()));
    this.#warn(intent, 'ProvisioningCleanupFailed', messages.cleanupFailed(intent.spec.claimRef, outcome.message));
    return this.#record(intent, afterCleanupFailed(intent, outcome, clock.now()));
  }

  #record(from: VolumeIntent, object: VolumeIntent): Promise<Outcome> {
    return this.writer.perform({ do: 'update', object, from });
  }

  #warn({ spec }: CreateIntent, reason: string, message: string): void {
    const claim = this.#options.view.claim(claimKey(spec.claimRef.namespace, spec.claimRef.name));
    if (claim?.uid === spec.claimRef.uid) this.#options.events.record({ about: claim.object, type: 'Warning', reason, message });
  }
}
