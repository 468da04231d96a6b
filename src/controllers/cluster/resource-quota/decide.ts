import type { ResourceQuota } from '../../../api/generated/types.ts';
import { compareQuantities, formatQuantity } from '../../../api/quantity.ts';
import { equalResourceLists } from '../../../api/validation/resources.ts';
import { usedOf } from '../../../api/quota/meter.ts';
import { formatUsage, parseUsage, type Usage } from '../../../api/quota/usage.ts';
import type { QuotaAction, QuotaDecision } from './actions.ts';

export interface QuotaSnapshot {
  readonly quota: ResourceQuota;
  /** What the objects in the caches use of what the quota limits. */
  readonly measured: Usage;
  /** The names for which the caches are known to show everything that has been charged to the quota as it is seen here. */
  readonly current: ReadonlySet<string>;
  /** Since when caches and quota have disagreed while nobody charged the quota; undefined: they agreed until now. */
  readonly disagreeingSince: number | undefined;
  /** When an object will stop counting although nothing changes. */
  readonly nextEnd: number | undefined;
}

/**
 * The caches and the quota come in side by side: either may be ahead of the other for a moment, and then they disagree.
 * That long they are given to agree by themselves.
 */
export const agreementTimeoutMs = 250;

/**
 * What a quota says is to be what is used.
 *
 * Admission charges a quota in the transaction that creates the object. A cache that does not show that object yet would
 * have us say less, and give away twice what there is once. Every write compares the quota's revision, so nothing has
 * been charged since it was seen; what must be ruled out is that something was charged before and is not measured yet. So a
 * lower number is written only where the cache is past the quota's last charge, or after the server itself was asked.
 */
export function decideUsage({ quota, measured, current, disagreeingSince, nextEnd }: QuotaSnapshot, now: number): QuotaDecision {
  const said = parseUsage(quota.status.used);
  const used = usedOf(quota, measured);
  const wrong = differing(said, used);
  const isIncomplete = !equalResourceLists(quota.spec.hard, quota.status.hard) || wrong.some((name) => said.has(name) !== used.has(name));
  const later = nextEnd === undefined ? {} : { again: nextEnd + 1 };
  if (wrong.length === 0 && !isIncomplete) return { actions: [], reasons: [{ code: 'Measured', text: 'the quota says what is used' }], ...later };

  const since = disagreeingSince ?? now;
  const isPatient = !isIncomplete && now < since + agreementTimeoutMs;
  const isLess = (name: string): boolean => isBelow(used, said, name);
  const toWrite = isPatient ? wrong.filter((name) => isLess(name) && current.has(name)) : wrong;
  const waits = toWrite.length < wrong.length ? { disagreeingSince: since, again: Math.min(since + agreementTimeoutMs, later.again ?? Infinity) } : later;
  const reasons = wrong.map((name) => ({ code: toWrite.includes(name) ? 'UsageChanged' : 'CachesMayLag', text: describe(name, said, used) }));
  if (toWrite.length === 0 && !isIncomplete) return { actions: [], reasons, ...waits };

  const unsure = new Map([...used].filter(([name]) => toWrite.includes(name) && isLess(name) && !current.has(name)));
  const next = new Map([...used].map(([name, amount]) => [name, toWrite.includes(name) ? amount : (said.get(name) ?? amount)]));
  const confirm: readonly QuotaAction[] = unsure.size === 0 ? [] : [{ type: 'confirm-usage', quota, used: unsure }];
  return { actions: [...confirm, { type: 'write-status', quota: withStatus(quota, next) }], reasons, ...waits };
}

/** The names of which two lists say different things, or only one says anything. 1Gi and 1024Mi are the same. */
function differing(said: Usage, used: Usage): readonly string[] {
  return [...new Set([...said.keys(), ...used.keys()])].filter((name) => {
    const [before, after] = [said.get(name), used.get(name)];
    return before === undefined || after === undefined || compareQuantities(before, after) !== 0;
  });
}

/** Whether to say `used` could give room away. A first number counts as lower than any: said too low, it would do so just the same. */
function isBelow(used: Usage, said: Usage, name: string): boolean {
  const [before, after] = [said.get(name), used.get(name)];
  return after !== undefined && (before === undefined || compareQuantities(after, before) < 0);
}

function withStatus(quota: ResourceQuota, used: Usage): ResourceQuota {
  const { hard } = quota.spec;
  const isEmpty = Object.keys(hard ?? {}).length === 0;
  return { ...quota, status: isEmpty ? {} : { hard: { ...hard }, ...(used.size === 0 ? {} : { used: formatUsage(used) }) } };
}

function describe(name: string, said: Usage, used: Usage): string {
  const [before, after] = [said.get(name), used.get(name)].map((amount) => (amount === undefined ? 'nothing' : formatQuantity(amount)));
  return `${name}: the quota says ${before}, the caches ${after}`;
}
