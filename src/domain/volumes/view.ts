import type { PersistentVolume, PersistentVolumeClaim } from '../../api/generated/types.ts';
import { type Claim, readClaim, takesAnyVolume } from './claim.ts';
import { isFree, readVolume, type Volume } from './volume.ts';
import { entryOf, type FitOptions, VolumeIndex } from './volume-index.ts';
import { WaitingClaims } from './waiting-claims.ts';

/**
 * All volumes and claims, read once and arranged for whoever decides about them. Whoever follows the caches tells it of every
 * change; nothing here looks at everything at once.
 */
export class VolumesView {
  readonly volumes = new VolumeIndex();
  readonly waiting = new WaitingClaims();
  readonly #claims = new Map<string, Claim>();
  /** Claims that were bound to a volume, by its name. */
  readonly #owners = new Map<string, Map<string, Claim>>();
  /** Keys of the claims that name a volume, bound to it or not. */
  readonly #naming = new Map<string, Set<string>>();
  /** Keys of the claims that wait for any volume, by class; '' for both ways of having none. */
  readonly #waitingByClass = new Map<string, Set<string>>();

  claim(key: string): Claim | undefined {
    return this.#claims.get(key);
  }

  /** A claim that was bound to the volume of this name, and has a right to it. */
  ownerOf(volumeName: string): Claim | undefined {
    return this.#owners.get(volumeName)?.values().next().value;
  }

  claimsNaming(volumeName: string): Iterable<string> {
    return this.#naming.get(volumeName) ?? [];
  }

  waitingOfClass(className: string): Iterable<string> {
    return this.#waitingByClass.get(className) ?? [];
  }

  /** `isTaken`: volumes that are being given away this very moment. */
  bestFit(claim: Claim, options: Pick<FitOptions, 'reservedOnly'>, isTaken: (volumeName: string) => boolean = () => false): Volume | undefined {
    return this.volumes.bestFit(claim, { ...options, isPromised: (name) => isTaken(name) || this.#owners.has(name) });
  }

  /** A volume that claims which wait for any volume may take. */
  isOnOffer(volume: Volume): boolean {
    return isFree(volume) && !this.#owners.has(volume.name);
  }

  changeVolume(
    before: PersistentVolume | undefined,
    after: PersistentVolume | undefined,
  ): { readonly before: Volume | undefined; readonly after: Volume | undefined } {
    const name = (after ?? before)?.metadata.name ?? '';
    const known = this.volumes.get(name);
    const next = after === undefined ? undefined : readVolume(after);
    if (next === undefined) this.volumes.delete(name);
    else this.volumes.set(next);
    return { before: known, after: next };
  }

  changeClaim(
    before: PersistentVolumeClaim | undefined,
    after: PersistentVolumeClaim | undefined,
  ): { readonly before: Claim | undefined; readonly after: Claim | undefined } {
    const next = after === undefined ? undefined : readClaim(after);
    const key = next?.key ?? (before === undefined ? '' : readClaim(before).key);
    const known = this.#claims.get(key);
    if (known !== undefined) this.#forget(known);
    if (next !== undefined) this.#remember(next);
    return { before: known, after: next };
  }

  #remember(claim: Claim): void {
    this.#claims.set(claim.key, claim);
    if (claim.volumeName !== '') entryOf(this.#naming, claim.volumeName, () => new Set<string>()).add(claim.key);
    if (claim.volumeName !== '' && claim.everBound) entryOf(this.#owners, claim.volumeName, () => new Map<string, Claim>()).set(claim.key, claim);
    if (!takesAnyVolume(claim)) return;
    this.waiting.set(claim);
    entryOf(this.#waitingByClass, claim.className, () => new Set<string>()).add(claim.key);
  }

  #forget(claim: Claim): void {
    this.#claims.delete(claim.key);
    this.waiting.delete(claim.key);
    drop(this.#naming, claim.volumeName, claim.key);
    drop(this.#owners, claim.volumeName, claim.key);
    drop(this.#waitingByClass, claim.className, claim.key);
  }
}

/** Takes an item out of one of many collections, and an empty collection out of the map. */
function drop(map: Map<string, { delete(item: string): boolean; readonly size: number }>, key: string, item: string): void {
  const items = map.get(key);
  items?.delete(item);
  if (items?.size === 0) map.delete(key);
}
