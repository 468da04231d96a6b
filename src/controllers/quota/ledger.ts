import type { ResourceQuota } from '../../api/generated/types.ts';
import type { Kind } from '../../api/kind.ts';
import type { KubeObject } from '../../api/object.ts';
import type { Evaluator } from '../../domain/quota/evaluator.ts';
import { type Meter, meterOf } from '../../domain/quota/meter.ts';
import { type Change, keyOf } from '../../machinery/cache.ts';
import type { Informers } from '../../machinery/informers.ts';
import type { Clock } from '../../world/world.ts';
import { Tally } from './tally.ts';

export interface LedgerOptions {
  readonly informers: Informers;
  readonly clock: Clock;
  /** Of every kind whose objects count: more may come, and go. */
  readonly evaluators: ReadonlyMap<Kind, Evaluator>;
}

/** The account of one quota. */
interface Account {
  /** Of the quota whose account this is; another one of the same name gets another. */
  readonly uid: string;
  /** What it is about, as text: kinds, names and scopes. */
  readonly about: string;
  readonly meters: ReadonlyMap<Kind, Meter>;
  readonly tally: Tally;
}

/**
 * The accounts of all quotas. An account is opened when its quota is first looked at, by counting what the caches hold, and
 * again when the quota is about something else. From then on it follows every change. Namespaces without quotas
 * cost nothing but the question whether they have any.
 */
export class Ledger {
  readonly #options: LedgerOptions;
  /** By namespace, then by key of the quota. */
  readonly #accounts = new Map<string, Map<string, Account>>();

  constructor(options: LedgerOptions) {
    this.#options = options;
  }

  /**
   * To be told of every change of objects that count.
   * @returns the quotas whose usage is another now. Creations are no news: admission has charged for them.
   */
  changed(kind: Kind, change: Change<KubeObject>): readonly string[] {
    const accounts = this.#accounts.get((change.after ?? change.before)?.metadata.namespace ?? '');
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
  accountOf(quota: ResourceQuota): Pick<Account, 'meters' | 'tally'> {
    const { namespace = '', uid = '' } = quota.metadata;
    const key = keyOf(quota.metadata);
    const about = JSON.stringify([
      [...this.#options.evaluators.keys()].map(({ storage }) => storage.resource),
      Object.keys(quota.spec.hard ?? {}).sort(),
      quota.spec.scopes,
      quota.spec.scopeSelector,
    ]);
    let accounts = this.#accounts.get(namespace);
    if (accounts === undefined) this.#accounts.set(namespace, (accounts = new Map<string, Account>()));
    let account = accounts.get(key);
    if (account?.uid !== uid || account.about !== about) accounts.set(key, (account = { uid, about, ...this.#open(quota) }));
    account.tally.advance(this.#options.clock.now());
    return account;
  }

  close(key: string): void {
    const namespace = key.slice(0, key.indexOf('/'));
    const accounts = this.#accounts.get(namespace);
    accounts?.delete(key);
    if (accounts?.size === 0) this.#accounts.delete(namespace);
  }

  #open(quota: ResourceQuota): Pick<Account, 'meters' | 'tally'> {
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
