import type { PersistentVolume, VolumeAttachment } from '../../api/generated/types.ts';
import { untypedKind } from '../../api/kind.ts';
import type { Stored } from '../../api/stored.ts';
import { changedObject } from '../../client/informers/cache.ts';
import { csiNodeKind } from '../../api/kinds/storage/csi-node.ts';
import { nodeKind } from '../../api/kinds/core/node.ts';
import { persistentVolumeKind } from '../../api/kinds/core/persistent-volume.ts';
import { volumeAttachmentKind } from '../../api/kinds/storage/volume-attachment.ts';
import { csiSourceOf } from '../../api/volumes/csi-translation.ts';
import type { DriverCapabilities, PublishOutcome, UnpublishOutcome } from '../../api/volumes/driver-capabilities.ts';
import type { PublishRequest, PublishTarget, UnpublishRequest } from '../../api/volumes/controller-publish.ts';
import type { DriverAnswer } from '../../drivers/contract.ts';
import type { Client } from '../../client/client.ts';
import { confirmCurrent } from '../../client/controller/confirm.ts';
import type { Informers } from '../../client/informers/informers.ts';
import { defineController } from '../../client/controller/define-controller.ts';
import { type Controller, type Outcome, outcomeOf, source, Trigger } from '../../client/controller/loop.ts';
import { ObjectWriter } from '../../client/controller/object-writer.ts';
import type { World } from '../../world/world.ts';
import { BackgroundCalls } from '../../client/controller/background-calls.ts';
import { type ChangingDrivers, driverSource } from '../volumes/driver-changes.ts';
import type { CsiAttacherAction, PublishAttempt, Publish, Unpublish, DetachDangling } from './actions.ts';
import { isHeld } from './attachment-edits.ts';
import { decide, type CsiAttacherSnapshot } from './decide.ts';
import { AttachmentVerification } from './verification.ts';
import { type CsiAttacherKey, type Sha256, CsiAttacherView } from './view.ts';

/** The drivers in this process. No call rejects, and each may be made again. */
export interface AttachingDrivers extends ChangingDrivers {
  facts(name: string): DriverCapabilities | undefined;
  publish(driver: string, request: PublishRequest): Promise<PublishOutcome>;
  unpublish(driver: string, target: UnpublishRequest): Promise<UnpublishOutcome>;
  /** The drivers that can list their attached volumes. */
  verifiable(): readonly string[];
  published(driver: string): Promise<DriverAnswer<readonly PublishTarget[]>>;
}

export interface CsiAttacherOptions {
  readonly client: Client;
  readonly informers: Informers;
  readonly world: World;
  readonly drivers: AttachingDrivers;
  readonly sha256: Sha256;
}

const keyOf = ({ metadata }: Stored<VolumeAttachment>): CsiAttacherKey => `va/${metadata.name}`;

/** Attaches and detaches the volumes of the drivers in this process; other drivers have external attachers. */
export function csiAttacher(options: CsiAttacherOptions): Controller<CsiAttacherKey, CsiAttacherSnapshot, CsiAttacherAction> {
  const attacher = new CsiAttacher(options);
  const { view } = attacher;
  return defineController<CsiAttacherKey, CsiAttacherSnapshot, CsiAttacherAction>({
    name: 'volume-attacher',
    parallelism: 32,
    sources: [
      attacher.trigger,
      attacher.verification,
      source(volumeAttachmentKind, (change) => attacher.keysForAttachmentChange(changedObject(change), change.after === undefined)),
      source(persistentVolumeKind, (change) => attacher.keysForVolumeChange(changedObject(change))),
      driverSource(options.drivers, (driver) => view.attachmentsOfDriver.get(driver).map(keyOf)),
      source(csiNodeKind, (change) => view.attachmentsOnNode.get(changedObject(change).metadata.name).map(keyOf)),
    ],
    snapshot: (key) => attacher.snapshot(key),
    decide,
    writer: new ObjectWriter(options.client, [untypedKind(volumeAttachmentKind), untypedKind(persistentVolumeKind)]),
    actions: {
      publish: (action) => attacher.publish(action),
      unpublish: (action) => attacher.unpublish(action),
      detachDangling: (action) => attacher.detachDangling(action),
      async rememberAttempt({ attachment, attempt }) {
        attacher.remember(attachment, attempt);
        return 'done';
      },
    },
  });
}

class CsiAttacher {
  readonly view: CsiAttacherView;
  readonly verification: AttachmentVerification;
  /** Fired by drivers' answers, which change no object. */
  readonly trigger = new Trigger<CsiAttacherKey>();
  readonly #options: CsiAttacherOptions;
  readonly #calls: BackgroundCalls;
  /** By the attachment's uid: a new attachment of the same name has none. */
  readonly #attempts = new Map<string, PublishAttempt>();

  constructor(options: CsiAttacherOptions) {
    const { informers, world, drivers, sha256 } = options;
    this.#options = options;
    this.#calls = new BackgroundCalls(world.log);
    this.view = new CsiAttacherView(informers, sha256);
    this.verification = new AttachmentVerification({ world, view: this.view, drivers, published: (name) => drivers.published(name) });
  }

  *keysForAttachmentChange(attachment: Stored<VolumeAttachment>, isGone: boolean): Generator<CsiAttacherKey> {
    if (!this.#isOurs(attachment.spec.attacher)) return;
    yield keyOf(attachment);
    if (!isGone) return;
    this.#attempts.delete(attachment.metadata.uid);
    this.verification.settled(attachment.metadata.name);
    const { persistentVolumeName } = attachment.spec.source;
    if (persistentVolumeName !== undefined) yield `pv/${persistentVolumeName}`;
  }

  *keysForVolumeChange(volume: Stored<PersistentVolume>): Generator<CsiAttacherKey> {
    const driver = csiSourceOf(volume)?.driver;
    if (driver === undefined || !this.#isOurs(driver)) return;
    const { name } = volume.metadata;
    yield `pv/${name}`;
    for (const attachment of this.view.attachmentsOfVolume.get(name)) yield keyOf(attachment);
  }

  #isOurs(driver: string): boolean {
    return this.#options.drivers.facts(driver)?.attaches === true;
  }

  snapshot(key: CsiAttacherKey): CsiAttacherSnapshot | undefined {
    const name = key.slice('va/'.length);
    if (key.startsWith('pv/')) return this.#volumeSnapshot(name);
    const attachment = this.view.attachments.getKey(name);
    if (attachment === undefined) {
      const dangling = this.verification.dangling(name);
      return dangling === undefined ? undefined : { type: 'dangling', name, dangling };
    }
    const { attacher, nodeName } = attachment.spec;
    if (!this.#isOurs(attacher)) return undefined;
    return {
      type: 'attachment',
      attachment,
      volume: this.view.volumeOf(attachment),
      nodeId: this.view.nodeId(attacher, nodeName),
      attempt: this.#attempts.get(attachment.metadata.uid),
      driver: this.#options.drivers.facts(attacher),
      isContradicted: this.verification.contradicts(attachment),
    };
  }

  #volumeSnapshot(name: string): CsiAttacherSnapshot | undefined {
    const volume = this.view.volumes.getKey(name);
    const driver = volume === undefined ? undefined : csiSourceOf(volume)?.driver;
    if (volume === undefined || driver === undefined || !isHeld(volume, driver)) return undefined;
    return { type: 'volume', volume, driver, isNeeded: this.view.attachmentsOfVolume.get(name).length > 0 };
  }

  /** The server is asked once more: the attachment may be deleted or replaced, which the caches do not show yet. */
  async publish({ attachment, request, failures }: Publish): Promise<Outcome> {
    const current = await confirmCurrent(this.#options.client, volumeAttachmentKind, attachment);
    if (current !== 'done') return current;
    return this.#call(attachment, async (drivers) => ({ type: 'published', outcome: await drivers.publish(attachment.spec.attacher, request), failures }));
  }

  async unpublish({ attachment, target, failures }: Unpublish): Promise<Outcome> {
    const current = await confirmCurrent(this.#options.client, volumeAttachmentKind, attachment);
    if (current !== 'done') return current;
    return this.#call(attachment, async (drivers) => ({ type: 'unpublished', outcome: await drivers.unpublish(attachment.spec.attacher, target), failures }));
  }

  /** The answer is remembered, and the attachment decided about again. */
  async #call(attachment: Stored<VolumeAttachment>, call: (drivers: AttachingDrivers) => Promise<PublishAttempt>): Promise<Outcome> {
    const { drivers } = this.#options;
    const task = async () => this.#answered(attachment, await call(drivers));
    if (drivers.facts(attachment.spec.attacher)?.csi !== undefined) return this.#calls.start(attachment.metadata.uid, task);
    await task();
    return 'done';
  }

  #answered(attachment: Stored<VolumeAttachment>, attempt: PublishAttempt): void {
    this.#attempts.set(attachment.metadata.uid, attempt);
    this.trigger.fire(keyOf(attachment));
  }

  remember({ metadata }: Stored<VolumeAttachment>, attempt: PublishAttempt | undefined): void {
    this.verification.settled(metadata.name);
    if (attempt === undefined) this.#attempts.delete(metadata.uid);
    else this.#attempts.set(metadata.uid, attempt);
  }

  async detachDangling({ name, dangling }: DetachDangling): Promise<Outcome> {
    const { client, drivers } = this.#options;
    const attachment = await client.get(volumeAttachmentKind, { name });
    if (attachment.ok) return 'conflict';
    if (attachment.reason !== 'notFound') return outcomeOf(attachment);
    const node = await client.get(nodeKind, { name: dangling.node });
    if (!node.ok && node.reason !== 'notFound') return outcomeOf(node);
    const isMounted = node.ok && node.value.status.volumesInUse?.includes(dangling.uniqueName) === true;
    this.verification.settled(name);
    if (isMounted) return 'done';
    const outcome = await drivers.unpublish(dangling.driver, dangling.target);
    // After a failure the next verification finds it again.
    return outcome.type === 'unpublished' ? 'done' : { retry: outcome.message };
  }
}
