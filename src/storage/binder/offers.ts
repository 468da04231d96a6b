import type { Claim } from '../volumes/claim.ts';
import type { Volume } from '../volumes/volume.ts';

/**
 * Which claim a free volume enqueues. A claim is offered one volume at a time: a thousand volumes that arrive together enqueue a
 * thousand claims, not one claim a thousand times.
 *
 * An offer only enqueues the claim, which takes its best match, perhaps another volume; then this volume is offered to the next claim.
 */
export class Offers {
  readonly #volumeFor = new Map<string, string>();
  readonly #claimFor = new Map<string, string>();

  /** The first candidate that has no offer yet. */
  make(volume: Volume, candidates: Iterable<Claim>): Claim | undefined {
    this.withdraw(volume.name);
    for (const claim of candidates) {
      if (this.#volumeFor.has(claim.key)) continue;
      this.#volumeFor.set(claim.key, volume.name);
      this.#claimFor.set(volume.name, claim.key);
      return claim;
    }
    return undefined;
  }

  /** The key of the claim that the volume is offered to. */
  claimFor(volumeName: string): string | undefined {
    return this.#claimFor.get(volumeName);
  }

  /** The volume is gone, or taken. */
  withdraw(volumeName: string): void {
    const claim = this.#claimFor.get(volumeName);
    if (claim === undefined) return;
    this.#claimFor.delete(volumeName);
    this.#volumeFor.delete(claim);
  }

  /** The claim waits no longer: the volume that was offered to it, if any, is to be offered to another. */
  answered(claimKey: string): string | undefined {
    const volume = this.#volumeFor.get(claimKey);
    if (volume !== undefined) this.withdraw(volume);
    return volume;
  }
}
