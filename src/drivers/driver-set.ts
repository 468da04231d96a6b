import type { PersistentVolumeSource, PersistentVolumeSpec } from '../api/generated/types.ts';
import type {
  CreateOutcome,
  DeleteOutcome,
  DriverCapabilities,
  ExpandOutcome,
  ModifyOutcome,
  PublishOutcome,
  UnpublishOutcome,
} from '../api/volumes/driver-capabilities.ts';
import {
  type Asset,
  type AttemptFailure,
  type CreateIntentSpec,
  deletionSecretOf,
  type IntentOf,
  type SecretName,
  volumeNameOf,
} from '../api/volumes/intent.ts';
import type { PublishRequest, PublishTarget, UnpublishRequest } from '../api/volumes/controller-publish.ts';
import { numberOf } from '../grpc/status.ts';
import type { Cancel } from '../world/world.ts';
import {
  type Attacher,
  type ControllerModifyVolumeRequest,
  type CreateSnapshotRequest,
  type CreateVolumeGroupSnapshotRequest,
  type DriverAnswer,
  type DriverCapacity,
  type DriverFailure,
  type DriverGroupSnapshot,
  type DriverSnapshot,
  failed,
  type GetCapacityRequest,
  type GroupSnapshotReference,
  type GroupSnapshotter,
  isFinal,
  isInfeasible,
  type Leader,
  type SnapshotReference,
  type Snapshotter,
  succeeded,
  type VolumeDriver,
} from './contract.ts';

/** The spec of a PersistentVolume, or its source alone. */
type VolumeToExpand = PersistentVolumeSource & Partial<PersistentVolumeSpec>;

/** The drivers of this process, by name. A CSI driver comes when its socket answers, and changes when it restarts as another version. */
export class DriverSet {
  readonly #drivers = new Map<string, VolumeDriver>();
  readonly #listeners = new Set<DriverListener>();

  constructor(drivers: readonly VolumeDriver[]) {
    for (const driver of drivers) this.#drivers.set(driver.capabilities.name, driver);
  }

  all(): Iterable<VolumeDriver> {
    return this.#drivers.values();
  }

  /** False: there is a driver of this name, which stays. Two must never act for one name. */
  add(driver: VolumeDriver): boolean {
    const { name } = driver.capabilities;
    if (this.#drivers.has(name)) return false;
    this.#change(name, driver);
    return true;
  }

  /** Removes this driver; another one of its name stays. */
  remove(driver: VolumeDriver): void {
    const { name } = driver.capabilities;
    if (this.#drivers.get(name) === driver) this.#change(name, undefined);
  }

  /** In the place of `old`, whose name it has. */
  replace(old: VolumeDriver, driver: VolumeDriver): void {
    if (this.#drivers.get(old.capabilities.name) === old) this.#change(driver.capabilities.name, driver);
  }

  onChange(listener: DriverListener): Cancel {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** For the controllers of one leader. */
  fencedBy(leader: Leader): FencedDrivers {
    return new FencedDrivers(this.#drivers, leader, (listener) => this.onChange(listener));
  }

  #change(name: string, driver: VolumeDriver | undefined): void {
    if (driver === undefined) this.#drivers.delete(name);
    else this.#drivers.set(name, driver);
    for (const listener of this.#listeners) listener(name);
  }
}

/** Called with the name of a driver that came, went or changed. */
export type DriverListener = (name: string) => void;

/** The drivers as controllers see them: each call carries the leader's fencing token. No call rejects, whatever a driver does. */
export class FencedDrivers {
  readonly #drivers: ReadonlyMap<string, VolumeDriver>;
  readonly #leader: Leader;
  readonly onChange: (listener: DriverListener) => Cancel;

  constructor(drivers: ReadonlyMap<string, VolumeDriver>, leader: Leader, onChange: (listener: DriverListener) => Cancel) {
    this.#drivers = drivers;
    this.#leader = leader;
    this.onChange = onChange;
  }

  readonly facts = (name: string): DriverCapabilities | undefined => this.#drivers.get(name)?.capabilities;

  readonly create = async (intent: IntentOf<CreateIntentSpec>): Promise<CreateOutcome> => {
    const { driver, request } = intent.spec;
    const answer = await this.#call(driver, (found) => found.createVolume({ ...request, name: volumeNameOf(intent) }, this.#leader));
    if (!answer.ok) return { type: 'failed', ...failureOf(answer) };
    const { mismatch, ...asset } = answer.value;
    return { type: 'created', asset, ...(mismatch === undefined ? {} : { mismatch }) };
  };

  readonly delete = async (driver: string, { handle, annotations }: Pick<Asset, 'handle' | 'annotations'>): Promise<DeleteOutcome> =>
    deletion(await this.#call(driver, (found) => found.deleteVolume(handle, this.#leader, deletionSecretOf(annotations))));

  readonly deleteSource = async (driver: string, source: PersistentVolumeSource, secret?: SecretName): Promise<DeleteOutcome> =>
    deletion(await this.#call(driver, (found) => withHandle(found, source, (handle) => found.deleteVolume(handle, this.#leader, secret))));

  readonly expand = async (driver: string, volume: VolumeToExpand, capacity: string): Promise<ExpandOutcome> => {
    const answer = await this.#call(driver, (found) =>
      withHandle(
        found,
        volume,
        async (handle) =>
          found.controllerExpandVolume?.({ handle, capacity, volume }, this.#leader) ?? failed('Unimplemented', `${driver} does not expand volumes`),
      ),
    );
    return answer.ok ? { type: 'expanded', ...answer.value } : { type: 'failed', infeasible: isInfeasible(answer.code), ...failureOf(answer) };
  };

  readonly publish = async (driver: string, request: PublishRequest): Promise<PublishOutcome> => {
    const answer = await this.#attacher(driver, (attacher) => attacher.controllerPublishVolume(request, this.#leader));
    if (answer.ok) return { type: 'published', context: answer.value };
    return { type: 'failed', ...failureOf(answer), errorCode: numberOf(answer.code) };
  };

  readonly unpublish = async (driver: string, target: UnpublishRequest): Promise<UnpublishOutcome> => {
    const answer = await this.#attacher(driver, (attacher) => attacher.controllerUnpublishVolume(target, this.#leader));
    return answer.ok ? { type: 'unpublished' } : { type: 'failed', ...failureOf(answer) };
  };

  readonly modify = async (driver: string, source: PersistentVolumeSource, request: Omit<ControllerModifyVolumeRequest, 'handle'>): Promise<ModifyOutcome> => {
    const answer = await this.#call(driver, (found) =>
      withHandle(
        found,
        source,
        async (handle) => found.controllerModifyVolume?.({ handle, ...request }, this.#leader) ?? failed('Unimplemented', `${driver} does not modify volumes`),
      ),
    );
    return answer.ok ? { type: 'modified' } : { type: 'failed', infeasible: answer.code === 'InvalidArgument', code: answer.code, ...failureOf(answer) };
  };

  readonly capacity = (driver: string, request: GetCapacityRequest): Promise<DriverAnswer<DriverCapacity>> =>
    this.#call(driver, async (found) => found.getCapacity?.(request) ?? failed('Unimplemented', `${driver} does not report its capacity`));

  /** The drivers that can list their attached volumes. */
  readonly verifiable = (): readonly string[] =>
    [...this.#drivers.values()].flatMap(({ capabilities, attacher }) => (attacher?.listPublishedVolumes === undefined ? [] : capabilities.name));

  /** All attached volumes of a driver. */
  readonly published = (driver: string): Promise<DriverAnswer<readonly PublishTarget[]>> =>
    this.#attacher(
      driver,
      (attacher) => attacher.listPublishedVolumes?.() ?? Promise.resolve(failed('Unimplemented', `${driver} cannot list its attached volumes`)),
    );

  /** Whether the driver takes snapshots, and of groups. */
  readonly snapshots = (name: string): { readonly ofVolumes: boolean; readonly ofGroups: boolean } => {
    const driver = this.#drivers.get(name);
    return { ofVolumes: driver?.snapshotter !== undefined, ofGroups: driver?.groupSnapshotter !== undefined };
  };

  /** The drivers that take snapshots. */
  readonly snapshotting = (): readonly string[] =>
    [...this.#drivers.values()].flatMap(({ capabilities, snapshotter }) => (snapshotter === undefined ? [] : capabilities.name));

  readonly createSnapshot = (driver: string, request: CreateSnapshotRequest): Promise<DriverAnswer<DriverSnapshot>> =>
    this.#snapshotter(driver, (snapshotter) => snapshotter.createSnapshot(request, this.#leader));

  readonly deleteSnapshot = (driver: string, request: SnapshotReference): Promise<DriverAnswer<undefined>> =>
    this.#snapshotter(driver, (snapshotter) => snapshotter.deleteSnapshot(request, this.#leader));

  /** Undefined: the driver cannot tell. */
  readonly getSnapshot = (driver: string, request: SnapshotReference): Promise<DriverAnswer<DriverSnapshot | undefined>> =>
    this.#snapshotter<DriverSnapshot | undefined>(driver, async (snapshotter) => snapshotter.getSnapshot?.(request) ?? succeeded(undefined));

  readonly createGroupSnapshot = (driver: string, request: CreateVolumeGroupSnapshotRequest): Promise<DriverAnswer<DriverGroupSnapshot>> =>
    this.#groupSnapshotter(driver, (snapshotter) => snapshotter.createVolumeGroupSnapshot(request, this.#leader));

  readonly deleteGroupSnapshot = (driver: string, request: GroupSnapshotReference): Promise<DriverAnswer<undefined>> =>
    this.#groupSnapshotter(driver, (snapshotter) => snapshotter.deleteVolumeGroupSnapshot(request, this.#leader));

  readonly getGroupSnapshot = (driver: string, request: GroupSnapshotReference): Promise<DriverAnswer<DriverGroupSnapshot>> =>
    this.#groupSnapshotter(driver, (snapshotter) => snapshotter.getVolumeGroupSnapshot(request));

  #snapshotter<T>(name: string, call: (snapshotter: Snapshotter) => Promise<DriverAnswer<T>>): Promise<DriverAnswer<T>> {
    return this.#call(name, async ({ snapshotter }) => (snapshotter === undefined ? failed('Unimplemented', `${name} takes no snapshots`) : call(snapshotter)));
  }

  #groupSnapshotter<T>(name: string, call: (snapshotter: GroupSnapshotter) => Promise<DriverAnswer<T>>): Promise<DriverAnswer<T>> {
    return this.#call(name, async ({ groupSnapshotter }) =>
      groupSnapshotter === undefined ? failed('Unimplemented', `${name} takes no snapshots of groups`) : call(groupSnapshotter),
    );
  }

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

const failureOf = (failure: DriverFailure): AttemptFailure => ({
  message: failure.message,
  final: isFinal(failure),
  ...(failure.reschedule === undefined ? {} : { reschedule: failure.reschedule }),
});
