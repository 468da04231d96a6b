import type { Pod, Volume } from '../../api/generated/types.ts';
import { podLimits } from '../../api/kinds/pod/pod-resources.ts';
import { formatQuantity, type Quantity, quantityValue } from '../../api/quantity.ts';
import type { Stored } from '../../api/stored.ts';
import type { Cancel, World } from '../../world/world.ts';

export interface EmptyDirEvictionOptions {
  readonly world: Pick<World, 'timers'>;
  readonly usedBytes: (pod: Stored<Pod>, volume: string) => Promise<number | undefined>;
  /** `message`: in the kubelet's words. */
  readonly onExceeded: (pod: Stored<Pod>, message: string) => void;
}

/** The kubelet's interval: a directory that grows causes no event. */
const everyMs = 10_000;

/**
 * Checks emptyDir volumes against their size limits, and all of a pod against the limits of ephemeral storage of its containers (pkg/kubelet/eviction: localStorageEviction),
 * as long as there are such limits. What a container writes to its root is bounded by the runtime, and its log by rotation: neither is counted.
 */
export class EmptyDirEviction {
  readonly #options: EmptyDirEvictionOptions;
  /** By uid: pods with such a volume. */
  readonly #pods = new Map<string, Stored<Pod>>();
  #cancel: Cancel | undefined;

  constructor(options: EmptyDirEvictionOptions) {
    this.#options = options;
  }

  follow(pod: Stored<Pod>): void {
    if ((limited(pod).length === 0 && totalLimit(pod) === undefined) || isCritical(pod)) return;
    this.#pods.set(pod.metadata.uid, pod);
    this.#schedule();
  }

  forget(uid: string): void {
    this.#pods.delete(uid);
    if (this.#pods.size === 0) this.stop();
  }

  stop(): void {
    this.#pods.clear();
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #schedule(): void {
    this.#cancel ??= this.#options.world.timers.after(everyMs, () => void this.#check());
  }

  async #check(): Promise<void> {
    for (const [uid, pod] of this.#pods) {
      const message = await this.#wrongWith(pod);
      if (message === undefined || !this.#pods.has(uid)) continue;
      this.forget(uid);
      this.#options.onExceeded(pod, message);
    }
    this.#cancel = undefined;
    if (this.#pods.size > 0) this.#schedule();
  }

  async #wrongWith(pod: Stored<Pod>): Promise<string | undefined> {
    for (const { name, limit } of limited(pod)) {
      const used = await this.#options.usedBytes(pod, name);
      if (used !== undefined && BigInt(used) > quantityValue(limit))
        return `Usage of EmptyDir volume ${JSON.stringify(name)} exceeds the limit ${JSON.stringify(limit)}. `;
    }
    return this.#wrongInTotal(pod);
  }

  async #wrongInTotal(pod: Stored<Pod>): Promise<string | undefined> {
    const limit = totalLimit(pod);
    if (limit === undefined) return undefined;
    let total = 0;
    for (const { name } of onDisk(pod)) total += (await this.#options.usedBytes(pod, name)) ?? 0;
    if (BigInt(total) <= quantityValue(limit)) return undefined;
    return `Pod ephemeral local storage usage exceeds the total limit of containers ${formatQuantity(limit)}. `;
  }
}

/** The kernel enforces the limit of volumes in memory. */
const onDisk = ({ spec }: Pod): readonly Volume[] => (spec.volumes ?? []).filter(({ emptyDir }) => emptyDir !== undefined && (emptyDir.medium ?? '') === '');

/** Of ephemeral storage; undefined: there is none, or nothing that it could be used for. */
function totalLimit(pod: Pod): Quantity | undefined {
  return onDisk(pod).length === 0 ? undefined : podLimits(pod).get('ephemeral-storage');
}

const limited = (pod: Pod): readonly { readonly name: string; readonly limit: string }[] =>
  onDisk(pod).flatMap(({ name, emptyDir }) => {
    const { sizeLimit } = emptyDir ?? {};
    return sizeLimit === undefined || quantityValue(sizeLimit) <= 0n ? [] : [{ name, limit: sizeLimit }];
  });

/** Critical pods are not evicted. */
const isCritical = ({ spec }: Pod): boolean => (spec.priority ?? 0) >= 2_000_000_000;
