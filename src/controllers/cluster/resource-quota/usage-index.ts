import type { ResourceQuota } from '../../../api/generated/types.ts';
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
  /** Of every kind whose objects count: more may come, and go. */
  readonly evaluators: ReadonlyMap<Kind, Evaluator>;
}

/** The account of one quota. */
interface QuotaUsage {
  /** Of the quota whose account this is; another one of the same name gets another. */
  readonly uid: string;
  /** What it is about, as text: kinds, names and scopes. */
  readonly scopeKey: string;
  readonly meters: ReadonlyMap<Kind, Meter>;
  readonly tally: Tally;
}

/**
 * The accounts of all quotas. An account is opened when its quota is first looked at, by counting what the caches hold, and
 * again when the quota is about something else. From then on it follows every change. Namespaces without quotas
 * cost nothing but the question whether they have any.
 */
export class UsageIndex {
  readonly #options: UsageIndexOptions;
  /** By namespace, then by key of the quota. */
  readonly #usages = new Map<string, Map<string, QuotaUsage>>();

  constructor(options: UsageIndexOptions) {
    this.#options = options;
  }

  /**
   * To be told of every change of objects that count.
   * @returns the quotas whose usage is another now. Creations are no news: admission has charged for them.
   */
  changed(kind: Kind, change: Change<KubeObject>): readonly string[] {
    const accounts = this.#usages.get((change.after ?? change.before)?.metadata.namespace ?? '');
    if (accounts === undefined) return [];
    const now = this.#options.clock.now();
    const keys: string[] = [];
    for (const [key, { meters, tally }] of accounts) {
      const meter = meters.get(kind);
      if (meter !== undefined && tally.change(meter, change, now) && change.before !== undefined) keys.push(key);
    }
    return keys;
  }

  /** From the event loop only, never inside of a change: then the change that is being told of would count twice. */
  usageOf(quota: ResourceQuota): Pick<QuotaUsage, 'meters' | 'tally'> {
    const { namespace = '', uid = '' } = quota.metadata;
    const key = keyOf(quota.metadata);
    const scopeKey = JSON.stringify([
      [...this.#options.evaluators.keys()].map(({ storage }) => storage.resource),
      Object.keys(quota.spec.hard ?? {}).sort(),
      quota.spec.scopes,
      quota.spec.scopeSelector,
    ]);
    let accounts = this.#usages.get(namespace);
    if (accounts === undefined) this.#usages.set(namespace, (accounts = new Map<string, QuotaUsage>()));
    let account = accounts.get(key);
    if (account?.uid !== uid || account.scopeKey !== scopeKey) accounts.set(key, (account = { uid, scopeKey, ...this.#count(quota) }));
    account.tally.advance(this.#options.clock.now());
    return account;
  }

  forget(key: string): void {
    const namespace = key.slice(0, key.indexOf('/'));
    const accounts = this.#usages.get(namespace);
    accounts?.delete(key);
    if (accounts?.size === 0) this.#usages.delete(namespace);
  }

  #count(quota: ResourceQuota): Pick<QuotaUsage, 'meters' | 'tally'> {
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
