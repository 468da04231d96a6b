import type { PersistentVolume, VolumeAttachment } from '../../api/generated/types.ts';
import { erased } from '../../api/kind.ts';
import { csiNodeKind } from '../../api/kinds/csi-node.ts';
import { nodeKind } from '../../api/kinds/node.ts';
import { persistentVolumeKind } from '../../api/kinds/persistent-volume.ts';
import { volumeAttachmentKind } from '../../api/kinds/volume-attachment.ts';
import { csiSourceOf } from '../../domain/csi-translation.ts';
import type { DriverFacts, PublishOutcome, UnpublishOutcome } from '../../domain/volumes/driver-facts.ts';
import type { Placement, PublishRequest } from '../../domain/volumes/placement.ts';
import type { DriverAnswer } from '../../drivers/contract.ts';
import type { Client } from '../../machinery/client.ts';
import { confirmCurrent } from '../../machinery/confirm.ts';
import type { Informers } from '../../machinery/informers.ts';
import { Bell, type Controller, type Outcome, outcomeOf, source } from '../../machinery/loop.ts';
import { ObjectWriter } from '../../machinery/writes.ts';
import type { World } from '../../world/world.ts';
import type { Action, Attempt, Publish, Unpublish, Withdraw } from './actions.ts';
import { isHeld } from './attachment-edits.ts';
import { decide, type Snapshot } from './decide.ts';
import { Verification } from './verification.ts';
import { type Key, type Sha256, View } from './view.ts';

/** The drivers in this process. No call rejects, and each may be made again. */
export interface AttachingDrivers {
  facts(name: string): DriverFacts | undefined;
  publish(driver: string, request: PublishRequest): Promise<PublishOutcome>;
  unpublish(driver: string, placement: Placement): Promise<UnpublishOutcome>;
  /** The drivers that can say what they have attached. */
  verifiable(): readonly string[];
  published(driver: string): Promise<DriverAnswer<readonly Placement[]>>;
}

export interface VolumeAttacherOptions {
  readonly client: Client;
  readonly informers: Informers;
  readonly world: World;
  readonly drivers: AttachingDrivers;
  readonly sha256: Sha256;
}

const keyOf = ({ metadata }: VolumeAttachment): Key => `va/${metadata.name ?? ''}`;

/** The attachments of drivers in this process; all others are left to those who attach them. */
export function volumeAttacher(options: VolumeAttacherOptions): Controller<Key, Snapshot, Action> {
  const attacher = new VolumeAttacher(options);
  const { view } = attacher;
  return {
    name: 'volume-attacher',
    parallelism: 32,
    sources: [
      attacher.bell,
      attacher.verification,
      source(volumeAttachmentKind, ({ before, after }) => attacher.wokenByAttachment(after ?? before, after === undefined)),
      source(persistentVolumeKind, ({ before, after }) => attacher.wokenByVolume(after ?? before)),
      source(csiNodeKind, ({ before, after }) => view.attachmentsOnNode.get((after ?? before)?.metadata.name ?? '').map(keyOf)),
    ],
    snapshot: (key) => attacher.snapshot(key),
    decide,
    perform: (action) => attacher.perform(action),
  };
}

class VolumeAttacher {
  readonly view: View;
  readonly verification: Verification;
  /** For answers of drivers: no object changes because of them. */
  readonly bell = new Bell<Key>();
  readonly #options: VolumeAttacherOptions;
  readonly #writer: ObjectWriter;
  /** By the attachment's uid: one of the same name is another one. */
  readonly #attempts = new Map<string, Attempt>();

  constructor(options: VolumeAttacherOptions) {
    const { client, informers, world, drivers, sha256 } = options;
    this.#options = options;
    this.#writer = new ObjectWriter(client, [erased(volumeAttachmentKind), erased(persistentVolumeKind)]);
    this.view = new View(informers, sha256);
    this.verification = new Verification({ world, view: this.view, drivers: drivers.verifiable(), published: (name) => drivers.published(name) });
  }

  *wokenByAttachment(attachment: VolumeAttachment | undefined, isGone: boolean): Generator<Key> {
    if (attachment === undefined || !this.#isOurs(attachment.spec.attacher)) return;
    yield keyOf(attachment);
    if (!isGone) return;
    this.#attempts.delete(attachment.metadata.uid ?? '');
    this.verification.settled(attachment.metadata.name ?? '');
    const { persistentVolumeName } = attachment.spec.source;
    if (persistentVolumeName !== undefined) yield `pv/${persistentVolumeName}`;
  }

  *wokenByVolume(volume: PersistentVolume | undefined): Generator<Key> {
    if (volume === undefined) return;
    const driver = csiSourceOf(volume)?.driver;
    if (driver === undefined || !this.#isOurs(driver)) return;
    const name = volume.metadata.name ?? '';
    yield `pv/${name}`;
    for (const attachment of this.view.attachmentsOfVolume.get(name)) yield keyOf(attachment);
  }

  #isOurs(driver: string): boolean {
    return this.#options.drivers.facts(driver)?.attaches === true;
  }

  snapshot(key: Key): Snapshot | undefined {
    const name = key.slice('va/'.length);
    if (key.startsWith('pv/')) return this.#volumeSnapshot(name);
    const attachment = this.view.attachments.getKey(name);
    if (attachment === undefined) {
      const stray = this.verification.stray(name);
      return stray === undefined ? undefined : { type: 'stray', name, stray };
    }
    const { attacher, nodeName } = attachment.spec;
    if (!this.#isOurs(attacher)) return undefined;
    return {
      type: 'attachment',
      attachment,
      volume: this.view.volumeOf(attachment),
      nodeId: this.view.nodeId(attacher, nodeName),
      attempt: this.#attempts.get(attachment.metadata.uid ?? ''),
      isContradicted: this.verification.contradicts(attachment),
    };
  }

  #volumeSnapshot(name: string): Snapshot | undefined {
    const volume = this.view.volumes.getKey(name);
    const driver = volume === undefined ? undefined : csiSourceOf(volume)?.driver;
    if (volume === undefined || driver === undefined || !isHeld(volume, driver)) return undefined;
    return { type: 'volume', volume, driver, isNeeded: this.view.attachmentsOfVolume.get(name).length > 0 };
  }

  async perform(action: Action): Promise<Outcome> {
    switch (action.do) {
      case 'create':
      case 'update':
      case 'updateStatus':
      case 'delete':
        return this.#writer.perform(action);
      case 'publish':
        return this.#publish(action);
      case 'unpublish':
        return this.#unpublish(action);
      case 'withdraw':
        return this.#withdraw(action);
      case 'rememberAttempt':
        this.#remember(action.attachment, action.attempt);
        return 'done';
    }
  }

  /** The attachment is looked at once more: it may be going, or be another one, which the caches do not show yet. */
  async #publish({ attachment, request, failures }: Publish): Promise<Outcome> {
    const current = await confirmCurrent(this.#options.client, volumeAttachmentKind, attachment);
    if (current !== 'done') return current;
    const outcome = await this.#options.drivers.publish(attachment.spec.attacher, request);
    this.#answered(attachment, { type: 'published', outcome, failures });
    return 'done';
  }

  async #unpublish({ attachment, placement, failures }: Unpublish): Promise<Outcome> {
    const current = await confirmCurrent(this.#options.client, volumeAttachmentKind, attachment);
    if (current !== 'done') return current;
    const outcome = await this.#options.drivers.unpublish(attachment.spec.attacher, placement);
    this.#answered(attachment, { type: 'unpublished', outcome, failures });
    return 'done';
  }

  #answered(attachment: VolumeAttachment, attempt: Attempt): void {
    this.#attempts.set(attachment.metadata.uid ?? '', attempt);
    this.bell.ring(keyOf(attachment));
  }

  #remember({ metadata }: VolumeAttachment, attempt: Attempt | undefined): void {
    this.verification.settled(metadata.name ?? '');
    if (attempt === undefined) this.#attempts.delete(metadata.uid ?? '');
    else this.#attempts.set(metadata.uid ?? '', attempt);
  }

  async #withdraw({ name, stray }: Withdraw): Promise<Outcome> {
    const { client, drivers } = this.#options;
    const attachment = await client.get(volumeAttachmentKind, { name });
    if (attachment.ok) return 'conflict';
    if (attachment.reason !== 'notFound') return outcomeOf(attachment);
    const node = await client.get(nodeKind, { name: stray.node });
    if (!node.ok && node.reason !== 'notFound') return outcomeOf(node);
    const isMounted = node.ok && node.value.status.volumesInUse?.includes(stray.uniqueName) === true;
    this.verification.settled(name);
    if (isMounted) return 'done';
    const outcome = await drivers.unpublish(stray.driver, stray.placement);
    // If it failed, the next verification finds it again.
    return outcome.type === 'unpublished' ? 'done' : { retry: outcome.message };
  }
}
