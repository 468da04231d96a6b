import type { CSINode, CSIStorageCapacity, PersistentVolume } from '../../api/generated/types.ts';
import { untypedKind } from '../../api/kind.ts';
import { nodeKind } from '../../api/kinds/core/node.ts';
import { persistentVolumeKind } from '../../api/kinds/core/persistent-volume.ts';
import { csiDriverKind } from '../../api/kinds/storage/csi-driver.ts';
import { csiNodeKind } from '../../api/kinds/storage/csi-node.ts';
import { csiStorageCapacityKind } from '../../api/kinds/storage/csi-storage-capacity.ts';
import { storageClassKind } from '../../api/kinds/storage/storage-class.ts';
import { sortedJson } from '../../api/sorted-json.ts';
import type { Stored } from '../../api/stored.ts';
import type { DriverCapabilities } from '../../api/volumes/driver-capabilities.ts';
import type { TopologySegments } from '../../api/volumes/intent.ts';
import type { Client } from '../../client/client.ts';
import { BackgroundCalls } from '../../client/controller/background-calls.ts';
import { defineController } from '../../client/controller/define-controller.ts';
import { type Controller, type Outcome, source, Trigger } from '../../client/controller/loop.ts';
import { ObjectWriter } from '../../client/controller/object-writer.ts';
import { changedObject } from '../../client/informers/cache.ts';
import type { Informers } from '../../client/informers/informers.ts';
import type { DriverAnswer, DriverCapacity, GetCapacityRequest } from '../../drivers/contract.ts';
import type { World } from '../../world/world.ts';
import { type ChangingDrivers, driverSource } from '../volumes/driver-changes.ts';
import { segmentsOf } from '../volumes/topology-segments.ts';
import type { CapacityAnswer, CsiCapacityAction, GetCapacities } from './actions.ts';
import { capacityLabels, capacityNamespace, type CsiCapacitySnapshot, decide } from './decide.ts';

/** The drivers in this process. */
export interface MeasuredDrivers extends ChangingDrivers {
  facts(name: string): DriverCapabilities | undefined;
  /** Does not reject. */
  capacity(driver: string, request: GetCapacityRequest): Promise<DriverAnswer<DriverCapacity>>;
}

export interface CsiCapacityOptions {
  readonly client: Client;
  readonly informers: Informers;
  readonly world: World;
  readonly drivers: MeasuredDrivers;
  readonly sha256: (text: string) => string;
}

/** Publishes the free capacity of the drivers in this process. Keys are names of drivers. */
export function csiCapacity(options: CsiCapacityOptions): Controller<string, CsiCapacitySnapshot, CsiCapacityAction> {
  const measured = new CsiCapacity(options);
  const changed = (names: Iterable<string | undefined>) => measured.changed(names);
  return defineController<string, CsiCapacitySnapshot, CsiCapacityAction>({
    name: 'csi-capacity',
    sources: [
      measured.trigger,
      driverSource(options.drivers, (driver) => changed([driver])),
      source(csiDriverKind, (change) => [changedObject(change).metadata.name, ...changed([changedObject(change).metadata.name])]),
      source(storageClassKind, ({ before, after }) => changed([before?.provisioner, after?.provisioner])),
      source(csiNodeKind, ({ before, after }) => changed([...driversOf(before), ...driversOf(after)])),
      source(nodeKind, ({ before, after }) =>
        sortedJson(before?.metadata.labels ?? {}) === sortedJson(after?.metadata.labels ?? {})
          ? []
          : changed(driversOf(measured.csiNode(after?.metadata.name ?? before?.metadata.name ?? ''))),
      ),
      source(persistentVolumeKind, ({ before, after }) => (sizeOf(before) === sizeOf(after) ? [] : changed([(after ?? before)?.spec.csi?.driver]))),
      source(csiStorageCapacityKind, (change) => measured.keysForObject(changedObject(change), change.after === undefined)),
    ],
    snapshot: (driver) => measured.snapshot(driver),
    decide,
    writer: new ObjectWriter(options.client, [untypedKind(csiStorageCapacityKind)]),
    actions: { getCapacities: (action) => measured.ask(action) },
  });
}

const driversOf = (csiNode: CSINode | undefined): readonly string[] => (csiNode?.spec.drivers ?? []).map(({ name }) => name);

/** Objects of external-provisioner are its own. */
const isManaged = ({ namespace, labels }: Stored<CSIStorageCapacity>['metadata'], driver: string): boolean =>
  namespace === capacityNamespace && Object.entries(capacityLabels(driver)).every(([key, value]) => labels?.[key] === value);

const sizeOf = (volume: PersistentVolume | undefined): string => `${volume?.spec.csi?.driver ?? ''} ${volume?.spec.capacity?.['storage'] ?? ''}`;

class CsiCapacity {
  /** Fired by answers of drivers. */
  readonly trigger = new Trigger<string>();
  readonly #options: CsiCapacityOptions;
  readonly #calls: BackgroundCalls;
  readonly #answers = new Map<string, CapacityAnswer>();
  /** By driver. */
  readonly #changedAt = new Map<string, number>();

  constructor(options: CsiCapacityOptions) {
    this.#options = options;
    this.#calls = new BackgroundCalls(options.world.log);
  }

  csiNode(name: string): CSINode | undefined {
    return this.#options.informers.cache(csiNodeKind).getKey(name);
  }

  changed(names: Iterable<string | undefined>): readonly string[] {
    const { drivers, world } = this.#options;
    const ours = [...new Set(names)].flatMap((name) => (name === undefined || drivers.facts(name) === undefined ? [] : [name]));
    for (const name of ours) this.#changedAt.set(name, world.clock.now());
    return ours;
  }

  keysForObject({ metadata }: Stored<CSIStorageCapacity>, isGone: boolean): readonly string[] {
    if (isGone) this.#answers.delete(metadata.name);
    const driver = metadata.labels?.['csi.storage.k8s.io/drivername'];
    return driver === undefined || !isManaged(metadata, driver) ? [] : [driver];
  }

  snapshot(name: string): CsiCapacitySnapshot | undefined {
    const { informers, drivers, sha256 } = this.#options;
    const driver = drivers.facts(name);
    const isWanted = informers.cache(csiDriverKind).getKey(name)?.spec.storageCapacity === true;
    // A driver that does not answer now, or is not yet known after a start, may come back.
    if (driver === undefined && isWanted) return undefined;
    return {
      driver,
      isWanted,
      classes: [...informers.cache(storageClassKind).list()].filter(({ provisioner }) => provisioner === name),
      segments: this.#segments(name),
      objects: [...informers.cache(csiStorageCapacityKind).list()].filter(({ metadata }) => isManaged(metadata, name)),
      answer: (object) => this.#answers.get(object),
      changedAt: this.#changedAt.get(name) ?? 0,
      nameOf: (...parts) => `csisc-${sha256(JSON.stringify(parts)).slice(0, 20)}`,
    };
  }

  #segments(driver: string): readonly TopologySegments[] {
    const { informers } = this.#options;
    const nodes = informers.cache(nodeKind);
    const found = new Map<string, TopologySegments>();
    for (const { metadata, spec } of informers.cache(csiNodeKind).list()) {
      const keys = spec.drivers?.find(({ name }) => name === driver)?.topologyKeys ?? [];
      const segments = keys.length === 0 ? undefined : segmentsOf(nodes.getKey(metadata.name)?.metadata.labels ?? {}, keys);
      if (segments !== undefined) found.set(sortedJson(segments), segments);
    }
    return [...found.values()];
  }

  /** One call at a time for each driver, beside the passes: a driver may hang. */
  async ask({ driver, questions }: GetCapacities): Promise<Outcome> {
    const { drivers, world } = this.#options;
    return this.#calls.start(
      driver,
      async () => {
        for (const { name, parameters, topology } of questions) {
          const at = world.clock.now();
          const answer = await drivers.capacity(driver, { parameters, ...(topology === undefined ? {} : { topology }) });
          const last = this.#answers.get(name);
          if (!answer.ok) world.log.warn('GetCapacity failed', { controller: 'csi-capacity', driver, error: answer.message });
          this.#answers.set(name, answer.ok ? { at, failures: 0, capacity: answer.value } : { ...last, at, failures: (last?.failures ?? 0) + 1 });
        }
      },
      () => this.trigger.fire(driver),
    );
  }
}
