import type { Pod } from '../../api/generated/types.ts';
import type { Stored } from '../../api/stored.ts';
import type { NodeDriver } from '../../drivers/contract.ts';
import type { Index } from '../../client/informers/cache.ts';
import type { CsiSource } from '../../api/volumes/csi-translation.ts';
import type { PodActivity } from '../contract.ts';
import type { NodeCaches } from '../cache/node-caches.ts';
import type { Host } from '../host.ts';
import { isTerminal } from '../pods/status/pod-status.ts';
import { claimedVolume } from '../volumes/claimed-volume.ts';
import { volumeStateOf, type VolumeSnapshot } from '../volumes/volume-state.ts';
import { type VolumeUse, usedVolumes } from '../volumes/used-volumes.ts';
import { notWaiting } from '../volumes/mount-events.ts';
import type { ActualState } from './actual-state.ts';
import type { UnwantedRecord, PodVolumesSnapshot, VolumeEntry } from './reconcile.ts';
import type { NodeExpansion } from './actions.ts';
import { nodeExpansionOf } from './node-expansion.ts';
import { expansionKey, lockOfVolume, type Operations } from './operations.ts';
import { type PodVolume, podVolume } from './pod-volume.ts';

export interface DesiredStateOptions {
  readonly root: string;
  readonly host: Host;
  readonly caches: NodeCaches;
  readonly podActivity: PodActivity;
  readonly actual: ActualState;
  readonly operations: Operations;
  /** Undefined: there is none of that name. */
  readonly driver: (name: string) => NodeDriver | undefined;
  readonly sha256: (text: string) => string;
}

/** The desired state of the node's volumes, from the caches, and with it the snapshots that the reconciler compares with the actual state. */
export class DesiredState {
  readonly #options: DesiredStateOptions;
  readonly #byUid: Index<Pod>;

  constructor(options: DesiredStateOptions) {
    const { pods } = options.caches;
    this.#options = options;
    this.#byUid = pods.addIndex(uidOf);
  }

  pods(): readonly Stored<Pod>[] {
    return this.#options.caches.podsOn(this.#options.host.name);
  }

  has(uid: string): boolean {
    return this.#find(uid) !== undefined;
  }

  /** Pods of this node that use a claim. */
  usersOf(claim: string): readonly Stored<Pod>[] {
    return this.#options.caches.podsUsing(claim, this.#options.host.name);
  }

  /** Undefined: nothing may be mounted or unmounted now. */
  podSnapshot(uid: string, hasDirectory: boolean): PodVolumesSnapshot | undefined {
    const { podActivity, actual, operations } = this.#options;
    const pod = this.#find(uid);
    if (!podActivity.mayRun(uid)) {
      const records = [...actual.ofPod(uid)].map(({ record }): UnwantedRecord<typeof record> => {
        return { record, busy: operations.isBusy(lockOfVolume(record), uid), notBefore: operations.notBefore(record.key) };
      });
      return { type: 'unwanted', uid, records, hasDirectory };
    }
    if (pod === undefined || isTerminal(pod.status.phase) || pod.metadata.deletionTimestamp !== undefined) return undefined;
    return { type: 'wanted', pod, volumes: this.#volumesOf(pod), memory: notWaiting };
  }

  /** Volumes that are staged, and wanted by no pod. */
  orphanedSnapshot(): PodVolumesSnapshot {
    const { actual, operations } = this.#options;
    const unused = actual.unusedStagings();
    const wanted = unused.length === 0 ? new Set<string>() : this.#wantedStages();
    const records = unused.filter(({ key }) => !wanted.has(key));
    return {
      type: 'orphaned',
      records: records.map((record) => ({ record, busy: operations.isBusy(record.key, ''), notBefore: operations.notBefore(record.key) })),
    };
  }

  #wantedStages(): ReadonlySet<string> {
    const staying = this.pods().filter(({ metadata, status }) => this.#options.podActivity.mayRun(metadata.uid) && !isTerminal(status.phase));
    return new Set(staying.flatMap((pod) => usedVolumes(pod).flatMap((use) => this.#resolve(pod, use, this.#volumeSnapshot(pod))?.stagingPath ?? [])));
  }

  #volumesOf(pod: Stored<Pod>): readonly VolumeEntry[] {
    const snapshot = this.#volumeSnapshot(pod);
    return usedVolumes(pod).map((use) => this.#volumeEntry(pod, use, snapshot));
  }

  #volumeEntry(pod: Stored<Pod>, use: VolumeUse, snapshot: VolumeSnapshot): VolumeEntry {
    const { actual, operations } = this.#options;
    const state = volumeStateOf(pod, use, snapshot);
    const claimed = claimedVolume(pod, use, snapshot);
    const volume = this.#resolve(pod, use, snapshot, claimed);
    if (volume === undefined) return { state, volume, staging: 'needless', growth: undefined, published: undefined, busy: false, notBefore: undefined };
    const { stagingPath, key } = volume;
    const known = actual.get(key);
    const growth = claimed?.type === 'volume' ? nodeExpansionOf(claimed.claim, claimed.volume) : undefined;
    const staging = this.#staging(stagingPath, growth);
    return {
      state,
      volume,
      staging,
      growth: this.#growth(volume, growth, known?.mounted !== undefined),
      published: known?.mounted === undefined ? undefined : { stale: known.stale, again: known.again },
      busy: operations.isBusy(lockOfVolume(volume), volume.podUid),
      notBefore: operations.notBefore(staging === 'missing' || typeof staging === 'object' ? (stagingPath ?? key) : key),
    };
  }

  #staging(path: string | undefined, growth: NodeExpansion | undefined): VolumeEntry['staging'] {
    const { actual } = this.#options;
    if (path === undefined) return 'needless';
    if (!actual.isStaged(path)) return 'missing';
    const unused = growth !== undefined && actual.refusesToGrow(path) ? actual.unusedStaging(path) : undefined;
    return unused === undefined ? 'done' : { again: unused };
  }

  #growth({ driver: name, stagingPath, onNode }: PodVolume, to: NodeExpansion | undefined, isMounted: boolean): VolumeEntry['growth'] {
    const { actual, operations } = this.#options;
    const driver = this.#options.driver(name);
    if (to === undefined || stagingPath === undefined || driver?.nodeExpandVolume === undefined || actual.refusesToGrow(stagingPath)) return undefined;
    if (!isMounted && driver.expandsPublished?.(onNode) === true) return undefined;
    return { to, notBefore: operations.notBefore(expansionKey(stagingPath)) };
  }

  #resolve(pod: Stored<Pod>, use: VolumeUse, snapshot: VolumeSnapshot, claimed = claimedVolume(pod, use, snapshot)): PodVolume | undefined {
    const { root, sha256, driver: find } = this.#options;
    if (claimed?.type === 'error') return undefined;
    const volume = podVolume(pod, use, claimed?.volume, { root, sha256, stages: (driver) => find(driver)?.capabilities.stages ?? false });
    return volume.attached === undefined ? volume : { ...volume, onNode: { ...volume.onNode, publishContext: contextOf(volume.attached, snapshot) } };
  }

  /** With the actual state: which pods have a claim's volume mounted. */
  #volumeSnapshot(pod: Stored<Pod>): VolumeSnapshot {
    const { caches, host, actual } = this.#options;
    const { uid } = pod.metadata;
    return { ...caches.volumeSnapshot(host), isMountedByOtherPod: (claim) => actual.isMountedElsewhere(claim, uid) };
  }

  #find(uid: string): Stored<Pod> | undefined {
    return this.#byUid.get(uid).find((pod) => this.#isHere(pod));
  }

  #isHere({ spec }: Stored<Pod>): boolean {
    return spec.nodeName === this.#options.host.name;
  }
}

/** The attachment's metadata: CSI's publish context. */
const contextOf = (source: CsiSource, snapshot: VolumeSnapshot): Readonly<Record<string, string>> =>
  snapshot.attachment(source).object?.status.attachmentMetadata ?? {};

const uidOf = ({ metadata: { uid } }: Stored<Pod>): readonly string[] => [uid];
