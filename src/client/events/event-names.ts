import type { ObjectReference } from '../../api/generated/types.ts';
import { dnsSubdomainProblems } from '../../api/validation/names.ts';
import type { World } from '../../world/world.ts';

/** Names for events: '<object>.<nanoseconds in hex>', growing, and different from those of other recorders even where time stands still. */
export class EventNames {
  readonly #world: Pick<World, 'clock' | 'random'>;
  #lastNanos = 0n;

  constructor(world: Pick<World, 'clock' | 'random'>) {
    this.#world = world;
  }

  next(about: ObjectReference): string {
    const { clock, random } = this.#world;
    const now = BigInt(Math.floor(clock.now())) * 1_000_000n + BigInt(Math.floor(random.float() * 1_000_000));
    this.#lastNanos = now > this.#lastNanos ? now : this.#lastNanos + 1n;
    const name = `${about.name ?? ''}.${this.#lastNanos.toString(16)}`;
    return dnsSubdomainProblems(name).length === 0 ? name : random.uuid();
  }
}
