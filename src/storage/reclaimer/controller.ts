import type { Event, PersistentVolume, PersistentVolumeSource, Pod, VolumeAttachment } from '../../api/generated/types.ts';
import { untypedKind } from '../../api/kind.ts';
import { nodeKind } from '../../api/kinds/core/node.ts';
import { eventKind } from '../../api/kinds/core/event.ts';
import { volumeIntentKind } from '../../api/kinds/mooring/volume-intent.ts';
import { persistentVolumeClaimKind } from '../../api/kinds/core/persistent-volume-claim.ts';
import { persistentVolumeKind } from '../../api/kinds/core/persistent-volume.ts';
import { volumeAttachmentKind } from '../../api/kinds/storage/volume-attachment.ts';
import { podKind } from '../../api/kinds/pod/pod.ts';
import type { DeleteOutcome, DriverCapabilities } from '../../api/volumes/driver-capabilities.ts';
import { annotations } from '../../api/volumes/annotations.ts';
import { afterFailure, type SecretName, volumeNameOf } from '../../api/volumes/intent.ts';
import { type ChangingDrivers, driverSource } from '../volumes/driver-changes.ts';
import { claimsOfPod, hasEnded } from '../volumes/pods.ts';
import type { VolumesView } from '../volumes/view.ts';
import type { Stored } from '../../api/stored.ts';
import { type Cache, changedObject, type Index, keyOf } from '../../client/informers/cache.ts';
import type { Client } from '../../client/client.ts';
import { confirmCurrent, confirmGone } from '../../client/controller/confirm.ts';
import { Informer } from '../../client/informers/informer.ts';
import type { Informers } from '../../client/informers/informers.ts';
import { defineController } from '../../client/controller/define-controller.ts';
import { BackgroundCalls } from '../../client/controller/background-calls.ts';
import { type Controller, type Outcome, outcomeOf, type Source, source, Trigger } from '../../client/controller/loop.ts';
import type { RecordedEvents } from '../../client/events/event-dedup.ts';
import { ObjectWriter } from '../../client/controller/object-writer.ts';
import type { World } from '../../world/world.ts';
import {
  afterDeleted,
  afterRecycleFailed,
  afterStarted,
  type ConfirmScrubbed,
  type DeleteIntent,
  type ReclaimerAction,
  type StartRecyclerPod,
} from './actions.ts';
import { decide, isSettled, type ReclaimerSubject, type ReclaimerSnapshot } from './decide.ts';
import { recyclerPodName, recyclerNamespace, volumeOfRecyclerPod } from './recycler-pod.ts';

/** The drivers in this process. `delete` does not reject, and may be called again. */
export interface DeletingDrivers extends ChangingDrivers {
  facts(name: string): DriverCapabilities | undefined;
  /** `secret`: whose data the call carries. */
  delete(driver: string, source: PersistentVolumeSource, secret?: SecretName): Promise<DeleteOutcome>;
}

export interface ReclaimerOptions {
  readonly client: Client;
  readonly informers: Informers;
  readonly world: World;
  /** Updated with every change of volumes and claims before this controller's sources are. */
  readonly view: VolumesView;
  readonly events: RecordedEvents;
  readonly drivers: DeletingDrivers;
  /** The names in a directory of a node; undefined: this process does not see the node's files. Absent: it sees none. */
  readonly listDirectory?: ((node: string, path: string) => Promise<readonly string[]> | undefined) | undefined;
  /** After so many failed recycler pods a volume is left to the administrator; 3 by default. */
  readonly maxRecycles?: number;
}

/** Keys are names of volumes. */
export function reclaimer(options: ReclaimerOptions): Controller<string, ReclaimerSubject, ReclaimerAction> {
  const { view, informers } = options;
  const podEvents = new RecyclerPodEvents(options);
  const running = new Reclaimer(options, podEvents);
  return defineController<string, ReclaimerSubject, ReclaimerAction>({
    name: 'reclaimer',
    parallelism: 16,
    sources: [
      source(persistentVolumeKind, (change) => running.keysForVolumeChange(changedObject(change).metadata.name)),
      source(volumeIntentKind, (change) => [changedObject(change).metadata.name]),
      driverSource(options.drivers, (driver) => running.volumesOfDriver(driver)),
      running.trigger,
      source(persistentVolumeClaimKind, (change) => running.keysForClaimChange(keyOf(changedObject(change).metadata))),
      source(volumeAttachmentKind, ({ after, before }) => (after === undefined && before !== undefined ? volumeOfAttachment(before) : [])),
      source(podKind, (change) => volumesOfPod(changedObject(change), view)),
      podEvents,
    ],
    snapshot: (key) => {
      const volume = view.volumes.get(key);
      return volume === undefined && informers.cache(volumeIntentKind).get({ name: key }) === undefined
        ? undefined
        : { name: key, volume, snapshot: running.snapshot };
    },
    decide,
    writer: running.writer,
    events: options.events,
    actions: {
      confirmClaimGone: ({ claim }) => confirmGone(options.client, persistentVolumeClaimKind, claim),
      deleteAsset: ({ intent }) => running.deleteAsset(intent),
      startRecyclerPod: (action) => running.startRecyclerPod(action),
      confirmScrubbed: (action) => running.confirmScrubbed(action),
    },
  });
}

const volumeOfAttachment = ({ spec }: VolumeAttachment): readonly string[] =>
  spec.source.persistentVolumeName === undefined ? [] : [spec.source.persistentVolumeName];

/** For a recycler pod its volume; for another pod, the volumes of its claims. */
function volumesOfPod(pod: Stored<Pod>, view: VolumesView): readonly string[] {
  const recycled = pod.metadata.namespace === recyclerNamespace ? volumeOfRecyclerPod(pod.metadata.name) : undefined;
  if (recycled !== undefined) return [recycled];
  return claimsOfPod(pod).flatMap((key) => Array.from(view.volumes.withClaimRef(key), (volume) => volume.name));
}

/** Events about pods in the recycler pods' namespace; not all events, of which there may be very many. */
class RecyclerPodEvents implements Source<string> {
  readonly #informer: Informer<Event>;
  readonly #byVolume: Index<Event>;

  constructor({ client, world }: Pick<ReclaimerOptions, 'client' | 'world'>) {
    this.#informer = new Informer({ client, world, kind: eventKind, selection: { namespace: recyclerNamespace, fieldSelector: 'involvedObject.kind=Pod' } });
    this.#byVolume = this.#informer.cache.addIndex(volumeOfEvent);
  }

  about(volumeName: string): readonly Event[] {
    return this.#byVolume.get(volumeName);
  }

  subscribe(_: Informers, add: (key: string) => void): () => void {
    const cancel = this.#informer.cache.subscribe(({ after }) => {
      for (const name of after === undefined ? [] : volumeOfEvent(after)) add(name);
    });
    this.#informer.start();
    return () => {
      cancel();
      this.#informer.stop();
    };
  }
}

function volumeOfEvent({ involvedObject }: Event): readonly string[] {
  const name = volumeOfRecyclerPod(involvedObject.name ?? '');
  return name === undefined ? [] : [name];
}

/** Volumes whose provisioner may have to delete them. */
const releasedBy = ({ metadata, status }: PersistentVolume): readonly string[] => {
  const provisioner = metadata.annotations?.[annotations.provisionedBy];
  return provisioner !== undefined && (status.phase === 'Released' || status.phase === 'Failed') ? [provisioner] : [];
};

class Reclaimer {
  readonly snapshot: ReclaimerSnapshot;
  /** Fired by answers of drivers. */
  readonly trigger = new Trigger<string>();
  readonly #calls: BackgroundCalls;
  readonly #released: Index<PersistentVolume>;
  readonly #options: ReclaimerOptions;
  readonly writer: ObjectWriter;

  constructor(options: ReclaimerOptions, podEvents: RecyclerPodEvents) {
    const { client, informers, view, events, drivers } = options;
    this.#options = options;
    this.#calls = new BackgroundCalls(options.world.log);
    this.#released = informers.cache(persistentVolumeKind).addIndex(releasedBy);
    this.writer = new ObjectWriter(client, [untypedKind(persistentVolumeKind), untypedKind(podKind), untypedKind(volumeIntentKind)]);
    const [intents, pods] = [informers.cache(volumeIntentKind), informers.cache(podKind)];
    const nodes = informers.cache(nodeKind);
    const podsByClaim = pods.addIndex(claimsOfPod);
    const attachments = informers.cache(volumeAttachmentKind).addIndex(volumeOfAttachment);
    this.snapshot = {
      lastEvent: events.lastEvent,
      maxRecycles: options.maxRecycles ?? 3,
      claim: (key) => view.claim(key),
      intent: (name) => intents.get({ name }),
      attachedTo: (name) =>
        attachments
          .get(name)
          .map(({ spec }) => spec.nodeName)
          .sort(),
      driver: (name) => drivers.facts(name),
      recyclerPod: (name) => recyclerPodIn(pods, name),
      hasNodes: () => nodes.size > 0,
      recyclerPodEvents: (name) => podEvents.about(name),
      podsUsing: (key) =>
        podsByClaim
          .get(key)
          .flatMap((pod) => (hasEnded(pod) ? [] : keyOf(pod.metadata)))
          .sort(),
    };
  }

  keysForVolumeChange(name: string): readonly string[] {
    return isSettled({ name, volume: this.#options.view.volumes.get(name), snapshot: this.snapshot }) ? none : [name];
  }

  volumesOfDriver(driver: string): readonly string[] {
    return this.#released.get(driver).map(({ metadata }) => metadata.name);
  }

  *keysForClaimChange(key: string): Generator<string> {
    for (const { name } of this.#options.view.volumes.withClaimRef(key)) yield* this.keysForVolumeChange(name);
  }

  /** The server is asked for the intent once more: the deletion may have been cancelled. */
  async deleteAsset(intent: DeleteIntent): Promise<Outcome> {
    const { client, drivers } = this.#options;
    const current = await confirmCurrent(client, volumeIntentKind, intent);
    if (current !== 'done') return current;
    if (drivers.facts(intent.spec.driver)?.csi === undefined) return this.#delete(intent);
    const name = volumeNameOf(intent);
    return this.#calls.start(
      name,
      () => this.#delete(intent),
      () => this.trigger.fire(name),
    );
  }

  async #delete(intent: DeleteIntent): Promise<Outcome> {
    const { drivers, world } = this.#options;
    const { driver, source, secret } = intent.spec;
    const outcome = await drivers.delete(driver, source, secret);
    const object = outcome.type === 'deleted' ? afterDeleted(intent) : afterFailure(intent, outcome, world.clock.now());
    return this.writer.perform({ do: 'update', object, from: intent });
  }

  async startRecyclerPod({ intent, pod }: StartRecyclerPod): Promise<Outcome> {
    const created = await this.#options.client.create(podKind, pod);
    return created.ok ? this.writer.perform({ do: 'update', object: afterStarted(intent, created.value), from: intent }) : outcomeOf(created);
  }

  async confirmScrubbed({ intent, pod, directory }: ConfirmScrubbed): Promise<Outcome> {
    const { client, world, listDirectory } = this.#options;
    const current = await confirmCurrent(client, podKind, pod);
    if (current !== 'done' || directory === undefined) return current;
    const left = await listDirectory?.(pod.spec.nodeName ?? '', directory);
    if (left === undefined || left.length === 0) return 'done';
    const names = left.slice(0, shownNames).join(', ');
    const message = `Recycle failed: failed to recycle volume: recycler pod succeeded, but ${directory} still has ${left.length} entries: ${names}`;
    const recorded = await this.writer.perform({ do: 'update', object: afterRecycleFailed(intent, message, world.clock.now()), from: intent });
    return recorded === 'done' ? 'conflict' : recorded;
  }
}

const none: readonly string[] = [];

const shownNames = 3;

const recyclerPodIn = (pods: Cache<Pod>, volumeName: string): Pod | undefined => pods.get({ namespace: recyclerNamespace, name: recyclerPodName(volumeName) });
