import type { PersistentVolumeSource } from '../api/generated/types.ts';
import type { CreateOutcome, DeleteOutcome, DriverCapabilities, ExpandOutcome, PublishOutcome, UnpublishOutcome } from '../api/volumes/driver-capabilities.ts';
import { type AttemptFailure, type CreateIntentSpec, type IntentOf, volumeNameOf } from '../api/volumes/intent.ts';
import type { PublishRequest, PublishTarget } from '../api/volumes/controller-publish.ts';
import { type Attacher, type DriverAnswer, type DriverFailure, failed, isFinal, isInfeasible, type Leader, type VolumeDriver } from './contract.ts';

/** The drivers of this process, by name. */
export class DriverSet {
  readonly #drivers: ReadonlyMap<string, VolumeDriver>;

  constructor(drivers: readonly VolumeDriver[]) {
    this.#drivers = new Map(drivers.map((driver) => [driver.capabilities.name, driver]));
  }

  all(): Iterable<VolumeDriver> {
    return this.#drivers.values();
  }

  /** For the controllers of one leader. */
  fencedBy(leader: Leader): FencedDrivers {
    return new FencedDrivers(this.#drivers, leader);
  }
}

/** The drivers as controllers see them: each call carries the leader's fencing token. No call rejects, whatever a driver does. */
export class FencedDrivers {
  readonly #drivers: ReadonlyMap<string, VolumeDriver>;
  readonly #leader: Leader;

  constructor(drivers: ReadonlyMap<string, VolumeDriver>, leader: Leader) {
    this.#drivers = drivers;
    this.#leader = leader;
  }

  readonly facts = (name: string): DriverCapabilities | undefined => this.#drivers.get(name)?.capabilities;

  readonly create = async (intent: IntentOf<CreateIntentSpec>): Promise<CreateOutcome> => {
    const { driver, request } = intent.spec;
    const answer = await this.#call(driver, (found) => found.createVolume({ ...request, name: volumeNameOf(intent) }, this.#leader));
    return answer.ok ? { type: 'created', asset: answer.value } : { type: 'failed', ...failureOf(answer) };
  };

  readonly delete = async (driver: string, { handle }: { readonly handle: string }): Promise<DeleteOutcome> =>
    deletion(await this.#call(driver, (found) => found.deleteVolume(handle, this.#leader)));

  readonly deleteSource = async (driver: string, source: PersistentVolumeSource): Promise<DeleteOutcome> =>
    deletion(await this.#call(driver, (found) => withHandle(found, source, (handle) => found.deleteVolume(handle, this.#leader))));

  readonly expand = async (driver: string, source: PersistentVolumeSource, capacity: string): Promise<ExpandOutcome> => {
    const answer = await this.#call(driver, (found) =>
      withHandle(
        found,
        source,
        async (handle) => found.controllerExpandVolume?.({ handle, capacity }, this.#leader) ?? failed('Unimplemented', `${driver} does not expand volumes`),
      ),
    );
    return answer.ok ? { type: 'expanded', ...answer.value } : { type: 'failed', infeasible: isInfeasible(answer.code), ...failureOf(answer) };
  };

  readonly publish = async (driver: string, request: PublishRequest): Promise<PublishOutcome> => {
    const answer = await this.#attacher(driver, (attacher) => attacher.controllerPublishVolume(request, this.#leader));
    return answer.ok ? { type: 'published', context: answer.value } : { type: 'failed', ...failureOf(answer) };
  };

  readonly unpublish = async (driver: string, target: PublishTarget): Promise<UnpublishOutcome> => {
    const answer = await this.#attacher(driver, (attacher) => attacher.controllerUnpublishVolume(target, this.#leader));
    return answer.ok ? { type: 'unpublished' } : { type: 'failed', ...failureOf(answer) };
  };

  /** The drivers that can list their attached volumes. */
  readonly verifiable = (): readonly string[] =>
    [...this.#drivers.values()].flatMap(({ capabilities, attacher }) => (attacher?.listPublishedVolumes === undefined ? [] : capabilities.name));

  /** All attached volumes of a driver. */
  readonly published = (driver: string): Promise<DriverAnswer<readonly PublishTarget[]>> =>
    this.#attacher(
      driver,
      (attacher) => attacher.listPublishedVolumes?.() ?? Promise.resolve(failed('Unimplemented', `${driver} cannot list its attached volumes`)),
    );

  #attacher<T>(name: string, call: (attacher: Attacher) => Promise<DriverAnswer<T>>): Promise<DriverAnswer<T>> {
    return this.#call(name, async ({ attacher }) => (attacher === undefined ? failed('Unimplemented', `${name} does not attach volumes`) : call(attacher)));
  }

  async #call<T>(name: string, call: (driver: VolumeDriver) => Promise<DriverAnswer<T>>): Promise<DriverAnswer<T>> {
    const driver = this.#drivers.get(name);
    // An intent outlives its process. Another process may have had the driver, and the asset may exist.
    if (driver === undefined) return failed('Unavailable', `no driver ${name} in this process`);
    try {
      return await call(driver);
    } catch (error) {
      return failed('Unknown', error instanceof Error ? error.message : String(error));
    }
  }
}

async function withHandle<T>(
  driver: VolumeDriver,
  source: PersistentVolumeSource,
  call: (handle: string) => Promise<DriverAnswer<T>>,
): Promise<DriverAnswer<T>> {
  const handle = driver.handleOf(source);
  return handle === undefined ? failed('InvalidArgument', `the volume does not belong to ${driver.capabilities.name}`) : call(handle);
}

const deletion = (answer: DriverAnswer<undefined>): DeleteOutcome =>
  answer.ok
    ? { type: 'deleted' }
    : // CSI's code for a volume in use.
      { type: 'failed', ...failureOf(answer), ...(answer.code === 'FailedPrecondition' ? { inUse: true } : {}) };

const failureOf = ({ code, message }: DriverFailure): AttemptFailure => ({ message, final: isFinal(code) });
