import type { ResourceQuota } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import type { Kind } from '../../../api/kind.ts';
import type { KubeObject } from '../../../api/object.ts';
import type { Evaluator } from '../../../api/quota/evaluator.ts';
import { type Meter, meterOf } from '../../../api/quota/meter.ts';
import { type Change, keyOf } from '../../../client/informers/cache.ts';
import type { Informers } from '../../../client/informers/informers.ts';
import type { Clock } from '../../../world/world.ts';
import { Tally } from './tally.ts';

export interface UsageIndexOptions {
  readonly informers: Informers;
  readonly clock: Clock;
  /** By kind whose objects count; changes while the controller runs. */
  readonly evaluators: ReadonlyMap<Kind, Evaluator>;
}

/** The usage of one quota. */
interface QuotaUsage {
  /** Of the quota: a new quota of the same name is counted anew. */
  readonly uid: string;
  /** What the quota limits, as text: kinds, names and scopes. */
  readonly scopeKey: string;
  readonly meters: ReadonlyMap<Kind, Meter>;
  readonly tally: Tally;
}

/**
 * The usage of all quotas. A quota is counted from the caches in its first pass, and again when its limits name other
 * resources or scopes; from then on each change is added. A change in a namespace without quotas costs one map lookup.
 */
export class UsageIndex {
  readonly #options: UsageIndexOptions;
  /** By namespace, then by key of the quota. */
  readonly #usages = new Map<string, Map<string, QuotaUsage>>();

  constructor(options: UsageIndexOptions) {
    this.#options = options;
  }

  /**
   * Called for each change of an object that counts.
   * @returns the keys of quotas whose usage changed, except by creations: admission has charged those.
   */
  changed(kind: Kind, change: Change<KubeObject>): readonly string[] {
    const usages = this.#usages.get((change.after ?? change.before)?.metadata.namespace ?? '');
    if (usages === undefined) return [];
    const now = this.#options.clock.now();
    const keys: string[] = [];
    for (const [key, { meters, tally }] of usages) {
      const meter = meters.get(kind);
      if (meter !== undefined && tally.change(meter, change, now) && change.before !== undefined) keys.push(key);
    }
    return keys;
  }

  /** Never call this from a change handler: the change that is being delivered would count twice. */
  usageOf(quota: Stored<ResourceQuota>): Pick<QuotaUsage, 'meters' | 'tally'> {
    const { namespace = '', uid } = quota.metadata;
    const key = keyOf(quota.metadata);
    const scopeKey = JSON.stringify([
      [...this.#options.evaluators.keys()].map(({ storage }) => storage.resource),
      Object.keys(quota.spec.hard ?? {}).sort(),
      quota.spec.scopes,
      quota.spec.scopeSelector,
    ]);
    let usages = this.#usages.get(namespace);
    if (usages === undefined) this.#usages.set(namespace, (usages = new Map<string, QuotaUsage>()));
    let usage = usages.get(key);
    if (usage?.uid !== uid || usage.scopeKey !== scopeKey) usages.set(key, (usage = { uid, scopeKey, ...this.#count(quota) }));
    usage.tally.advance(this.#options.clock.now());
    return usage;
  }

  forget(key: string): void {
    const namespace = key.slice(0, key.indexOf('/'));
    const usages = this.#usages.get(namespace);
    usages?.delete(key);
    if (usages?.size === 0) this.#usages.delete(namespace);
  }

  #count(quota: Stored<ResourceQuota>): Pick<QuotaUsage, 'meters' | 'tally'> {
    const { informers, clock, evaluators } = this.#options;
    const meters = new Map<Kind, Meter>();
    for (const [kind, evaluator] of evaluators) {
      const meter = meterOf(quota, evaluator);
      if (meter !== undefined) meters.set(kind, meter);
    }
    const tally = new Tally(meters.values());
    for (const [kind, meter] of meters) {
      for (const after of informers.cache(kind).inNamespace(quota.metadata.namespace ?? '')) tally.change(meter, { before: undefined, after }, clock.now());
    }
    return { meters, tally };
  }
}
