import type { AttachedVolume, Node } from '../../api/generated/types.ts';
import { nodeKind } from '../../api/kinds/core/node.ts';
import type { Cache } from '../../client/informers/cache.ts';
import type { Client } from '../../client/client.ts';
import { type Outcome, outcomeOf } from '../../client/controller/loop.ts';

/** A change of one entry of a node's status.volumesAttached. */
export type VolumesAttachedChange =
  | { readonly type: 'attached'; readonly volume: string }
  /** A conflict if the node has the volume mounted, unless `evenIfInUse`. */
  | { readonly type: 'detached'; readonly volume: string; readonly evenIfInUse: boolean };

interface PendingChange {
  readonly change: VolumesAttachedChange;
  readonly answer: (outcome: Outcome) => void;
}

/**
 * Writes status.volumesAttached of nodes. There is one write of a node at a time; changes that come meanwhile go together into the
 * next one: a pod with twenty volumes costs two or three writes, and none of them conflict.
 *
 * Guarantee: a volume leaves the list only in a write that fails if the node has reported it in use meanwhile. A node reports
 * a volume before it reads the list, so it never mounts a volume that has left it.
 */
export class VolumesAttachedUpdater {
  readonly #client: Client;
  readonly #nodes: Cache<Node>;
  /** By node; a node that is being written has a list here. As long as the number of passes under way, at most. */
  readonly #waiting = new Map<string, PendingChange[]>();

  constructor(client: Client, nodes: Cache<Node>) {
    this.#client = client;
    this.#nodes = nodes;
  }

  update(node: string, change: VolumesAttachedChange): Promise<Outcome> {
    return new Promise((answer) => {
      const waiting = this.#waiting.get(node);
      if (waiting !== undefined) {
        waiting.push({ change, answer });
        return;
      }
      this.#waiting.set(node, [{ change, answer }]);
      void this.#writeAll(node);
    });
  }

  async #writeAll(node: string): Promise<void> {
    for (;;) {
      const batch = this.#waiting.get(node)?.splice(0) ?? [];
      if (batch.length === 0) {
        this.#waiting.delete(node);
        return;
      }
      await this.#write(node, batch);
    }
  }

  async #write(name: string, batch: readonly PendingChange[]): Promise<void> {
    const node = this.#nodes.getKey(name);
    // A deleted node needs no list, but the controller must not believe that the node knows of the volume.
    if (node === undefined) return batch.forEach(({ change: report, answer }) => answer(report.type === 'attached' ? 'conflict' : 'done'));
    const accepted = batch.filter(
      ({ change: report }) => report.type === 'attached' || report.evenIfInUse || !node.status.volumesInUse?.includes(report.volume),
    );
    for (const each of batch) if (!accepted.includes(each)) each.answer('conflict');
    const outcome = await this.#update(
      node,
      accepted.map(({ change: report }) => report),
    );
    for (const { answer } of accepted) answer(outcome);
  }

  async #update(node: Node, reports: readonly VolumesAttachedChange[]): Promise<Outcome> {
    const before = node.status.volumesAttached ?? [];
    const after = reports.reduce(withChange, before);
    if (after === before) return 'done';
    const { volumesAttached: _, ...status } = node.status;
    return outcomeOf(await this.#client.updateStatus(nodeKind, { ...node, status: after.length === 0 ? status : { ...status, volumesAttached: [...after] } }));
  }
}

/** The same list, if that changes nothing. CSI volumes have no device path: their driver finds the device on the node. */
function withChange(list: readonly AttachedVolume[], { type, volume }: VolumesAttachedChange): readonly AttachedVolume[] {
  const isListed = list.some(({ name }) => name === volume);
  if (isListed === (type === 'attached')) return list;
  return isListed ? list.filter(({ name }) => name !== volume) : [...list, { name: volume, devicePath: '' }];
}
