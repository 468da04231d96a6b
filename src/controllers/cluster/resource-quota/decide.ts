import type { ResourceQuota } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { compareQuantities, formatQuantity } from '../../../api/quantity.ts';
import { equalResourceLists } from '../../../api/validation/resources.ts';
import { usedOf } from '../../../api/quota/meter.ts';
import { formatUsage, parseUsage, type Usage } from '../../../api/quota/usage.ts';
import { updateStatus } from '../../../client/decision.ts';
import type { QuotaAction, QuotaDecision } from './actions.ts';

export interface QuotaSnapshot {
  readonly quota: Stored<ResourceQuota>;
  /** What the objects in the caches use of the limited resources. */
  readonly measured: Usage;
  /** The resource names for which the caches show everything that was charged to this revision of the quota. */
  readonly current: ReadonlySet<string>;
  /** Since when caches and quota disagree without a new charge; undefined: they agreed until now. */
  readonly disagreeingSince: number | undefined;
  /** When an object will stop counting without being changed. */
  readonly nextEnd: number | undefined;
}

/**
 * The quota and the counted objects arrive by separate watches. Either may be ahead for a moment; so long a
 * disagreement is tolerated.
 */
export const agreementTimeoutMs = 250;

/**
 * `status.used` has to be what objects use.
 *
 * Admission charges a quota in the transaction that creates the object. A cache that does not show that object yet would
 * make the controller write less than is used, and admission would give the difference away twice. Every write compares the
 * quota's revision, so nothing was charged since the snapshot. What must be ruled out is an earlier charge that is not measured
 * yet. So a lower number is written only where the cache is past the quota's last charge, or after listing from the server.
 */
export function decideUsage({ quota, measured, current, disagreeingSince, nextEnd }: QuotaSnapshot, now: number): QuotaDecision {
  const said = parseUsage(quota.status.used);
  const used = usedOf(quota, measured);
  const wrong = differing(said, used);
  const isIncomplete = !equalResourceLists(quota.spec.hard, quota.status.hard) || wrong.some((name) => said.has(name) !== used.has(name));
  const later = nextEnd === undefined ? {} : { again: nextEnd + 1 };
  if (wrong.length === 0 && !isIncomplete) return { actions: [], reasons: [{ code: 'Measured', text: 'status.used is correct' }], ...later };

  const since = disagreeingSince ?? now;
  const isPatient = !isIncomplete && now < since + agreementTimeoutMs;
  const isLess = (name: string): boolean => isBelow(used, said, name);
  const toWrite = isPatient ? wrong.filter((name) => isLess(name) && current.has(name)) : wrong;
  const waits = toWrite.length < wrong.length ? { disagreeingSince: since, again: Math.min(since + agreementTimeoutMs, later.again ?? Infinity) } : later;
  const reasons = wrong.map((name) => ({ code: toWrite.includes(name) ? 'UsageChanged' : 'CachesMayLag', text: describe(name, said, used) }));
  if (toWrite.length === 0 && !isIncomplete) return { actions: [], reasons, ...waits };

  const unsure = new Map([...used].filter(([name]) => toWrite.includes(name) && isLess(name) && !current.has(name)));
  const next = new Map([...used].map(([name, amount]) => [name, toWrite.includes(name) ? amount : (said.get(name) ?? amount)]));
  const confirm: readonly QuotaAction[] = unsure.size === 0 ? [] : [{ do: 'confirmUsage', quota, used: unsure }];
  return { actions: [...confirm, ...updateStatus(quota, withStatus(quota, next))], reasons, ...waits };
}

/** The names whose amounts differ, or that only one list has. 1Gi and 1024Mi are equal. */
function differing(said: Usage, used: Usage): readonly string[] {
  return [...new Set([...said.keys(), ...used.keys()])].filter((name) => {
    const [before, after] = [said.get(name), used.get(name)];
    return before === undefined || after === undefined || compareQuantities(before, after) !== 0;
  });
}

/** Whether writing `used` lowers the number. The first number for a name counts as lower: too low a number would admit too much as well. */
function isBelow(used: Usage, said: Usage, name: string): boolean {
  const [before, after] = [said.get(name), used.get(name)];
  return after !== undefined && (before === undefined || compareQuantities(after, before) < 0);
}

function withStatus(quota: Stored<ResourceQuota>, used: Usage): Stored<ResourceQuota> {
  const { hard } = quota.spec;
  const isEmpty = Object.keys(hard ?? {}).length === 0;
  return { ...quota, status: isEmpty ? {} : { hard: { ...hard }, ...(used.size === 0 ? {} : { used: formatUsage(used) }) } };
}

function describe(name: string, said: Usage, used: Usage): string {
  const [before, after] = [said.get(name), used.get(name)].map((amount) => (amount === undefined ? 'nothing' : formatQuantity(amount)));
  return `${name}: the quota says ${before}, the caches ${after}`;
}
