import type { PublishTarget } from '../../api/volumes/controller-publish.ts';
import { isForOneNode } from '../invariants/attaching.ts';
import type { ObservedChange, Facts } from '../invariants/facts.ts';

/** A controller may have decided so long ago: as long as a slow request takes, and a little more. */
const underWayMs = 5_000;

/**
 * The attach calls that a backend refuses with FAILED_PRECONDITION, as CSI specifies: for a single-node disk that is attached to another node,
 * if the controller could not know. An attach whose end is unknown does not exclude another node in Kubernetes (v1.36.4), nor in Mooring.
 * Once a VolumeAttachment has been attached for a while, the controller must know; then nothing is refused here, so that an invariant notices.
 */
export class AttachAttempts {
  readonly #facts: Facts;
  /** When a VolumeAttachment was created, and when it became attached; by 'node handle'. */
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
