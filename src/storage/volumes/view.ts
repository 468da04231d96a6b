import type { PersistentVolume, PersistentVolumeClaim } from '../../api/generated/types.ts';
import { Groups } from './groups.ts';
import { type Claim, readClaim, takesAnyVolume } from './claim.ts';
import { isFree, readVolume, type Volume } from './volume.ts';
import { type FitOptions, VolumeIndex } from './volume-index.ts';
import { WaitingClaims } from './waiting-claims.ts';

/**
 * All volumes and claims, parsed once and indexed for decisions. A subscriber of the caches calls `changeVolume` and `changeClaim`
 * for every change; no method scans everything.
 */
export class VolumesView {
  readonly volumes = new VolumeIndex();
  readonly waiting = new WaitingClaims();
  /** Volumes with a bind in flight, and the keys of their claims: until the server has answered, no other claim may choose them. */
  readonly bindsInFlight = new Map<string, string>();
  readonly #claims = new Map<string, Claim>();
  /** Keys of the claims that were bound to a volume, by its name. */
  readonly #owners = new Groups<string>();
  /** Keys of the claims that name a volume, bound to it or not. */
  readonly #claimsByVolumeName = new Groups<string>();
  /** Keys of the claims that wait for any volume, by class; '' for a class that is unset or ''. */
  readonly #waitingByClass = new Groups<string>();

  claim(key: string): Claim | undefined {
    return this.#claims.get(key);
  }

  /** A claim that was bound to the volume of this name, and keeps it. */
  ownerOf(volumeName: string): Claim | undefined {
    const key = this.#owners.firstOf(volumeName);
    return key === undefined ? undefined : this.#claims.get(key);
  }

  claimsNaming(volumeName: string): Iterable<string> {
    return this.#claimsByVolumeName.of(volumeName);
  }

  waitingOfClass(className: string): Iterable<string> {
    return this.#waitingByClass.of(className);
  }

  /** `asker`: a bind in flight for this claim does not exclude the volume. */
  bestFit(claim: Claim, { reservedOnly }: Pick<FitOptions, 'reservedOnly'>, asker = claim.key): Volume | undefined {
    const isTaken = (name: string) => (this.bindsInFlight.get(name) ?? asker) !== asker || this.#owners.has(name);
    return this.volumes.bestFit(claim, { reservedOnly, isTaken });
  }

  /** Whether any waiting claim may take the volume. */
  isAvailable(volume: Volume): boolean {
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
    if (next === undefined) this.#claims.delete(key);
    else this.#remember(next);
    return { before: known, after: next };
  }

  #remember(claim: Claim): void {
    this.#claims.set(claim.key, claim);
    if (claim.volumeName !== '') this.#claimsByVolumeName.add(claim.volumeName, claim.key);
    if (claim.volumeName !== '' && claim.everBound) this.#owners.add(claim.volumeName, claim.key);
    if (!takesAnyVolume(claim)) return;
    this.waiting.set(claim);
    this.#waitingByClass.add(claim.className, claim.key);
  }

  #forget(claim: Claim): void {
    if (claim.volumeName !== '') {
      this.#claimsByVolumeName.remove(claim.volumeName, claim.key);
      this.#owners.remove(claim.volumeName, claim.key);
    }
    if (!takesAnyVolume(claim)) return;
    this.waiting.delete(claim.key);
    this.#waitingByClass.remove(claim.className, claim.key);
  }
}
