import type { PersistentVolume, PersistentVolumeClaim } from '../../api/generated/types.ts';
import type { KubeObject } from '../../api/object.ts';
import { type Claim, claimKey, readClaim } from '../../domain/volumes/claim.ts';
import { Groups } from '../../domain/volumes/groups.ts';
import { readVolume, type Volume } from '../../domain/volumes/volume.ts';
import type { ObjectChange } from '../framework.ts';
import { type Choice, FreeVolumes } from './free-volumes.ts';
import type { LabelledNodes } from './labelled-nodes.ts';

/** As the server has it, and as it will be once a pod that has its node already has got its volumes. */
interface Page<T> {
  readonly seen: T;
  readonly assumed: T | undefined;
}

/**
 * All volumes and claims, as the server has them and as they are assumed to be: what one pod was promised in memory is out of reach for
 * the pods behind it, before anything is written. An assumption is about one revision of an object and ends with it: what the server
 * says later counts.
 */
export class VolumeBook {
  readonly #volumes = new Map<string, Page<Volume>>();
  readonly #claims = new Map<string, Page<Claim>>();
  /** Volumes that point at a claim, by its key. */
  readonly #pointing = new Groups<Volume>();
  /** How many claims were bound to a volume, by its name: it goes back to them, even if it looks free. */
  readonly #owners = new Map<string, number>();
  readonly #free: FreeVolumes;

  constructor(nodes: LabelledNodes) {
    this.#free = new FreeVolumes(nodes);
  }

  volume(name: string): Volume | undefined {
    const page = this.#volumes.get(name);
    return page?.assumed ?? page?.seen;
  }

  /** By 'namespace/name'. */
  claim(key: string): Claim | undefined {
    const page = this.#claims.get(key);
    return page?.assumed ?? page?.seen;
  }

  /** As the server has it. */
  seenVolume(name: string): Volume | undefined {
    return this.#volumes.get(name)?.seen;
  }

  seenClaim(key: string): Claim | undefined {
    return this.#claims.get(key)?.seen;
  }

  isAssumedVolume(name: string): boolean {
    return this.#volumes.get(name)?.assumed !== undefined;
  }

  isAssumedClaim(key: string): boolean {
    return this.#claims.get(key)?.assumed !== undefined;
  }

  /** The volumes whose claimRef names the claim, rightly or not. */
  pointingAt(key: string): Iterable<Volume> {
    return this.#pointing.of(key);
  }

  choiceFor(claim: Claim): Choice {
    return this.#free.choiceFor(claim);
  }

  observeVolume({ before, after }: ObjectChange<PersistentVolume>): void {
    const name = (after ?? before)?.metadata.name ?? '';
    const assumed = this.#volumes.get(name)?.assumed;
    this.#turnVolume(name, after === undefined ? undefined : { seen: readVolume(after), assumed: stillAbout(assumed, after) });
  }

  observeClaim({ before, after }: ObjectChange<PersistentVolumeClaim>): void {
    const { namespace = '', name = '' } = (after ?? before)?.metadata ?? {};
    const key = claimKey(namespace, name);
    const page = this.#claims.get(key);
    if (page !== undefined) this.#countOwner(page.seen, -1);
    if (after === undefined) {
      this.#claims.delete(key);
      return;
    }
    const seen = readClaim(after);
    this.#claims.set(key, { seen, assumed: stillAbout(page?.assumed, after) });
    this.#countOwner(seen, 1);
  }

  /** From now on the volume counts as being so. It must be made of what the server has; anything else is refused. */
  assumeVolume(object: PersistentVolume): 'assumed' | 'outdated' {
    const name = object.metadata.name ?? '';
    const page = this.#volumes.get(name);
    if (page === undefined || !isSameRevision(page.seen.object, object)) return 'outdated';
    this.#turnVolume(name, { seen: page.seen, assumed: readVolume(object) });
    return 'assumed';
  }

  assumeClaim(object: PersistentVolumeClaim): 'assumed' | 'outdated' {
    const key = claimKey(object.metadata.namespace ?? '', object.metadata.name ?? '');
    const page = this.#claims.get(key);
    if (page === undefined || !isSameRevision(page.seen.object, object)) return 'outdated';
    this.#claims.set(key, { seen: page.seen, assumed: readClaim(object) });
    return 'assumed';
  }

  /** Takes an assumption back; nothing happens if it has ended already. Whether it had not. */
  restoreVolume(object: PersistentVolume): boolean {
    const name = object.metadata.name ?? '';
    const page = this.#volumes.get(name);
    if (page?.assumed?.object !== object) return false;
    this.#turnVolume(name, { seen: page.seen, assumed: undefined });
    return true;
  }

  restoreClaim(object: PersistentVolumeClaim): boolean {
    const key = claimKey(object.metadata.namespace ?? '', object.metadata.name ?? '');
    const page = this.#claims.get(key);
    if (page?.assumed?.object !== object) return false;
    this.#claims.set(key, { seen: page.seen, assumed: undefined });
    return true;
  }

  #turnVolume(name: string, page: Page<Volume> | undefined): void {
    const before = this.volume(name);
    if (page === undefined) this.#volumes.delete(name);
    else this.#volumes.set(name, page);
    const after = this.volume(name);
    if (before?.claim !== undefined) this.#pointing.remove(before.claim.key, before);
    if (after?.claim !== undefined) this.#pointing.add(after.claim.key, after);
    if (!this.#owners.has(name)) this.#free.change(before, after);
  }

  #countOwner({ everBound, volumeName }: Claim, times: 1 | -1): void {
    if (!everBound || volumeName === '') return;
    const count = (this.#owners.get(volumeName) ?? 0) + times;
    const volume = this.volume(volumeName);
    if (count === 0) {
      this.#owners.delete(volumeName);
      this.#free.change(undefined, volume);
    } else {
      if (count === 1 && times === 1) this.#free.change(volume, undefined);
      this.#owners.set(volumeName, count);
    }
  }
}

const isSameRevision = ({ metadata: a }: KubeObject, { metadata: b }: KubeObject): boolean => a.uid === b.uid && a.resourceVersion === b.resourceVersion;

const stillAbout = <T extends { readonly object: KubeObject }>(assumed: T | undefined, seen: KubeObject): T | undefined =>
  assumed !== undefined && isSameRevision(assumed.object, seen) ? assumed : undefined;
