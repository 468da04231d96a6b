import type { PublishTarget } from '../../api/volumes/controller-publish.ts';
import { isForOneNode } from '../invariants/attaching.ts';
import type { ObservedChange, Facts } from '../invariants/facts.ts';

/** Whoever asks may have made up their mind so long ago: as a slow request takes, and a little more. What was said meanwhile comes too late for them. */
const underWayMs = 5_000;

/**
 * What a backend refuses, as CSI has it (FAILED_PRECONDITION): a disk for one node that is attached to another one, if nobody could know.
 * An attach whose end is unknown excludes nobody: Kubernetes (v1.36.4) asks the backend for the next node, and so does Mooring.
 * Once an attachment has said for a while that it is attached, nobody may ask any more; then nothing is refused here, so that an invariant sees it.
 */
export class AttachAttempts {
  readonly #facts: Facts;
  /** When an attachment was first seen, and when it first said that the disk is there; by 'node handle'. */
  readonly #asked = new Map<string, number>();
  readonly #known = new Map<string, number>();
  readonly #now: () => number;

  constructor(facts: Facts, now: () => number) {
    this.#facts = facts;
    this.#now = now;
  }

  observe(change: ObservedChange): void {
    if (change.type === 'disk' && change.change.type === 'detached') this.#known.delete(`${change.change.node} ${change.change.handle}`);
    if (change.type !== 'attachment' || change.after === undefined) return;
    const { before, after } = change;
    const handle = this.#facts.volumes.get(after.spec.source.persistentVolumeName ?? '')?.spec.csi?.volumeHandle;
    const place = `${after.spec.nodeName} ${handle}`;
    if (before === undefined) this.#asked.set(place, this.#now());
    if (after.status.attached && !this.#known.has(place)) this.#known.set(place, this.#now());
  }

  refusal({ handle, nodeId }: PublishTarget): string | undefined {
    const others = Array.from(this.#facts.nodesOf(handle)).filter((node) => node !== nodeId);
    if (others.length === 0 || !this.#facts.volumesOf(handle).some(isForOneNode)) return undefined;
    const asked = this.#asked.get(`${nodeId} ${handle}`) ?? 0;
    const wasKnown = others.some((node) => (this.#known.get(`${node} ${handle}`) ?? Infinity) + underWayMs < asked);
    return wasKnown ? undefined : `${handle} is attached to ${others.join(', ')}`;
  }
}
