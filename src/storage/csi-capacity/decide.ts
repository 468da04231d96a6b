/**
 * CSIStorageCapacity objects of the drivers in this process, as external-provisioner publishes them (pkg/capacity): one for each class and each topology
 * segment in which the driver is registered. The scheduler chooses nodes by them.
 *
 * The driver is asked when classes, nodes or volumes of it change, and every minute. What it cannot tell stays as it was.
 */
import type { CSIStorageCapacity, StorageClass } from '../../api/generated/types.ts';
import { formatQuantity, quantityOf } from '../../api/quantity.ts';
import { sortedJson } from '../../api/sorted-json.ts';
import type { Stored } from '../../api/stored.ts';
import type { DriverCapabilities } from '../../api/volumes/driver-capabilities.ts';
import { delayBefore, type TopologySegments } from '../../api/volumes/intent.ts';
import { because, stay } from '../volumes/decision.ts';
import type { CapacityAnswer, CapacityQuestion, CsiCapacityAction, CsiCapacityDecision } from './actions.ts';

export interface CsiCapacitySnapshot {
  /** Of this process; undefined: it is gone for good, since its CSIDriver is gone as well, or asks for no capacity. */
  readonly driver: DriverCapabilities | undefined;
  /** Its CSIDriver has `storageCapacity`. */
  readonly isWanted: boolean;
  readonly classes: readonly StorageClass[];
  /** Where the driver is registered. */
  readonly segments: readonly TopologySegments[];
  /** The objects of the driver that this controller manages. */
  readonly objects: readonly Stored<CSIStorageCapacity>[];
  /** By the object's name. */
  readonly answer: (name: string) => CapacityAnswer | undefined;
  /** When something last changed on which its answers depend. */
  readonly changedAt: number;
  readonly nameOf: (driver: string, storageClassName: string, topology: string) => string;
}

/** Where external-provisioner has them in its own namespace. */
export const capacityNamespace = 'kube-system';
export const capacityLabels = (driver: string): Readonly<Record<string, string>> => ({
  'csi.storage.k8s.io/drivername': driver,
  'csi.storage.k8s.io/managed-by': 'mooring',
});

const parameterPrefix = 'csi.storage.k8s.io/';
const pollMs = 60_000;
/** Many volumes may be made at once: the driver is not asked for each of them. */
const leastMs = 1000;

export function decide(snapshot: CsiCapacitySnapshot, now: number): CsiCapacityDecision {
  const { driver, isWanted, objects, answer } = snapshot;
  if (driver === undefined) {
    const actions = objects.map((object) => ({ do: 'delete', object }) as const);
    return { actions, reasons: [because('DriverGone', 'the driver is gone, and so is its capacity', 'none')] };
  }
  const asks = isWanted && driver.csi?.reportsCapacity === true;
  const questions = asks ? questionsOf(driver, snapshot) : [];
  const names = new Set(questions.map(({ name }) => name));
  const actions: CsiCapacityAction[] = objects.flatMap((object) => (names.has(object.metadata.name) ? [] : [{ do: 'delete', object } as const]));
  const known = new Map(objects.map((object) => [object.metadata.name, object]));
  for (const question of questions) actions.push(...publish(question, driver.name, answer(question.name), known.get(question.name)));
  if (questions.length === 0) {
    const text = asks ? 'it has no class that waits for its first consumer, or no node' : 'its CSIDriver or its capabilities do not ask for it';
    return actions.length === 0 ? stay(because('NoCapacity', text, 'none')) : { actions, reasons: [because('NoCapacity', text, 'none')] };
  }
  const due = questions.filter(({ name }) => dueAt(answer(name), snapshot.changedAt, now) <= now);
  if (due.length > 0) actions.push({ do: 'getCapacities', driver: driver.name, questions: due });
  const next = questions.flatMap(({ name }) => dueAt(answer(name), snapshot.changedAt, now)).filter((at) => at > now);
  return {
    actions,
    reasons: [because('Capacity', `the driver is asked for the capacity of ${questions.length} classes and segments`, 'driver')],
    ...(next.length === 0 ? {} : { again: next.reduce((a, b) => Math.min(a, b)) }),
  };
}

/** Kubernetes' default: only for classes that wait for their first consumer. */
function questionsOf(driver: DriverCapabilities, { classes, segments, nameOf }: CsiCapacitySnapshot): readonly CapacityQuestion[] {
  const topologies = driver.csi?.topology === true ? segments : [undefined];
  return classes
    .filter(({ volumeBindingMode }) => volumeBindingMode === 'WaitForFirstConsumer')
    .flatMap(({ metadata: { name: storageClassName = '' }, parameters = {} }) => {
      const own = Object.fromEntries(Object.entries(parameters).filter(([key]) => !key.startsWith(parameterPrefix)));
      return topologies.map((topology) => ({
        name: nameOf(driver.name, storageClassName, sortedJson(topology ?? {})),
        storageClassName,
        parameters: own,
        topology,
      }));
    });
}

function publish(
  { name, storageClassName, topology }: CapacityQuestion,
  driver: string,
  answer: CapacityAnswer | undefined,
  known: Stored<CSIStorageCapacity> | undefined,
): readonly CsiCapacityAction[] {
  if (answer?.capacity === undefined) return [];
  const { available, maximumVolumeSize } = answer.capacity;
  const capacity = bytes(available);
  const maximum = maximumVolumeSize === undefined ? {} : { maximumVolumeSize: bytes(maximumVolumeSize) };
  if (known === undefined) {
    const metadata = { namespace: capacityNamespace, name, labels: { ...capacityLabels(driver) } };
    const nodeTopology = topology === undefined ? {} : { matchLabels: { ...topology } };
    const object = { apiVersion: 'storage.k8s.io/v1', kind: 'CSIStorageCapacity', metadata, nodeTopology, storageClassName, capacity, ...maximum };
    return [{ do: 'create', object }];
  }
  if (known.capacity === capacity && known.maximumVolumeSize === maximum.maximumVolumeSize) return [];
  const { maximumVolumeSize: _, ...rest } = known;
  return [{ do: 'update', object: { ...rest, capacity, ...maximum }, from: known }];
}

const bytes = (value: bigint): string => formatQuantity(quantityOf(value, 'BinarySI'));

function dueAt(answer: CapacityAnswer | undefined, changedAt: number, now: number): number {
  // An answer from the future is one from before the clock was set back.
  if (answer === undefined || answer.at > now) return now;
  if (answer.failures > 0) return answer.at + Math.max(leastMs, Math.min(delayBefore(answer.failures), pollMs));
  return changedAt >= answer.at ? answer.at + leastMs : answer.at + pollMs;
}
