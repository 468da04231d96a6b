import type { Node, VolumeAttachment } from '../../api/generated/types.ts';
import { csiDriverKind } from '../../api/kinds/csi-driver.ts';
import { nodeKind } from '../../api/kinds/node.ts';
import { persistentVolumeClaimKind } from '../../api/kinds/persistent-volume-claim.ts';
import { persistentVolumeKind } from '../../api/kinds/persistent-volume.ts';
import { volumeAttachmentKind } from '../../api/kinds/volume-attachment.ts';
import { podKind } from '../../api/kinds/workloads/pod.ts';
import type { Change } from '../../machinery/cache.ts';
import type { Client } from '../../machinery/client.ts';
import type { Informers } from '../../machinery/informers.ts';
import { type Controller, type Outcome, outcomeOf, type Source, source } from '../../machinery/loop.ts';
import { RecentMap } from '../../machinery/recent-map.ts';
import type { Recorder } from '../../machinery/recorder.ts';
import type { Clock } from '../../world/world.ts';
import type { Action, Tell } from './actions.ts';
import { decide, isNeeded } from './decide.ts';
import { attachFailed, attachmentRefused } from './messages.ts';
import { NodeReports } from './node-reports.ts';
import { Pairs, type Sha256 } from './pairs.ts';
import type { Situation, Told } from './situation.ts';
import { type Seen, View } from './view.ts';
import { wokenByAttachment, wokenByClaim, wokenByDriver, wokenByNode, wokenByPod, wokenByVolume } from './wakes.ts';

export interface AttachDetachOptions {
  readonly client: Client;
  readonly informers: Informers;
  readonly recorder: Recorder;
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
  readonly attacher: Controller<string, Situation, Action>;
  readonly detacher: Controller<string, Situation, Action>;
} {
  const desk = new Desk(options);
  const loop = (name: string, isMine: (situation: Situation) => boolean): Controller<string, Situation, Action> => ({
    name,
    parallelism: 32,
    sources: desk.sources(),
    snapshot(id) {
      const situation = desk.situation(id);
      return situation !== undefined && isMine(situation) ? situation : undefined;
    },
    decide,
    perform: (action, id) => desk.perform(action, id),
  });
  return { attacher: loop('attacher', isNeeded), detacher: loop('detacher', (situation) => !isNeeded(situation)) };
}

/** What both loops know and do. */
class Desk {
  readonly #options: AttachDetachOptions;
  readonly #view: View;
  readonly #reports: NodeReports;
  readonly #told = new RecentMap<string, Told>(remembered);
  /** What nodes called in use when they were deleted: they may be running all the same. */
  readonly #lastInUse = new RecentMap<string, readonly string[]>(remembered);
  readonly #unwantedSince = new Map<string, number>();
  /** Pairs, or volumes that can be attached only once, about which something is being written. */
  readonly #underWay = new Set<string>();

  constructor(options: AttachDetachOptions) {
    this.#options = options;
    this.#view = new View(options.informers, new Pairs(options.sha256));
    this.#reports = new NodeReports(options.client, this.#view.nodes);
    this.#view.nodes.subscribe((change) => this.#followNode(change));
  }

  sources(): readonly Source<string>[] {
    const view = this.#view;
    return [
      source(podKind, (change) => wokenByPod(view, change)),
      source(persistentVolumeClaimKind, (change) => wokenByClaim(view, change)),
      source(persistentVolumeKind, (change) => wokenByVolume(view, change)),
      source(volumeAttachmentKind, (change) => wokenByAttachment(view, change)),
      source(nodeKind, (change) => wokenByNode(view, change)),
      source(csiDriverKind, (change) => wokenByDriver(view, change)),
    ];
  }

  situation(id: string): Situation | undefined {
    const pair = this.#view.identify(id);
    if (pair === undefined) return undefined;
    const seen = this.#view.look(pair, this.#lastInUse.get(pair.node) ?? []);
    const told = new Map<string, Told>();
    for (const { pod } of seen.wants) {
      const last = this.#told.get(tellingKey(pod.metadata.uid, pair.uniqueName));
      if (last !== undefined) told.set(pod.metadata.uid ?? '', last);
    }
    return { ...seen, told, unwantedSince: this.#unwanted(seen) };
  }

  /** After a new start the six minutes begin again: a node is never robbed too early. */
  #unwanted(seen: Seen): number | undefined {
    const { id } = seen.pair;
    const isThere = seen.attachment.state !== 'none' || (seen.node.state === 'known' && seen.node.listed);
    if (isThere && !isNeeded(seen)) {
      const since = this.#unwantedSince.get(id) ?? this.#options.clock.now();
      this.#unwantedSince.set(id, since);
      return since;
    }
    this.#unwantedSince.delete(id);
    if (!isThere && !isNeeded(seen)) this.#view.pairs.forget(id);
    return undefined;
  }

  /**
   * Between two actions of a list the world goes on: a pod may come back to a volume that is about to be detached. So
   * whatever is done is decided once more just before, from caches that have our own writes; and there is one write at a
   * time about a pair, or about a volume that only one node can have, whichever loop wants it.
   */
  async perform(action: Action, id: string): Promise<Outcome> {
    if (action.do === 'tell') return this.#tell(action);
    const situation = this.situation(id);
    const current = situation === undefined ? undefined : decide(situation, this.#options.clock.now()).actions.find((each) => each.do === action.do);
    if (situation === undefined || current === undefined || current.do === 'tell') return 'conflict';
    const turn = this.#view.isExclusive(situation.pair) ? situation.pair.uniqueName : id;
    if (this.#underWay.has(turn)) return 'conflict';
    this.#underWay.add(turn);
    try {
      return await this.#write(current, situation);
    } finally {
      this.#underWay.delete(turn);
    }
  }

  async #write(action: Exclude<Action, Tell>, situation: Situation): Promise<Outcome> {
    const { id, node, uniqueName: volume } = situation.pair;
    switch (action.do) {
      case 'create-attachment':
        return this.#create(action.object, situation);
      case 'delete-attachment':
        return this.#delete(action.object.metadata);
      case 'report-attached':
        return this.#reports.send(node, { type: 'attached', volume });
      case 'report-detached':
        return this.#reports.send(node, { type: 'detached', volume, evenIfInUse: action.evenIfInUse });
      case 'confirm-attached':
        return this.#confirmAttached(id);
      case 'confirm-unused':
        return this.#confirmUnused(node, volume);
    }
  }

  /** A server that will not have the attachment is the pods' trouble: they are told, at every try. */
  async #create(object: VolumeAttachment, { wants }: Situation): Promise<Outcome> {
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

  #tell({ pod, report, remember: { volume, what, at } }: Tell): Outcome {
    this.#options.recorder.record(pod, report);
    this.#told.set(tellingKey(pod.metadata.uid, volume), { what, at });
    return 'done';
  }

  #followNode({ before, after }: Change<Node>): void {
    if (after === undefined) this.#lastInUse.set(before?.metadata.name ?? '', before?.status.volumesInUse ?? []);
  }
}

const tellingKey = (podUid: string | undefined, volume: string): string => `${podUid ?? ''} ${volume}`;

const remembered = 10_000;
