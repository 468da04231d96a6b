import { quantityValue } from '../../api/quantity.ts';
import type { CsiBackend } from '../drivers/csi/backend.ts';
import type { Facts } from './facts.ts';

/** What must not be left at the end of a world with CSI drivers: what a driver keeps is exactly what objects name. */
export const csiLeftUndone = (backend: CsiBackend, facts: Facts): string | undefined =>
  volumeLeft(backend, facts) ?? snapshotLeft(backend, facts) ?? mountLeft(backend, facts) ?? snapshotUndone(facts) ?? unregistered(backend, facts);

function volumeLeft({ features, volumes }: CsiBackend, facts: Facts): string | undefined {
  for (const id of volumes.keys())
    if (facts.volumesOf(id).length === 0 && !facts.keptVolumes.has(id)) return `volume ${id} exists, and no PersistentVolume names it`;
  for (const [name, { spec, status }] of facts.volumes) {
    if (spec.csi?.driver !== features.name || status.phase !== 'Bound') continue;
    const volume = volumes.get(spec.csi.volumeHandle);
    if (volume === undefined) return `volume ${name} names ${spec.csi.volumeHandle}, which does not exist`;
    const capacity = spec.capacity?.['storage'] ?? '0';
    if (quantityValue(capacity) !== volume.bytes) return `volume ${name} has ${capacity}, and ${volume.id} has ${volume.bytes} bytes`;
  }
  return undefined;
}

function snapshotLeft({ features, snapshots }: CsiBackend, facts: Facts): string | undefined {
  const ofDriver = <T extends { readonly spec: { readonly driver: string } }>(all: ReadonlyMap<string, T>): readonly T[] =>
    Array.from(all.values()).filter(({ spec }) => spec.driver === features.name);
  const named = new Set([
    ...ofDriver(facts.contents).map(({ status }) => status?.snapshotHandle),
    // With the policy Retain, a group's content stays, and names members that never got a content of their own.
    ...ofDriver(facts.groupContents).flatMap(({ status }) => (status?.volumeSnapshotInfoList ?? []).map(({ snapshotHandle }) => snapshotHandle)),
  ]);
  for (const id of snapshots.keys()) if (!named.has(id) && !facts.keptSnapshots.has(id)) return `snapshot ${id} exists, and no content names it`;
  for (const [name, { spec, status, metadata }] of facts.contents) {
    const handle = status?.snapshotHandle;
    if (spec.driver === features.name && handle !== undefined && metadata.deletionTimestamp === undefined && !snapshots.has(handle))
      return `content ${name} names ${handle}, which does not exist`;
  }
  return undefined;
}

/** Stages and publishes of pods that are gone. */
function mountLeft({ stages, publishes }: CsiBackend, facts: Facts): string | undefined {
  const pods = Array.from(facts.pods.values());
  for (const key of stages.keys()) {
    const [node, id] = parted(key);
    const isUsed = pods.some((pod) => pod.spec.nodeName === node && facts.disksOf(pod).some(({ handle }) => handle === id));
    if (!isUsed && facts.nodes.has(node)) return `${id} is still staged on ${node}, where no pod uses it`;
  }
  for (const key of publishes.keys()) {
    const [node, target] = parted(key);
    const isUsed = pods.some((pod) => target.includes(`/pods/${pod.metadata.uid}/`));
    if (!isUsed && facts.nodes.has(node)) return `${target} is still published on ${node}, and its pod is gone`;
  }
  return undefined;
}

const parted = (key: string): readonly [string, string] => [key.slice(0, key.indexOf(' ')), key.slice(key.indexOf(' ') + 1)];

/** A snapshot stays as long as a claim waits to be restored from it. */
function snapshotUndone(facts: Facts): string | undefined {
  const waited = new Set(
    Array.from(facts.claims.values()).flatMap(({ metadata, spec, status }) =>
      status.phase === 'Pending' ? [`${metadata.namespace}/${spec.dataSource?.name}`] : [],
    ),
  );
  for (const [key, { metadata }] of facts.snapshots)
    if (metadata.deletionTimestamp !== undefined && !waited.has(key)) return `snapshot ${key} is still terminating, and no claim waits for it`;
  for (const [name, { metadata, spec }] of facts.contents) {
    const key = `${spec.volumeSnapshotRef.namespace}/${spec.volumeSnapshotRef.name}`;
    if (metadata.deletionTimestamp !== undefined && !facts.snapshots.has(key)) return `content ${name} is still terminating, and its snapshot is gone`;
  }
  return undefined;
}

/** Every node that is ready names every driver. */
function unregistered({ features: { name, prefix } }: CsiBackend, facts: Facts): string | undefined {
  for (const node of facts.readySince.keys()) {
    const driver = facts.csiNodes.get(node)?.spec.drivers?.find((each) => each.name === name);
    if (driver?.nodeID !== `${prefix}.${node}`) return `the CSINode of ${node} does not name ${name}`;
  }
  return undefined;
}
