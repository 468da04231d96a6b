import type { PersistentVolume, PersistentVolumeClaim } from '../../api/generated/types.ts';
import type { KubeObject } from '../../api/object.ts';
import type { Stored } from '../../api/stored.ts';
import { type Claim, claimKey, readClaim } from '../../storage/volumes/claim.ts';
import { Groups } from '../../storage/volumes/groups.ts';
import { readVolume, type Volume } from '../../storage/volumes/volume.ts';
import type { ObjectChange } from '../framework.ts';
import { type CandidateVolumes, FreeVolumes } from './free-volumes.ts';
import type { NodeLabelIndex } from './node-label-index.ts';

/** The object as the API server has it, and as a pod in its binding cycle will leave it. */
interface AssumedObject<T> {
  readonly api: T;
  readonly assumed: T | undefined;
}

/**
 * The assume cache of PVs and PVCs (kube-scheduler's util/assumecache). What one pod has assumed is not available to the next pods, before
 * anything is written. An assumption holds for one resourceVersion of an object; a newer version from the API server replaces it.
 */
export class VolumeAssumeCache {
  readonly #volumes = new Map<string, AssumedObject<Volume>>();
  readonly #claims = new Map<string, AssumedObject<Claim>>();
  /** PVs by the claim key in their claimRef. */
  readonly #byClaimRef = new Groups<Volume>();
  /** How many claims are bound to a PV, by its name. Such a PV is not free, even without a claimRef. */
  readonly #boundClaims = new Map<string, number>();
  readonly #free: FreeVolumes;

  constructor(nodes: NodeLabelIndex) {
    this.#free = new FreeVolumes(nodes);
  }

  volume(name: string): Volume | undefined {
    const entry = this.#volumes.get(name);
    return entry?.assumed ?? entry?.api;
  }

  /** By 'namespace/name'. */
  claim(key: string): Claim | undefined {
    const entry = this.#claims.get(key);
    return entry?.assumed ?? entry?.api;
  }

  /** Without assumptions. */
  apiVolume(name: string): Volume | undefined {
    return this.#volumes.get(name)?.api;
  }

  apiClaim(key: string): Claim | undefined {
    return this.#claims.get(key)?.api;
  }

  isAssumedVolume(name: string): boolean {
    return this.#volumes.get(name)?.assumed !== undefined;
  }

  isAssumedClaim(key: string): boolean {
    return this.#claims.get(key)?.assumed !== undefined;
  }

  /** The PVs whose claimRef names the claim, whatever its uid. */
  volumesWithClaimRef(key: string): Iterable<Volume> {
    return this.#byClaimRef.of(key);
  }

  candidatesFor(claim: Claim): CandidateVolumes {
    return this.#free.candidatesFor(claim);
  }

  observeVolume({ before, after }: ObjectChange<Stored<PersistentVolume>>): void {
    const { name } = (after ?? before).metadata;
    const assumed = this.#volumes.get(name)?.assumed;
    this.#setVolume(name, after === undefined ? undefined : { api: readVolume(after), assumed: unlessReplaced(assumed, after) });
  }

  observeClaim({ before, after }: ObjectChange<Stored<PersistentVolumeClaim>>): void {
    const { namespace = '', name } = (after ?? before).metadata;
    const key = claimKey(namespace, name);
    const entry = this.#claims.get(key);
    if (entry !== undefined) this.#countBoundClaim(entry.api, -1);
    if (after === undefined) {
      this.#claims.delete(key);
      return;
    }
    const api = readClaim(after);
    this.#claims.set(key, { api, assumed: unlessReplaced(entry?.assumed, after) });
    this.#countBoundClaim(api, 1);
  }

  /** The object must be based on the current version; 'outdated' otherwise. */
  assumeVolume(object: PersistentVolume): 'assumed' | 'outdated' {
    const name = object.metadata.name ?? '';
    const entry = this.#volumes.get(name);
    if (entry === undefined || !isSameRevision(entry.api.object, object)) return 'outdated';
    this.#setVolume(name, { api: entry.api, assumed: readVolume(object) });
    return 'assumed';
  }

  assumeClaim(object: PersistentVolumeClaim): 'assumed' | 'outdated' {
    const key = claimKey(object.metadata.namespace ?? '', object.metadata.name ?? '');
    const entry = this.#claims.get(key);
    if (entry === undefined || !isSameRevision(entry.api.object, object)) return 'outdated';
    this.#claims.set(key, { api: entry.api, assumed: readClaim(object) });
    return 'assumed';
  }

  /** Reverts the assumption. False: a newer version has replaced it. */
  restoreVolume(object: PersistentVolume): boolean {
    const name = object.metadata.name ?? '';
    const entry = this.#volumes.get(name);
    if (entry?.assumed?.object !== object) return false;
    this.#setVolume(name, { api: entry.api, assumed: undefined });
    return true;
  }

  restoreClaim(object: PersistentVolumeClaim): boolean {
    const key = claimKey(object.metadata.namespace ?? '', object.metadata.name ?? '');
    const entry = this.#claims.get(key);
    if (entry?.assumed?.object !== object) return false;
    this.#claims.set(key, { api: entry.api, assumed: undefined });
    return true;
  }

  #setVolume(name: string, entry: AssumedObject<Volume> | undefined): void {
    const before = this.volume(name);
    if (entry === undefined) this.#volumes.delete(name);
    else this.#volumes.set(name, entry);
    const after = this.volume(name);
    if (before?.claim !== undefined) this.#byClaimRef.remove(before.claim.key, before);
    if (after?.claim !== undefined) this.#byClaimRef.add(after.claim.key, after);
    if (!this.#boundClaims.has(name)) this.#free.change(before, after);
  }

  #countBoundClaim({ everBound, volumeName }: Claim, times: 1 | -1): void {
    if (!everBound || volumeName === '') return;
    const count = (this.#boundClaims.get(volumeName) ?? 0) + times;
    const volume = this.volume(volumeName);
    if (count === 0) {
      this.#boundClaims.delete(volumeName);
      this.#free.change(undefined, volume);
    } else {
      if (count === 1 && times === 1) this.#free.change(volume, undefined);
      this.#boundClaims.set(volumeName, count);
    }
  }
}

const isSameRevision = ({ metadata: a }: KubeObject, { metadata: b }: KubeObject): boolean => a.uid === b.uid && a.resourceVersion === b.resourceVersion;

const unlessReplaced = <T extends { readonly object: KubeObject }>(assumed: T | undefined, api: KubeObject): T | undefined =>
  assumed !== undefined && isSameRevision(assumed.object, api) ? assumed : undefined;
