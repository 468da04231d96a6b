import type { CSIStorageCapacity } from '../../api/generated/types.ts';
import type { Stored } from '../../api/stored.ts';
import { quantityValue } from '../../api/quantity.ts';
import { type Labels, type LabelSelector, labelSelectorOf, matchesLabels, SelectorError } from '../../api/selectors/label-selector.ts';
import { readQuantity } from '../../api/volumes/capacity.ts';
import { claimKey } from '../../storage/volumes/claim.ts';
import { entryOf } from '../../storage/volumes/volume-index.ts';
import type { ObjectChange } from '../framework.ts';
import { TopologyIndex, topologyTermsOf, type VolumeTopology, volumeTopologyOf } from './volume-topology.ts';

/** CSIStorageCapacity objects by class and topology. */
export class StorageCapacityIndex {
  readonly #byClass = new Map<string, TopologyIndex<Map<string, TopologyCapacity>>>();

  observe({ before, after }: ObjectChange<Stored<CSIStorageCapacity>>): void {
    if (before !== undefined) this.#remove(before);
    const capacity = after === undefined ? undefined : readCapacity(after);
    if (after === undefined || capacity === undefined) return;
    const byTopology = entryOf(this.#byClass, after.storageClassName, () => new TopologyIndex(() => new Map<string, TopologyCapacity>()));
    for (const term of topologyTermsOf(capacity.topology)) byTopology.getOrCreate(term).set(keyOf(after), capacity);
  }

  #remove(object: Stored<CSIStorageCapacity>): void {
    const byTopology = this.#byClass.get(object.storageClassName);
    const topology = readCapacity(object)?.topology;
    if (byTopology === undefined || topology === undefined) return;
    for (const term of topologyTermsOf(topology)) {
      const capacities = byTopology.get(term);
      capacities?.delete(keyOf(object));
      if (capacities?.size === 0) byTopology.delete(term);
    }
    if (byTopology.isEmpty) this.#byClass.delete(object.storageClassName);
  }

  /** Whether a volume of this size can be provisioned for a node with these labels. */
  hasEnoughCapacity(className: string, bytes: bigint, labels: Labels | undefined): boolean {
    const byTopology = this.#byClass.get(className);
    if (byTopology === undefined) return false;
    if (isAnyLargeEnough(byTopology.get('anywhere'), bytes, labels)) return true;
    for (let i = 0; i < byTopology.labelCount; i++) if (isAnyLargeEnough(byTopology.reachableFrom(labels, i), bytes, labels)) return true;
    return false;
  }
}

function isAnyLargeEnough(capacities: ReadonlyMap<string, TopologyCapacity> | undefined, bytes: bigint, labels: Labels | undefined): boolean {
  if (capacities === undefined) return false;
  for (const { largest, nodes } of capacities.values()) if (largest >= bytes && matchesLabels(nodes, labels)) return true;
  return false;
}

interface TopologyCapacity {
  /** The largest possible volume, in bytes. */
  readonly largest: bigint;
  readonly nodes: LabelSelector;
  readonly topology: VolumeTopology;
}

const keyOf = ({ metadata: { namespace = '', name } }: Stored<CSIStorageCapacity>): string => claimKey(namespace, name);

/** maximumVolumeSize takes precedence over capacity. Undefined: the object has neither. */
export function largestVolume({ maximumVolumeSize, capacity }: CSIStorageCapacity): bigint | undefined {
  const amount = readQuantity(maximumVolumeSize ?? capacity ?? '');
  return amount === undefined ? undefined : quantityValue(amount);
}

function readCapacity(object: CSIStorageCapacity): TopologyCapacity | undefined {
  const largest = largestVolume(object);
  const nodes = readTopology(object);
  if (largest === undefined || nodes?.type !== 'requirements') return undefined;
  return { largest, nodes, topology: volumeTopologyOf([nodes.requirements]) };
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
