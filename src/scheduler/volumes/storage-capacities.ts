import type { CSIStorageCapacity } from '../../api/generated/types.ts';
import { quantityValue } from '../../api/quantity.ts';
import { type Labels, type LabelSelector, labelSelectorOf, matchesLabels, SelectorError } from '../../domain/label-selector.ts';
import { readQuantity } from '../../domain/volumes/capacity.ts';
import { claimKey } from '../../domain/volumes/claim.ts';
import { entryOf } from '../../domain/volumes/volume-index.ts';
import type { ObjectChange } from '../framework.ts';
import { PlaceMap, placesOf, type Whereabouts, whereaboutsOf } from './places.ts';

/** What drivers report of the room that they have left, by class, and where. */
export class StorageCapacities {
  readonly #byClass = new Map<string, PlaceMap<Map<string, Room>>>();

  observe({ before, after }: ObjectChange<CSIStorageCapacity>): void {
    if (before !== undefined) this.#remove(before);
    const room = after === undefined ? undefined : readRoom(after);
    if (after === undefined || room === undefined) return;
    const places = entryOf(this.#byClass, after.storageClassName, () => new PlaceMap(() => new Map<string, Room>()));
    for (const place of placesOf(room.where)) places.open(place).set(keyOf(after), room);
  }

  #remove(object: CSIStorageCapacity): void {
    const places = this.#byClass.get(object.storageClassName);
    const where = readRoom(object)?.where;
    if (places === undefined || where === undefined) return;
    for (const place of placesOf(where)) {
      const rooms = places.at(place);
      rooms?.delete(keyOf(object));
      if (rooms?.size === 0) places.close(place);
    }
    if (places.empty) this.#byClass.delete(object.storageClassName);
  }

  /** Whether a volume of this size could be made for a node of these labels. */
  isEnough(className: string, bytes: bigint, labels: Labels | undefined): boolean {
    const places = this.#byClass.get(className);
    if (places === undefined) return false;
    if (hasRoom(places.at('anywhere'), bytes, labels)) return true;
    for (let i = 0; i < places.breadth; i++) if (hasRoom(places.reached(labels, i), bytes, labels)) return true;
    return false;
  }
}

function hasRoom(rooms: ReadonlyMap<string, Room> | undefined, bytes: bigint, labels: Labels | undefined): boolean {
  if (rooms === undefined) return false;
  for (const { largest, nodes } of rooms.values()) if (largest >= bytes && matchesLabels(nodes, labels)) return true;
  return false;
}

interface Room {
  /** The largest volume for which there is room, in bytes. */
  readonly largest: bigint;
  readonly nodes: LabelSelector;
  readonly where: Whereabouts;
}

const keyOf = ({ metadata }: CSIStorageCapacity): string => claimKey(metadata.namespace ?? '', metadata.name ?? '');

/** The size limit of a single volume says more than the sum. Undefined: nobody knows how much there is, or for whom. */
export function largestVolume({ maximumVolumeSize, capacity }: CSIStorageCapacity): bigint | undefined {
  const amount = readQuantity(maximumVolumeSize ?? capacity ?? '');
  return amount === undefined ? undefined : quantityValue(amount);
}

function readRoom(object: CSIStorageCapacity): Room | undefined {
  const largest = largestVolume(object);
  const nodes = readTopology(object);
  if (largest === undefined || nodes?.type !== 'requirements') return undefined;
  return { largest, nodes, where: whereaboutsOf([nodes.requirements]) };
}

function readTopology({ nodeTopology }: CSIStorageCapacity): LabelSelector | undefined {
  if (nodeTopology === undefined) return undefined;
  try {
    return labelSelectorOf(nodeTopology);
  } catch (error) {
    if (error instanceof SelectorError) return undefined;
    throw error;
  }
}
