import type { Attachment, Change, Collection, Instance, LaunchTemplate, Records, Snapshot, TokenUse, Volume } from './records.ts';

/** All records of a cloud, and what is looked up besides ids. Only `apply` changes it. */
export class CloudState {
  readonly volumes = new Map<string, Volume>();
  readonly instances = new Map<string, Instance>();
  readonly snapshots = new Map<string, Snapshot>();
  readonly launchTemplates = new Map<string, LaunchTemplate>();
  readonly tokens = new Map<string, TokenUse>();
  /** Instance → its volumes, in whatever state their attachments are. */
  readonly #attached = new Map<string, Set<string>>();
  readonly #addresses = new Set<string>();
  readonly due = new DueRecords();

  apply(change: Change): void {
    const before = this.find(change.in, change.id);
    const records = this[change.in] as Map<string, Records[Collection]>;
    if (change.record === undefined) records.delete(change.id);
    else records.set(change.id, change.record);
    if (change.in === 'volumes') this.#index(change.id, before as Volume | undefined, change.record);
    if (change.in === 'instances') this.#indexAddress(before as Instance | undefined, change.record);
    this.due.set(`${change.in}/${change.id}`, change.record === undefined ? undefined : dueTimeOf(change));
  }

  find<Name extends Collection>(collection: Name, id: string): Records[Name] | undefined {
    return (this as { readonly [Each in Collection]: ReadonlyMap<string, Records[Each]> })[collection].get(id);
  }

  /** The volumes of an instance with their attachments to it, in the order in which they were attached. */
  attachedTo(instanceId: string): readonly { readonly volume: Volume; readonly attachment: Attachment }[] {
    return [...(this.#attached.get(instanceId) ?? [])].flatMap((id) => {
      const volume = this.volumes.get(id);
      const attachment = volume?.attachments.find((each) => each.instanceId === instanceId);
      return volume === undefined || attachment === undefined ? [] : { volume, attachment };
    });
  }

  isAddressUsed(address: string): boolean {
    return this.#addresses.has(address);
  }

  #index(id: string, before: Volume | undefined, after: Volume | undefined): void {
    for (const { instanceId } of before?.attachments ?? []) {
      const volumes = this.#attached.get(instanceId);
      if (after?.attachments.some((each) => each.instanceId === instanceId) === true) continue;
      volumes?.delete(id);
      if (volumes?.size === 0) this.#attached.delete(instanceId);
    }
    for (const { instanceId } of after?.attachments ?? []) {
      let volumes = this.#attached.get(instanceId);
      if (volumes === undefined) this.#attached.set(instanceId, (volumes = new Set()));
      volumes.add(id);
    }
  }

  /** The address of a terminated instance is free again, though its record stays for a while. */
  #indexAddress(before: Instance | undefined, after: Instance | undefined): void {
    if (before !== undefined) this.#addresses.delete(before.privateAddress);
    if (after !== undefined && after.state !== 'terminated') this.#addresses.add(after.privateAddress);
  }
}

/** The earliest transition of a record and of what it holds. */
function dueTimeOf({ in: collection, record }: Change): number | undefined {
  if (record === undefined || collection === 'tokens' || collection === 'launchTemplates') return undefined;
  const { due, attachments = [], modification } = record as Partial<Volume>;
  const times = [due?.at, modification?.due?.at, ...attachments.map((each) => each.due?.at)].filter((at) => at !== undefined);
  return times.length === 0 ? undefined : Math.min(...times);
}

/** Which record changes next: keys in the order of their times. */
export class DueRecords {
  /** By time, the latest first: the next one is taken from the end. */
  readonly #order: { readonly key: string; readonly at: number }[] = [];
  readonly #times = new Map<string, number>();

  set(key: string, at: number | undefined): void {
    const known = this.#times.get(key);
    if (known === at) return;
    if (known !== undefined) this.#order.splice(this.#indexOf(known, key), 1);
    if (at === undefined) {
      this.#times.delete(key);
      return;
    }
    this.#times.set(key, at);
    this.#order.splice(this.#indexOf(at, key), 0, { key, at });
  }

  next(): { readonly key: string; readonly at: number } | undefined {
    return this.#order.at(-1);
  }

  /** Where the entry is, or belongs. */
  #indexOf(at: number, key: string): number {
    let [low, high] = [0, this.#order.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const entry = this.#order[middle];
      if (entry !== undefined && (entry.at > at || (entry.at === at && entry.key > key))) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
