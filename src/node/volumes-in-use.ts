/**
 * Which attachable volumes an agent may mount. The attach/detach controller detaches no volume from a node whose status lists it in
 * `volumesInUse`. So a volume may be mounted only while the agent stands by that list:
 *
 *     pod a ends           → the agent decides to list volume v no more:   withdraw(v)
 *     pod b wants v        → mayMount(v): no, although the status still lists it
 *     the status is sent   → v is listed no more; pod b waits until it is again
 *
 * and only after the agent has sent a status itself: a status that an earlier process of the same agent sent, and that arrives late,
 * then conflicts.
 */
export class VolumesInUse {
  readonly #nodes = new Map<string, ReportedNode>();

  mayMount(node: string, volume: string): boolean {
    const reported = this.#nodes.get(node);
    return reported !== undefined && reported.hasReported && !reported.withdrawn.has(volume);
  }

  /** The node's status is about to be sent without these volumes. */
  withdraw(node: string, volumes: Iterable<string>): void {
    const { withdrawn } = this.#node(node);
    for (const volume of volumes) withdrawn.add(volume);
  }

  /** The outcome of a status update is known. While it is unknown, the withdrawn volumes stay withdrawn. */
  confirmReported(node: string, outcome: 'sent' | 'refused'): void {
    const reported = this.#node(node);
    reported.withdrawn.clear();
    reported.hasReported ||= outcome === 'sent';
  }

  #node(name: string): ReportedNode {
    let reported = this.#nodes.get(name);
    if (reported === undefined) this.#nodes.set(name, (reported = { withdrawn: new Set(), hasReported: false }));
    return reported;
  }
}

interface ReportedNode {
  readonly withdrawn: Set<string>;
  /** Since this process started. */
  hasReported: boolean;
}
