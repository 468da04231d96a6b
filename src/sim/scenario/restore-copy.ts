/** Restores a copy of a cluster: hosts, backends, and a store with its objects. */
import type { Node, PersistentVolume } from '../../api/generated/types.ts';
import { csiDriverKind } from '../../api/kinds/storage/csi-driver.ts';
import { csiNodeKind } from '../../api/kinds/storage/csi-node.ts';
import { allKinds } from '../../api/kinds/index.ts';
import { nodeKind } from '../../api/kinds/core/node.ts';
import { persistentVolumeKind } from '../../api/kinds/core/persistent-volume.ts';
import { storageClassKind } from '../../api/kinds/storage/storage-class.ts';
import { volumeAttachmentKind } from '../../api/kinds/storage/volume-attachment.ts';
import type { Host } from '../../node/host.ts';
import { encode } from '../../apiserver/objects/object-revision.ts';
import { keyOf, Resources } from '../../apiserver/objects/resources.ts';
import { apiVersionOf } from '../../api/kind.ts';
import { absent, put, type Store } from '../../store/contract.ts';
import type { SimulatedBackend } from './simulated-backend.ts';
import { allOf, type ClusterCopy } from './cluster-copy.ts';
import { driverOf } from './language/read-cluster.ts';
import type { DriverPlan } from './language/scenario.ts';

/** Hosts that report what the copied nodes reported. */
export function hostsOfCopy(copy: ClusterCopy): readonly Host[] {
  const drivers = new Map(allOf(copy, csiNodeKind).map(({ metadata, spec }) => [metadata.name, spec.drivers]));
  return allOf(copy, nodeKind).map(({ metadata: { name = '', labels = {} }, spec, status }, i) => ({
    name,
    labels,
    ip: status.addresses?.find(({ type }) => type === 'InternalIP')?.address ?? '127.0.0.1',
    podCidr: spec.podCIDR ?? `10.${128 + Math.floor(i / 64)}.${(i % 64) * 4}.0/22`,
    // Allocatable: the kubelet reserves the rest.
    capacity: status.allocatable ?? status.capacity ?? {},
    system: status.nodeInfo,
    drivers: drivers.get(name) ?? [],
  }));
}

/** Nodes that were not ready in the copy. */
export const unreachableNodes = (copy: ClusterCopy): readonly string[] =>
  allOf(copy, nodeKind).flatMap((node) => (isReady(node) ? [] : [node.metadata.name ?? '']));

const isReady = ({ status }: Node): boolean => status.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false;

/** A backend for each driver and provisioner of the copy; `given`: those that the scenario describes. */
export function driversOfCopy(copy: ClusterCopy, given: readonly DriverPlan[]): readonly DriverPlan[] {
  const onNodes = new Map(
    allOf(copy, csiNodeKind).flatMap(({ spec }) => (spec.drivers ?? []).map((driver) => [driver.name, driver.topologyKeys ?? []] as const)),
  );
  const objects = new Map(allOf(copy, csiDriverKind).map(({ metadata, spec }) => [metadata.name ?? '', spec.attachRequired ?? true]));
  const names = new Set([
    ...objects.keys(),
    ...onNodes.keys(),
    ...allOf(copy, persistentVolumeKind).flatMap(({ spec }) => spec.csi?.driver ?? []),
    ...allOf(copy, storageClassKind).flatMap(({ provisioner }) => (provisioner.startsWith('kubernetes.io/') ? [] : [provisioner])),
    ...given.map(({ name }) => name),
  ]);
  return [...names].sort().map((name) => {
    const ofScenario = given.find((each) => each.name === name);
    if (ofScenario !== undefined) return ofScenario;
    const zonal = (onNodes.get(name) ?? []).some((key) => key.includes('zone'));
    return { ...driverOf(name), zonal, attaches: objects.get(name) ?? onNodes.has(name) };
  });
}

/** Creates the disks of the volumes, attached where they are. */
export function adoptDisks(copy: ClusterCopy, backends: ReadonlyMap<string, SimulatedBackend>): void {
  const attachments = allOf(copy, volumeAttachmentKind);
  for (const volume of allOf(copy, persistentVolumeKind)) {
    const { csi, capacity } = volume.spec;
    if (csi === undefined) continue;
    const ofVolume = attachments.filter(({ spec, status }) => spec.source.persistentVolumeName === volume.metadata.name && (status?.attached ?? false));
    const nodes = ofVolume.map(({ spec }) => spec.nodeName);
    backends.get(csi.driver)?.adopt({ handle: csi.volumeHandle, disk: { size: capacity?.['storage'] ?? '0', zone: zoneOf(volume) }, nodes });
  }
}

function zoneOf({ spec }: PersistentVolume): string | undefined {
  const terms = spec.nodeAffinity?.required?.nodeSelectorTerms ?? [];
  const zones = terms.flatMap(({ matchExpressions = [] }) => matchExpressions.flatMap(({ key, values }) => (key.includes('zone') ? (values ?? []) : [])));
  return zones.length === 1 ? zones[0] : undefined;
}

/** Objects per transaction. */
const together = 500;

/** Writes the objects with their uids, statuses and finalizers; revisions are new. */
export async function fillStore(store: Store, { objects }: ClusterCopy): Promise<void> {
  const resources = new Resources(allKinds);
  const writes = [...objects].flatMap(([kind, all]) => {
    const resource = resources.require(apiVersionOf(kind), kind.plural);
    return all.map((object) => {
      const { bytes } = encode(resource, object);
      return put(keyOf(resource, object.metadata.namespace ?? '', object.metadata.name ?? ''), bytes);
    });
  });
  for (let i = 0; i < writes.length; i += together) {
    const part = writes.slice(i, i + together);
    const done = await store.transact({ compares: part.map(({ key }) => absent(key)), writes: part });
    if (!done.ok) throw new Error(`the copy has two objects of one name: ${done.conflicts[0]?.key ?? ''}`);
  }
}
