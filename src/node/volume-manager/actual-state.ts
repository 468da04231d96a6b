import type { MountedVolume } from '../contract.ts';
import type { PublishedRecord, StagedRecord } from './journal.ts';

/** The actual state of the node's volumes: what this process has mounted, and what the journal of an earlier one says may be mounted. */
export class ActualState {
  readonly #published = new Map<string, ActualVolume>();
  readonly #byPod = new Map<string, Map<string, ActualVolume>>();
  readonly #staged = new Map<string, { readonly record: StagedRecord; certain: boolean; refusesToGrow: boolean }>();

  /** Attachable volumes, by key. */
  readonly #attached = new Map<string, PublishedRecord | StagedRecord>();

  /** The volume may be mounted from now on; `reconstructed`: an earlier process may have mounted it. */
  expect(record: PublishedRecord, reconstructed = false): void {
    if (this.#published.has(record.key)) return;
    const volume: ActualVolume = { record, reconstructed, mounted: undefined, again: undefined, stale: false, group: undefined };
    this.#published.set(record.key, volume);
    if (record.attached !== undefined) this.#attached.set(record.key, record);
    const ofPod = this.#byPod.get(record.podUid) ?? new Map<string, ActualVolume>();
    this.#byPod.set(record.podUid, ofPod.set(record.key, volume));
  }

  get(key: string): ActualVolume | undefined {
    return this.#published.get(key);
  }

  remove({ key, podUid }: PublishedRecord): void {
    this.#published.delete(key);
    this.#attached.delete(key);
    const ofPod = this.#byPod.get(podUid);
    ofPod?.delete(key);
    if (ofPod?.size === 0) this.#byPod.delete(podUid);
  }

  ofPod(uid: string): Iterable<ActualVolume> {
    return this.#byPod.get(uid)?.values() ?? [];
  }

  hasPod(uid: string): boolean {
    return this.#byPod.has(uid);
  }

  pods(): Iterable<string> {
    return this.#byPod.keys();
  }

  /** Another pod has the claim's volume mounted, or may have. */
  isMountedElsewhere(claim: string, uid: string): boolean {
    for (const { record } of this.#published.values()) if (record.claim === claim && record.podUid !== uid) return true;
    return false;
  }

  expectStaged(record: StagedRecord): void {
    if (this.#staged.has(record.key)) return;
    this.#staged.set(record.key, { record, certain: false, refusesToGrow: false });
    if (record.attached !== undefined) this.#attached.set(record.key, record);
  }

  /** `certain`: the driver has it staged, or else may have. */
  setStaged(path: string, certain = true): void {
    const staged = this.#staged.get(path);
    if (staged !== undefined) staged.certain = certain;
  }

  isStaged(path: string): boolean {
    return this.#staged.get(path)?.certain ?? false;
  }

  /** The driver cannot expand the volume while it is mounted. */
  refuseGrowth(path: string): void {
    const staged = this.#staged.get(path);
    if (staged !== undefined) staged.refusesToGrow = true;
  }

  refusesToGrow(path: string): boolean {
    return this.#staged.get(path)?.refusesToGrow ?? false;
  }

  /** Undefined: a pod has it published, or may have. */
  unusedStaging(path: string): StagedRecord | undefined {
    for (const { record } of this.#published.values()) if (record.stagingPath === path) return undefined;
    return this.#staged.get(path)?.record;
  }

  removeStaged(path: string): void {
    this.#staged.delete(path);
    this.#attached.delete(path);
  }

  /** Staged volumes that are published for no pod. */
  unusedStagings(): readonly StagedRecord[] {
    if (this.#staged.size === 0) return [];
    const used = new Set([...this.#published.values()].map(({ record }) => record.stagingPath));
    return [...this.#staged.values()].flatMap(({ record }) => (used.has(record.key) ? [] : [record]));
  }

  /** As node statuses name them. */
  attachedVolumes(): ReadonlySet<string> {
    return new Set(Array.from(this.#attached.values(), (record) => record.attached ?? ''));
  }
}

export interface ActualVolume {
  readonly record: PublishedRecord;
  /** From the journal of an earlier process. */
  readonly reconstructed: boolean;
  /** Undefined: it may be mounted, completely or in part. */
  mounted: MountedVolume | undefined;
  /** When it has to be published again; milliseconds since 1970. */
  again: number | undefined;
  stale: boolean;
  group: number | undefined;
}
