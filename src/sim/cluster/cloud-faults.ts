import type { Cloud } from '../../cloud/engine/cloud.ts';
import type { Fault } from '../../cloud/engine/faults.ts';

/** The faults of a simulated cloud that hold at the same time. */
export class CloudFaults {
  readonly #cloud: Cloud;
  readonly #active = new Set<Fault>();

  constructor(cloud: Cloud) {
    this.#cloud = cloud;
  }

  begin(fault: Fault): void {
    this.#active.add(fault);
    this.#cloud.setFaults([...this.#active]);
  }

  /** False: it was over before. */
  end(fault: Fault): boolean {
    if (!this.#active.delete(fault)) return false;
    this.#cloud.setFaults([...this.#active]);
    return true;
  }

  /** The faults of a kind that concern this. */
  endAll(ends: (fault: Fault) => boolean = () => true): void {
    for (const fault of this.#active) if (ends(fault)) this.#active.delete(fault);
    this.#cloud.setFaults([...this.#active]);
  }
}
