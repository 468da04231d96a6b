import type { PersistentVolume } from '../../api/generated/types.ts';
import { attachableOf, attachmentNameOf, parseUniqueName, uniqueNameOf } from '../../domain/volumes/attachable.ts';
import type { Pair } from './situation.ts';

/** Of some text, in hexadecimal. */
export type Sha256 = (text: string) => string;

/**
 * The pairs of volume and node that anybody has spoken of. An attachment's name is a hash, from which nobody can tell which
 * volume it is about once the volume is gone: so what was known once is remembered, until nothing is left of the pair.
 */
export class Pairs {
  readonly #sha256: Sha256;
  readonly #known = new Map<string, Pair>();

  constructor(sha256: Sha256) {
    this.#sha256 = sha256;
  }

  get(id: string): Pair | undefined {
    return this.#known.get(id);
  }

  forget(id: string): void {
    this.#known.delete(id);
  }

  /** Undefined: nothing of that volume is ever attached. */
  ofVolume(volume: PersistentVolume, node: string): Pair | undefined {
    const attachable = attachableOf(volume);
    return attachable === undefined ? undefined : this.#pair(attachable, node);
  }

  /** A volume as node statuses call it. */
  ofUniqueName(name: string, node: string): Pair | undefined {
    const parsed = parseUniqueName(name);
    return parsed === undefined ? undefined : this.#pair(parsed, node);
  }

  #pair({ driver, handle }: { readonly driver: string; readonly handle: string }, node: string): Pair {
    const id = attachmentNameOf({ driver, handle }, node, this.#sha256);
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    const pair: Pair = { id, driver, handle, node, uniqueName: uniqueNameOf({ driver, handle }) };
    this.#known.set(id, pair);
    return pair;
  }
}
