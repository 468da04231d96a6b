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
import { type Controller, type Outcome, outcomeOf, type Source, source } from '../../client/controller/loop.ts';
import { RecentMap } from '../../client/recent-map.ts';
import type { EventRecorder } from '../../client/events/event-recorder.ts';
import type { Clock } from '../../world/world.ts';
import type { AttachDetachAction, RecordAttachEvent } from './actions.ts';
import { decide, isNeeded } from './decide.ts';
import { attachFailed, attachmentRefused } from './messages.ts';
import { VolumesAttachedUpdater } from './node-status-updater.ts';
import { AttachTargets, type Sha256 } from './attach-targets.ts';
import type { AttachDetachSnapshot, RecordedAttachEvent } from './snapshot.ts';
import { type CachedSnapshot, AttachDetachView } from './view.ts';
import { keysForAttachmentChange, keysForClaimChange, keysForDriverChange, keysForNodeChange, keysForPodChange, keysForVolumeChange } from './sources.ts';

export interface AttachDetachOptions {
  readonly client: Client;
  readonly informers: Informers;
  readonly recorder: EventRecorder;
  readonly clock: Clock;
  readonly sha256: Sha256;
}

/**
 * Volumes are attached to the nodes whose pods need them, and detached from all others. Keys are names of VolumeAttachments:
 * one for each volume on each node.
 *
 * Two loops share the work, one for pairs that are needed and one for all others, each with a limit of its own: a thousand
 * detaches keep no attach waiting, nor the other way round.
 *
 * Attaching and detaching itself is done by whoever looks after the VolumeAttachments of a driver, in another process or in
 * this one: that is where drivers of this process come in.
 */
export function attachDetach(options: AttachDetachOptions): {
  readonly attacher: Controller<string, AttachDetachSnapshot, AttachDetachAction>;
  readonly detacher: Controller<string, AttachDetachSnapshot, AttachDetachAction>;
} {
  const desk = new AttachDetachController(options);
  const loop = (name: string, isMine: (situation: AttachDetachSnapshot) => boolean): Controller<string, AttachDetachSnapshot, AttachDetachAction> => ({
    name,
    parallelism: 32,
    sources: desk.sources(),
    snapshot(id) {
      const situation = desk.snapshot(id);
      return situation !== undefined && isMine(situation) ? situation : undefined;
    },
    decide,
    perform: (action, id) => desk.perform(action, id),
  });
  return { attacher: loop('attacher', isNeeded), detacher: loop('detacher', (situation) => !isNeeded(situation)) };
}

/** What both loops know and do. */
class AttachDetachController {
  readonly #options: AttachDetachOptions;
  readonly #view: AttachDetachView;
  readonly #nodeStatus: VolumesAttachedUpdater;
  readonly #lastEvents = new RecentMap<string, RecordedAttachEvent>(remembered);
  /** What nodes called in use when they were deleted: they may be running all the same. */
  readonly #lastInUse = new RecentMap<string, readonly string[]>(remembered);
  readonly #unwantedSince = new Map<string, number>();
  /** Pairs, or volumes that can be attached only once, about which something is being written. */
  readonly #underWay = new Set<string>();

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
    const pair = this.#view.target(id);
    if (pair === undefined) return undefined;
    const seen = this.#view.snapshot(pair, this.#lastInUse.get(pair.node) ?? []);
    const told = new Map<string, RecordedAttachEvent>();
    for (const { pod } of seen.desiredBy) {
      const last = this.#lastEvents.get(eventKey(pod.metadata.uid, pair.uniqueName));
      if (last !== undefined) told.set(pod.metadata.uid ?? '', last);
    }
    return { ...seen, lastEvents: told, unwantedSince: this.#unwanted(seen) };
  }

  /** After a new start the six minutes begin again: a node is never robbed too early. */
  #unwanted(seen: CachedSnapshot): number | undefined {
    const { id } = seen.target;
    const isThere = seen.attachment.state !== 'none' || (seen.node.state === 'known' && seen.node.listed);
    if (isThere && !isNeeded(seen)) {
      const since = this.#unwantedSince.get(id) ?? this.#options.clock.now();
      this.#unwantedSince.set(id, since);
      return since;
    }
    this.#unwantedSince.delete(id);
    if (!isThere && !isNeeded(seen)) this.#view.targets.forget(id);
    return undefined;
  }

  /**
   * Between two actions of a list the world goes on: a pod may come back to a volume that is about to be detached. So
   * whatever is done is decided once more just before, from caches that have our own writes; and there is one write at a
   * time about a pair, or about a volume that only one node can have, whichever loop wants it.
   */
  async perform(action: AttachDetachAction, id: string): Promise<Outcome> {
    if (action.do === 'tell') return this.#recordEvent(action);
    const situation = this.snapshot(id);
    const current = situation === undefined ? undefined : decide(situation, this.#options.clock.now()).actions.find((each) => each.do === action.do);
    if (situation === undefined || current === undefined || current.do === 'tell') return 'conflict';
    const turn = this.#view.isExclusive(situation.target) ? situation.target.uniqueName : id;
    if (this.#underWay.has(turn)) return 'conflict';
    this.#underWay.add(turn);
    try {
      return await this.#write(current, situation);
    } finally {
      this.#underWay.delete(turn);
    }
  }

  async #write(action: Exclude<AttachDetachAction, RecordAttachEvent>, situation: AttachDetachSnapshot): Promise<Outcome> {
    const { id, node, uniqueName: volume } = situation.target;
    switch (action.do) {
      case 'create-attachment':
        return this.#create(action.object, situation);
      case 'delete-attachment':
        return this.#delete(action.object.metadata);
      case 'report-attached':
        return this.#nodeStatus.update(node, { type: 'attached', volume });
      case 'report-detached':
        return this.#nodeStatus.update(node, { type: 'detached', volume, evenIfInUse: action.evenIfInUse });
      case 'confirm-attached':
        return this.#confirmAttached(id);
      case 'confirm-unused':
        return this.#confirmUnused(node, volume);
    }
  }

  /** A server that will not have the attachment is the pods' trouble: they are told, at every try. */
  async #create(object: VolumeAttachment, { desiredBy: wants }: AttachDetachSnapshot): Promise<Outcome> {
    const created = await this.#options.client.create(volumeAttachmentKind, object);
    const outcome = outcomeOf(created);
    if (!created.ok && created.reason !== 'unreachable' && typeof outcome === 'object') {
      for (const { pod, volume } of wants) {
        const message = attachFailed(volume.metadata.name ?? '', attachmentRefused(created.error.message));
        this.#options.recorder.record(pod, { type: 'Warning', reason: 'FailedAttachVolume', message });
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
    return status.attached && metadata.deletionTimestamp === undefined ? 'done' : { retry: 'it is being detached, which the caches do not show yet' };
  }

  async #confirmUnused(name: string, volume: string): Promise<Outcome> {
    const node = await this.#options.client.get(nodeKind, { name });
    if (!node.ok) return node.reason === 'notFound' ? 'done' : outcomeOf(node);
    return node.value.status.volumesInUse?.includes(volume) === true ? { retry: 'the node has it mounted, which the caches do not show yet' } : 'done';
  }

  #recordEvent({ pod, event: report, remember: { volume, what, at } }: RecordAttachEvent): Outcome {
    this.#options.recorder.record(pod, report);
    this.#lastEvents.set(eventKey(pod.metadata.uid, volume), { what, at });
    return 'done';
  }

  #observeNode({ before, after }: Change<Node>): void {
    if (after === undefined) this.#lastInUse.set(before?.metadata.name ?? '', before?.status.volumesInUse ?? []);
  }
}

const eventKey = (podUid: string | undefined, volume: string): string => `${podUid ?? ''} ${volume}`;

const remembered = 10_000;
