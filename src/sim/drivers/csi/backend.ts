/** What a simulated CSI driver keeps: it outlives the driver's processes. */

/** What a simulated CSI driver can do, as data of a plan. */
export interface CsiDriverFeatures {
  /** 'a.csi.example.com' */
  readonly name: string;
  /** Every id begins with it: an id that another driver is given is recognized. */
  readonly prefix: string;
  /** PUBLISH_UNPUBLISH_VOLUME. */
  readonly attaches: boolean;
  /** STAGE_UNSTAGE_VOLUME. */
  readonly stages: boolean;
  /** VOLUME_ACCESSIBILITY_CONSTRAINTS: volumes are in the zone of a node. */
  readonly zones: boolean;
  /** max_volumes_per_node; 0: none. */
  readonly limit: number;
  /** `offline`: not while it is published. `node`: by NodeExpandVolume, too. */
  readonly expansion: 'online' | 'offline' | 'node';
  /** CLONE_VOLUME. */
  readonly clones: boolean;
  /** LIST_VOLUMES, LIST_VOLUMES_PUBLISHED_NODES, LIST_SNAPSHOTS. */
  readonly lists: boolean;
  /** Every volume and snapshot is larger than it was asked for by so many GiB. */
  readonly extraGi: number;
  /** How often a new snapshot is answered with "not ready". */
  readonly snapshotRounds: number;
}

/** What a volume was made of. `content`: of the source, at that moment. */
export type Origin = { readonly type: 'empty' } | { readonly type: 'snapshot' | 'volume'; readonly id: string; readonly content: string };

export interface CsiBackendVolume {
  readonly id: string;
  readonly name: string;
  bytes: bigint;
  /** Every write of a pod gives it another one. A new volume has ''. */
  content: string;
  readonly origin: Origin;
  readonly zone: string | undefined;
  /** Names of nodes. */
  readonly attachedTo: Set<string>;
}

export interface CsiBackendSnapshot {
  readonly id: string;
  readonly name: string;
  readonly volume: string;
  readonly content: string;
  readonly bytes: bigint;
  /** How often it still has to be asked for until it is ready. */
  pending: number;
  readonly group: string;
}

/** A change at the backend, with what is true there at that moment. */
export type CsiEvent =
  | { readonly do: 'delete-volume'; readonly attachedTo: readonly string[]; readonly publishedOn: readonly string[] }
  | { readonly do: 'detach'; readonly node: string; readonly stagedOrPublished: boolean }
  | { readonly do: 'stage'; readonly node: string; readonly isAttached: boolean }
  | { readonly do: 'unstage'; readonly node: string; readonly targets: readonly string[] }
  | { readonly do: 'publish'; readonly node: string; readonly isReady: boolean; readonly needs: 'stage' | 'attachment' }
  | { readonly do: 'delete-snapshot' }
  /** Two calls of one process at once, of which the second has to wait for the first. */
  | { readonly do: 'concurrent'; readonly calls: string }
  /** The id is of another driver. */
  | { readonly do: 'foreign'; readonly call: string };

export type ReportCsiEvent = (id: string, event: CsiEvent) => void;

export class CsiBackend {
  readonly features: CsiDriverFeatures;
  readonly volumes = new Map<string, CsiBackendVolume>();
  readonly snapshots = new Map<string, CsiBackendSnapshot>();
  /** 'node id' → staging path. */
  readonly stages = new Map<string, string>();
  /** 'node target' → id. */
  readonly publishes = new Map<string, string>();
  /** Everything that a snapshot ever had, by id: also of those that are deleted. */
  readonly taken = new Map<string, CsiBackendSnapshot>();
  #writes = 0;

  constructor(features: CsiDriverFeatures) {
    this.features = features;
  }

  volumeNamed(name: string): CsiBackendVolume | undefined {
    return this.volumes.get(this.idOf(name));
  }

  idOf(name: string): string {
    return `${this.features.prefix}.disk-${name}`;
  }

  write(id: string): void {
    const volume = this.volumes.get(id);
    if (volume !== undefined) volume.content = `${id} #${++this.#writes}`;
  }

  takeSnapshot(name: string, volume: CsiBackendVolume, group = ''): CsiBackendSnapshot {
    const id = `${this.features.prefix}.snap-${name}${group === '' ? '' : `-${volume.id}`}`;
    const known = this.snapshots.get(id);
    if (known !== undefined) return known;
    const { content, bytes } = volume;
    const taken = { id, name, volume: volume.id, content, bytes, pending: group === '' ? this.features.snapshotRounds : 0, group };
    this.snapshots.set(id, taken);
    this.taken.set(id, taken);
    return taken;
  }

  membersOf(group: string): readonly CsiBackendSnapshot[] {
    return Array.from(this.snapshots.values()).filter((snapshot) => snapshot.group === group);
  }

  targetsOf(node: string, id: string): readonly string[] {
    const place = `${node} `;
    return Array.from(this.publishes).flatMap(([key, published]) => (published === id && key.startsWith(place) ? [key.slice(place.length)] : []));
  }

  isStaged(node: string, id: string): boolean {
    return this.stages.has(`${node} ${id}`);
  }

  /** Names of nodes on which the volume is staged or published. */
  nodesWith(id: string): readonly string[] {
    const staged = Array.from(this.stages.keys()).filter((key) => key.endsWith(` ${id}`));
    return [...new Set([...staged.map(nodeOf), ...this.nodesPublishing(id)])];
  }

  /** A volume that is only staged for no pod may go, if its driver attaches nothing: the kubelet unstages it later. */
  nodesPublishing(id: string): readonly string[] {
    return Array.from(this.publishes).flatMap(([key, each]) => (each === id ? [nodeOf(key)] : []));
  }

  /** The machine lost its power: nothing is mounted on it. */
  forgetNode(node: string): void {
    for (const kept of [this.stages, this.publishes]) for (const key of kept.keys()) if (key.startsWith(`${node} `)) kept.delete(key);
  }
}

const nodeOf = (place: string): string => place.slice(0, place.indexOf(' '));

/** Where a node is, for drivers with zones. */
export const zoneOf = (node: string): string => (Number(node.slice('node-'.length)) % 2 === 1 ? 'east' : 'west');
export const zoneKey = ({ name }: CsiDriverFeatures): string => `topology.${name}/zone`;
