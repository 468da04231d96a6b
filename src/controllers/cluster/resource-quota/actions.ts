import type { ResourceQuota } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import type { Kind } from '../../../api/kind.ts';
import { compareQuantities } from '../../../api/quantity.ts';
import { type Meter, readAll } from '../../../api/quota/meter.ts';
import { addUsage, nothingUsed, type Usage, zero } from '../../../api/quota/usage.ts';
import type { Client } from '../../../client/client.ts';
import { listAll } from '../../../client/live-lists.ts';
import type { Decision, ObjectWrite } from '../../../client/decision.ts';
import { type Outcome, outcomeOf } from '../../../client/controller/loop.ts';

export type QuotaAction =
  /** Lists from the server, not from the caches. If more is used than `used` says, the pass ends here. */
  { readonly do: 'confirmUsage'; readonly quota: Stored<ResourceQuota>; readonly used: Usage } | ObjectWrite<Stored<ResourceQuota>>;

export interface QuotaDecision extends Decision<QuotaAction> {
  /** Since when the caches and the quota disagree, while they get time to agree. */
  readonly disagreeingSince?: number;
}

export interface ConfirmUsageContext {
  readonly client: Client;
  readonly meters: ReadonlyMap<Kind, Meter>;
  /** Milliseconds since 1970. */
  readonly now: number;
}

export async function confirmUsage(
  { quota, used }: Extract<QuotaAction, { do: 'confirmUsage' }>,
  { client, meters, now }: ConfirmUsageContext,
): Promise<Outcome> {
  let live: Usage = nothingUsed;
  for (const [kind, meter] of meters) {
    if (![...meter.names].some((name) => used.has(name))) continue;
    const objects = await listAll(client, kind, { namespace: quota.metadata.namespace });
    if (!objects.ok) return outcomeOf(objects);
    live = addUsage(live, readAll(meter, objects.value, now));
  }
  // Less than expected is fine: deletions arrive through the caches, and so do objects that they do not show yet.
  return [...used].some(([name, amount]) => compareQuantities(live.get(name) ?? zero, amount) > 0) ? 'conflict' : 'done';
}
