import type { PersistentVolume } from '../../api/generated/types.ts';
import { attachableOf, attachmentNameOf, parseUniqueName, uniqueNameOf } from '../volumes/attachable.ts';
import type { AttachTarget } from './snapshot.ts';

/** SHA-256 of a text, in hexadecimal. */
export type Sha256 = (text: string) => string;

/**
 * The known targets: volumes on nodes. The name of a VolumeAttachment is a hash, which does not tell its volume once the volume is
 * gone. So a target is remembered as long as anything of it is left.
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

  /** Undefined: such volumes are never attached. */
  ofVolume(volume: PersistentVolume, node: string): AttachTarget | undefined {
    const attachable = attachableOf(volume);
    return attachable === undefined ? undefined : this.#target(attachable, node);
  }

  /** `name`: of a node's volumesAttached or volumesInUse. */
  ofUniqueName(name: string, node: string): AttachTarget | undefined {
    const parsed = parseUniqueName(name);
    return parsed === undefined ? undefined : this.#target(parsed, node);
  }

  #target({ driver, handle }: { readonly driver: string; readonly handle: string }, node: string): AttachTarget {
    const id = attachmentNameOf({ driver, handle }, node, this.#sha256);
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    const target: AttachTarget = { id, driver, handle, node, uniqueName: uniqueNameOf({ driver, handle }) };
    this.#known.set(id, target);
    return target;
  }
}
