import type { VolumeAttachment } from '../../api/generated/types.ts';
import type { Stored } from '../../api/stored.ts';
import type { PublishTarget } from '../../api/volumes/controller-publish.ts';
import type { DriverAnswer } from '../../drivers/contract.ts';
import type { Informers } from '../../client/informers/informers.ts';
import type { Source } from '../../client/controller/loop.ts';
import type { Cancel, Log, World } from '../../world/world.ts';
import type { ChangingDrivers } from '../volumes/driver-changes.ts';
import type { DanglingAttachment } from './actions.ts';
import type { CsiAttacherKey, CsiAttacherView } from './view.ts';

export interface VerificationOptions {
  readonly world: World;
  readonly view: CsiAttacherView;
  readonly drivers: ChangingDrivers & {
    /** The drivers that can list their attached volumes. */
    verifiable(): readonly string[];
  };
  readonly published: (driver: string) => Promise<DriverAnswer<readonly PublishTarget[]>>;
}

/**
 * Once a minute, each driver that can is asked in one call for its attached volumes. An attachment whose status differs is decided
 * about again: the driver is asked to attach or detach the volume, whichever side was right.
 *
 * A person may detach a disk in the backend, and an attachment may lose its finalizer by force while its disk stays attached.
 * Attachments that changed during the call are left for the next time.
 */
export class AttachmentVerification implements Source<CsiAttacherKey> {
  readonly #options: VerificationOptions;
  readonly #log: Log;
  /** By attachment: the resourceVersion that the backend contradicted. */
  readonly #contradicted = new Map<string, string>();
  readonly #dangling = new Map<string, DanglingAttachment>();

  constructor(options: VerificationOptions) {
    this.#options = options;
    this.#log = options.world.log.with({ controller: 'volume-attacher' });
  }

  /** The backend contradicted the attachment, which has not changed since. */
  contradicts({ metadata }: Stored<VolumeAttachment>): boolean {
    return this.#contradicted.get(metadata.name) === metadata.resourceVersion;
  }

  dangling(name: string): DanglingAttachment | undefined {
    return this.#dangling.get(name);
  }

  settled(name: string): void {
    this.#contradicted.delete(name);
    this.#dangling.delete(name);
  }

  subscribe(_: Informers, add: (key: CsiAttacherKey) => void): Cancel {
    const { world, drivers } = this.#options;
    let cancel: Cancel | undefined;
    let isOver = false;
    const verify = () =>
      void this.#verifyAll(add).finally(() => {
        cancel = undefined;
        plan();
      });
    const plan = () => {
      if (!isOver && cancel === undefined && drivers.verifiable().length > 0) cancel = world.timers.after(everyMs, verify);
    };
    plan();
    const unsubscribe = drivers.onChange(plan);
    return () => {
      isOver = true;
      unsubscribe();
      cancel?.();
    };
  }

  async #verifyAll(add: (key: CsiAttacherKey) => void): Promise<void> {
    const { drivers, view } = this.#options;
    for (const driver of drivers.verifiable()) if (view.hasVolumes(driver)) await this.#verify(driver, add);
  }

  async #verify(driver: string, add: (key: CsiAttacherKey) => void): Promise<void> {
    const { view, published } = this.#options;
    const before = view.revisions(driver);
    const answer = await published(driver);
    if (!answer.ok) return this.#log.warn('attachments cannot be verified', { driver, error: answer.message });
    const there = new Set(answer.value.map(keyOf));
    for (const { attachment, target } of view.publishTargets(driver)) {
      const { name, resourceVersion } = attachment.metadata;
      if (before.get(name) !== resourceVersion || attachment.status.attached === there.has(keyOf(target))) continue;
      this.#log.warn('the backend does not agree with an attachment', { attachment: name, driver, attached: attachment.status.attached, ...target });
      this.#contradicted.set(name, resourceVersion);
      add(`va/${name}`);
    }
    for (const target of answer.value) {
      const found = view.danglingAt(driver, target);
      if (found === undefined || before.has(found.name)) continue;
      this.#log.warn('attached without a VolumeAttachment', { attachment: found.name, driver, ...target });
      this.#dangling.set(found.name, found.dangling);
      add(`va/${found.name}`);
    }
  }
}

const keyOf = ({ handle, nodeId }: PublishTarget): string => `${nodeId} ${handle}`;

const everyMs = 60_000;
