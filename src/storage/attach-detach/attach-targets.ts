import type { PersistentVolume } from '../../api/generated/types.ts';
import { attachableOf, attachmentNameOf, parseUniqueName, uniqueNameOf } from '../volumes/attachable.ts';
import type { AttachTarget } from './snapshot.ts';

/** Of some text, in hexadecimal. */
export type Sha256 = (text: string) => string;

/**
 * The pairs of volume and node that anybody has spoken of. An attachment's name is a hash, from which nobody can tell which
 * volume it is about once the volume is gone: so what was known once is remembered, until nothing is left of the pair.
 */
export class AttachTargets {
  readonly #sha256: Sha256;
  readonly #known = new Map<string, AttachTarget>();

  constructor(sha256: Sha256) {
    this.#sha256 = sha256;
  }

  get(id: string): AttachTarget | undefined {
    return this.#known.get(id);
  }

  forget(id: string): void {
    this.#known.delete(id);
  }

  /** Undefined: nothing of that volume is ever attached. */
  ofVolume(volume: PersistentVolume, node: string): AttachTarget | undefined {
    const attachable = attachableOf(volume);
    return attachable === undefined ? undefined : this.#target(attachable, node);
  }

  /** A volume as node statuses call it. */
  ofUniqueName(name: string, node: string): AttachTarget | undefined {
    const parsed = parseUniqueName(name);
    return parsed === undefined ? undefined : this.#target(parsed, node);
  }

  #target({ driver, handle }: { readonly driver: string; readonly handle: string }, node: string): AttachTarget {
    const id = attachmentNameOf({ driver, handle }, node, this.#sha256);
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    const pair: AttachTarget = { id, driver, handle, node, uniqueName: uniqueNameOf({ driver, handle }) };
    this.#known.set(id, pair);
    return pair;
  }
}
