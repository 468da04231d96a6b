import type { Node, VolumeAttachment } from '../../api/generated/types.ts';
import { csiDriverKind } from '../../api/kinds/storage/csi-driver.ts';
import { nodeKind } from '../../api/kinds/core/node.ts';
import { persistentVolumeClaimKind } from '../../api/kinds/core/persistent-volume-claim.ts';
import { persistentVolumeKind } from '../../api/kinds/core/persistent-volume.ts';
import { volumeAttachmentKind } from '../../api/kinds/storage/volume-attachment.ts';
import { podKind } from '../../api/kinds/pod/pod.ts';
import type { Change } from '../../client/informers/cache.ts';
import type { Client } from '../../client/client.ts';
import type { Informers } from '../../client/informers/informers.ts';
import { type ActionHandlers, defineController } from '../../client/controller/define-controller.ts';
import { type Controller, type Outcome, outcomeOf, type Source, source } from '../../client/controller/loop.ts';
import { RecentMap } from '../../client/recent-map.ts';
import type { RecordedEvents } from '../../client/events/event-dedup.ts';
import type { Clock } from '../../world/world.ts';
import type { AttachDetachAction } from './actions.ts';
import { decide, isNeeded } from './decide.ts';
import { attachFailed, attachmentRefused } from './messages.ts';
import { VolumesAttachedUpdater } from './node-status-updater.ts';
import { AttachTargets, type Sha256 } from './attach-targets.ts';
import type { AttachDetachSnapshot } from './snapshot.ts';
import { type CachedSnapshot, AttachDetachView } from './view.ts';
import { keysForAttachmentChange, keysForClaimChange, keysForDriverChange, keysForNodeChange, keysForPodChange, keysForVolumeChange } from './sources.ts';

export interface AttachDetachOptions {
  readonly client: Client;
  readonly informers: Informers;
  readonly events: RecordedEvents;
  readonly clock: Clock;
  readonly sha256: Sha256;
}

/**
 * Volumes are attached to the nodes whose pods need them, and detached from all others. Keys are names of VolumeAttachments:
 * one for each volume on each node.
 *
 * Two loops share the work, one for targets that are needed and one for all others, each with its own parallelism: a thousand
 * detaches keep no attach waiting, nor the other way round.
 *
 * The driver's CSI attacher does the attaching and detaching itself: an external one, or `storage/csi-attacher` for the drivers of this
 * process.
 */
export function attachDetach(options: AttachDetachOptions): {
  readonly attacher: Controller<string, AttachDetachSnapshot, AttachDetachAction>;
  readonly detacher: Controller<string, AttachDetachSnapshot, AttachDetachAction>;
} {
  const shared = new AttachDetachController(options);
  const loop = (name: string, isMine: (snapshot: AttachDetachSnapshot) => boolean): Controller<string, AttachDetachSnapshot, AttachDetachAction> =>
    defineController<string, AttachDetachSnapshot, AttachDetachAction>({
      name,
      parallelism: 32,
      sources: shared.sources(),
      snapshot(id) {
        const snapshot = shared.snapshot(id);
        return snapshot !== undefined && isMine(snapshot) ? snapshot : undefined;
      },
      decide,
      revalidate: true,
      events: options.events,
      actions: shared.actions,
    });
  return { attacher: loop('attacher', isNeeded), detacher: loop('detacher', (snapshot) => !isNeeded(snapshot)) };
}

/** The state that both loops share, and their actions. */
class AttachDetachController {
  readonly #options: AttachDetachOptions;
  readonly #view: AttachDetachView;
  readonly #nodeStatus: VolumesAttachedUpdater;
  /** The volumesInUse of nodes when they were deleted: the machine may still be running. */
  readonly #lastInUse = new RecentMap<string, readonly string[]>(rememberedNodes);
  readonly #unwantedSince = new Map<string, number>();
  /** Targets, or volumes that can be attached only once, about which a write is in flight. */
  readonly #inFlight = new Set<string>();

  constructor(options: AttachDetachOptions) {
    this.#options = options;
    this.#view = new AttachDetachView(options.informers, new AttachTargets(options.sha256));
    this.#nodeStatus = new VolumesAttachedUpdater(options.client, this.#view.nodes);
    this.#view.nodes.subscribe((change) => this.#observeNode(change));
  }

  sources(): readonly Source<string>[] {
    const view = this.#view;
    return [
      source(podKind, (change) => keysForPodChange(view, change)),
      source(persistentVolumeClaimKind, (change) => keysForClaimChange(view, change)),
      source(persistentVolumeKind, (change) => keysForVolumeChange(view, change)),
      source(volumeAttachmentKind, (change) => keysForAttachmentChange(view, change)),
      source(nodeKind, (change) => keysForNodeChange(view, change)),
      source(csiDriverKind, (change) => keysForDriverChange(view, change)),
    ];
  }

  snapshot(id: string): AttachDetachSnapshot | undefined {
    const target = this.#view.target(id);
    if (target === undefined) return undefined;
    const cached = this.#view.snapshot(target, this.#lastInUse.get(target.node) ?? []);
    return { ...cached, lastEvent: this.#options.events.lastEvent, unwantedSince: this.#unwanted(cached) };
  }

  /** After a restart the six minutes begin again: a volume is never detached by force too early. */
  #unwanted(cached: CachedSnapshot): number | undefined {
    const { id } = cached.target;
    const isThere = cached.attachment.state !== 'none' || (cached.node.state === 'known' && cached.node.listed);
    if (isThere && !isNeeded(cached)) {
      const since = this.#unwantedSince.get(id) ?? this.#options.clock.now();
      this.#unwantedSince.set(id, since);
      return since;
    }
    this.#unwantedSince.delete(id);
    if (!isThere && !isNeeded(cached)) this.#view.targets.forget(id);
    return undefined;
  }

  readonly actions: ActionHandlers<string, AttachDetachSnapshot, AttachDetachAction> = {
    'create-attachment': ({ object }, _, snapshot) => this.#alone(snapshot, () => this.#create(object, snapshot)),
    'delete-attachment': ({ object }, _, snapshot) => this.#alone(snapshot, () => this.#delete(object.metadata)),
    'report-attached': (_action, _, snapshot) =>
      this.#alone(snapshot, () => this.#nodeStatus.update(snapshot.target.node, { type: 'attached', volume: snapshot.target.uniqueName })),
    'report-detached': ({ evenIfInUse }, _, snapshot) =>
      this.#alone(snapshot, () => this.#nodeStatus.update(snapshot.target.node, { type: 'detached', volume: snapshot.target.uniqueName, evenIfInUse })),
    'confirm-attached': (_action, id, snapshot) => this.#alone(snapshot, () => this.#confirmAttached(id)),
    'confirm-unused': (_action, _, snapshot) => this.#alone(snapshot, () => this.#confirmUnused(snapshot.target.node, snapshot.target.uniqueName)),
  };

  /** One write at a time about a target, or about a volume that only one node can have, whichever loop performs it. */
  async #alone({ target }: AttachDetachSnapshot, write: () => Promise<Outcome>): Promise<Outcome> {
    const lock = this.#view.isExclusive(target) ? target.uniqueName : target.id;
    if (this.#inFlight.has(lock)) return 'conflict';
    this.#inFlight.add(lock);
    try {
      return await write();
    } finally {
      this.#inFlight.delete(lock);
    }
  }

  /** If the server refuses the attachment, the pods get an event, at every try. */
  async #create(object: VolumeAttachment, { desiredBy }: AttachDetachSnapshot): Promise<Outcome> {
    const created = await this.#options.client.create(volumeAttachmentKind, object);
    const outcome = outcomeOf(created);
    if (!created.ok && created.reason !== 'unreachable' && typeof outcome === 'object') {
      for (const { pod, volume } of desiredBy) {
        const message = attachFailed(volume.metadata.name ?? '', attachmentRefused(created.error.message));
        this.#options.events.record({ about: pod, type: 'Warning', reason: 'FailedAttachVolume', message });
      }
    }
    return outcome;
  }

  async #delete({ name = '', uid }: { readonly name?: string; readonly uid?: string }): Promise<Outcome> {
    const deleted = await this.#options.client.delete(volumeAttachmentKind, { name }, uid === undefined ? {} : { preconditions: { uid } });
    return !deleted.ok && deleted.reason === 'notFound' ? 'done' : outcomeOf(deleted);
  }

  async #confirmAttached(name: string): Promise<Outcome> {
    const attachment = await this.#options.client.get(volumeAttachmentKind, { name });
    if (!attachment.ok) return outcomeOf(attachment);
    const { metadata, status } = attachment.value;
    return status.attached && metadata.deletionTimestamp === undefined ? 'done' : { retry: 'the volume is being detached, which the caches do not show yet' };
  }

  async #confirmUnused(name: string, volume: string): Promise<Outcome> {
    const node = await this.#options.client.get(nodeKind, { name });
    if (!node.ok) return node.reason === 'notFound' ? 'done' : outcomeOf(node);
    return node.value.status.volumesInUse?.includes(volume) === true ? { retry: 'the node has the volume mounted, which the caches do not show yet' } : 'done';
  }

  #observeNode({ before, after }: Change<Node>): void {
    if (after === undefined) this.#lastInUse.set(before?.metadata.name ?? '', before?.status.volumesInUse ?? []);
  }
}

const rememberedNodes = 10_000;
