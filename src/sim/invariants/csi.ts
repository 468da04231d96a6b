/** About CSI drivers behind sockets: what Kubernetes promises them, and what of their volumes and snapshots must never be lost. */
import type { PersistentVolumeClaim } from '../../api/generated/types.ts';
import type { VolumeSnapshotContent } from '../../api/kinds/snapshot/volume-snapshot.ts';
import { snapshotAnnotations } from '../../api/volumes/snapshot-annotations.ts';
import type { CsiBackend } from '../drivers/csi/backend.ts';
import { isLive } from './attaching.ts';
import type { CsiChange, Facts, ObservedChange } from './facts.ts';
import type { Invariant } from './invariant.ts';

const ofCsi = (name: string, check: (change: CsiChange, facts: Facts, now: number) => string | undefined): Invariant => ({
  name,
  check: (change, facts, now) => (change.type === 'csi' ? check(change, facts, now) : undefined),
});

const inOrder = ofCsi('CSI: a volume is attached, then staged, then published, and undone the other way round', ({ id, event }, facts, now) => {
  if (!('node' in event) || !isLive(facts, event.node, now)) return undefined;
  switch (event.do) {
    case 'stage':
      return event.isAttached ? undefined : `${id} is staged on ${event.node}, to which it is not attached`;
    case 'publish':
      return event.isReady ? undefined : `${id} is published on ${event.node} without its ${event.needs}`;
    case 'unstage':
      return event.targets.length === 0 ? undefined : `${id} is unstaged on ${event.node}, where it is published at ${event.targets[0]}`;
    case 'detach':
      return event.stagedOrPublished ? `${id} is detached from ${event.node}, where it is staged or published` : undefined;
  }
});

const deletedUnused = ofCsi('CSI: no volume is deleted while it is attached or published', ({ id, event }, facts, now) => {
  if (event.do !== 'delete-volume') return undefined;
  const node = event.attachedTo[0] ?? event.publishedOn.find((each) => isLive(facts, each, now));
  return node === undefined ? undefined : `${id} is to be deleted, and ${node} has it`;
});

const ownIds = ofCsi('CSI: an id is used only with its own driver', ({ backend, id, event }) =>
  event.do === 'foreign' ? `${backend.features.name} was asked for ${id}: ${event.call}` : undefined,
);

const oneAtATime = ofCsi('CSI: one call at a time for one volume', ({ event }) => (event.do === 'concurrent' ? event.calls : undefined));

const sourceStays = ofCsi('CSI: a source in use is not deleted', ({ backend, id, event }, facts) => {
  if (event.do !== 'delete-volume' && event.do !== 'delete-snapshot') return undefined;
  for (const { metadata, spec, status } of facts.intents.values())
    if (spec.operation === 'Create' && spec.request.source?.handle === id && status.phase !== 'Created')
      return `${id} is deleted while ${metadata.name} is being made of it`;
  for (const [name, content] of facts.contents)
    if (content.spec.source.volumeHandle === id && isBeingMade(content) && !isTakenWithGroup(content, backend))
      return `${id} is deleted while snapshot content ${name} is being made of it`;
  return undefined;
});

/** The driver may still have to read the volume. */
const isBeingMade = ({ metadata, status }: VolumeSnapshotContent): boolean =>
  status?.snapshotHandle === undefined && status?.error === undefined && metadata.deletionTimestamp === undefined;

/**
 * The content of a member of a group names the group's handle from its creation on: the driver took all snapshots of the group before, and only the status,
 * which is written next, lacks the member's own handle (external-snapshotter v8.6, `createIndividualSnapshotForGroupSnapshot`).
 */
function isTakenWithGroup({ metadata, spec }: VolumeSnapshotContent, { taken }: CsiBackend): boolean {
  const group = metadata.annotations?.[snapshotAnnotations.groupHandle];
  return group !== undefined && Array.from(taken.values()).some((each) => each.group === group && each.volume === spec.source.volumeHandle);
}

const keyOf = ({ namespace, name }: { readonly namespace?: string; readonly name?: string }): string => `${namespace}/${name}`;

/** What was ever known of claims and snapshots, by 'namespace/name': they may be gone when something that was made of them is looked at. */
class KnownSources {
  readonly #volumes = new Map<string, Set<string>>();
  readonly #snapshots = new Map<string, Set<string>>();

  observe(change: ObservedChange): void {
    if (change.type === 'volume' && change.after?.spec.claimRef !== undefined)
      add(this.#volumes, keyOf(change.after.spec.claimRef), change.after.spec.csi?.volumeHandle);
    if (change.type === 'content' && change.after !== undefined) add(this.#snapshots, keyOf(change.after.spec.volumeSnapshotRef), handleOf(change.after));
  }

  volumesOf(claim: string): ReadonlySet<string> {
    return this.#volumes.get(claim) ?? new Set();
  }

  snapshotsOf(snapshot: string): ReadonlySet<string> {
    return this.#snapshots.get(snapshot) ?? new Set();
  }
}

function add(map: Map<string, Set<string>>, key: string, value: string | undefined): void {
  if (value !== undefined) map.set(key, (map.get(key) ?? new Set()).add(value));
}

const handleOf = ({ spec, status }: VolumeSnapshotContent): string | undefined => status?.snapshotHandle ?? spec.source.snapshotHandle;

/** A claim with a data source that is Bound has the content that its source had. */
function filledFromItsSource(): Invariant {
  const known = new KnownSources();
  return {
    name: 'CSI: a restored volume has the content of its snapshot, a clone that of its source',
    check: (change, facts) => {
      known.observe(change);
      if (change.type !== 'claim' || change.after?.status.phase !== 'Bound' || change.before?.status.phase === 'Bound') return undefined;
      return wrongContent(change.key, change.after, facts, known);
    },
  };
}

function wrongContent(key: string, claim: PersistentVolumeClaim, facts: Facts, known: KnownSources): string | undefined {
  const source = claim.spec.dataSource ?? claim.spec.dataSourceRef;
  const csi = facts.volumes.get(claim.spec.volumeName ?? '')?.spec.csi;
  const backend = facts.csi.get(csi?.driver ?? '');
  const volume = backend?.volumes.get(csi?.volumeHandle ?? '');
  if (source === undefined || backend === undefined || volume === undefined) return undefined;
  const { origin } = volume;
  if (origin.type === 'empty') return `claim ${key} is bound to ${volume.id}, which is empty, and names ${source.kind} ${source.name}`;
  const at = `${claim.metadata.namespace}/${source.name}`;
  const expected = source.kind === 'VolumeSnapshot' ? known.snapshotsOf(at) : known.volumesOf(at);
  if (!expected.has(origin.id)) return `claim ${key} is bound to ${volume.id}, which was made of ${origin.id}, and names ${source.kind} ${source.name}`;
  const taken = backend.taken.get(origin.id);
  return taken === undefined || taken.content === origin.content ? undefined : `${volume.id} has not the content of snapshot ${origin.id}`;
}

/** A content names a snapshot of the volume of the claim that the VolumeSnapshot names. */
function snapshotOfItsClaim(): Invariant {
  const known = new KnownSources();
  return {
    name: 'CSI: a snapshot is one of its claim',
    check: (change, facts) => {
      known.observe(change);
      if (change.type !== 'content' || change.after === undefined) return undefined;
      const handle = handleOf(change.after);
      const taken = facts.csi.get(change.after.spec.driver)?.taken.get(handle ?? '');
      const key = keyOf(change.after.spec.volumeSnapshotRef);
      const claim = facts.snapshots.get(key)?.spec.source.persistentVolumeClaimName;
      if (taken === undefined || claim === undefined) return undefined;
      const volumes = known.volumesOf(`${change.after.spec.volumeSnapshotRef.namespace}/${claim}`);
      return volumes.has(taken.volume) ? undefined : `content ${change.key} of snapshot ${key} names ${handle}, which is one of ${taken.volume}`;
    },
  };
}

/** Also if the content is deleted, its snapshot stays. */
function snapshotRetained(): Invariant {
  const retained = new Set<string>();
  return {
    name: 'CSI: Retain: no snapshot is ever deleted',
    check: (change) => {
      if (change.type === 'content' && change.after !== undefined) {
        const handle = handleOf(change.after) ?? '';
        if (change.after.spec.deletionPolicy === 'Retain') retained.add(handle);
        else retained.delete(handle);
      }
      return change.type === 'csi' && change.event.do === 'delete-snapshot' && retained.has(change.id)
        ? `snapshot ${change.id} was deleted, and the policy of its content is Retain`
        : undefined;
    },
  };
}

/** All of them, for one run. */
export const csiInvariants = (): readonly Invariant[] => [
  inOrder,
  deletedUnused,
  ownIds,
  oneAtATime,
  sourceStays,
  filledFromItsSource(),
  snapshotOfItsClaim(),
  snapshotRetained(),
];
