import type { ResourceQuota } from '../../../api/generated/types.ts';
import type { Kind } from '../../../api/kind.ts';
import { compareQuantities } from '../../../api/quantity.ts';
import { type Meter, readAll } from '../../../api/quota/meter.ts';
import { addUsage, nothingUsed, type Usage, zero } from '../../../api/quota/usage.ts';
import type { Client } from '../../../client/client.ts';
import { listAll } from '../../../client/live-lists.ts';
import type { Decision } from '../../../client/decision.ts';
import { type Outcome, outcomeOf } from '../../../client/controller/loop.ts';

export type QuotaAction =
  /** Asks the server, not the caches, whether that is all that is used; if there is more, nothing that follows happens. */
  { readonly type: 'confirm-usage'; readonly quota: ResourceQuota; readonly used: Usage } | { readonly type: 'write-status'; readonly quota: ResourceQuota };

export interface QuotaDecision extends Decision<QuotaAction> {
  /** The caches and the quota disagree, and are given time to agree: since when. */
  readonly disagreeingSince?: number;
}

export interface ConfirmUsageContext {
  readonly client: Client;
  readonly meters: ReadonlyMap<Kind, Meter>;
  /** Milliseconds since 1970. */
  readonly now: number;
}

export async function confirmUsage(
  { quota, used }: Extract<QuotaAction, { type: 'confirm-usage' }>,
  { client, meters, now }: ConfirmUsageContext,
): Promise<Outcome> {
  let live: Usage = nothingUsed;
  for (const [kind, meter] of meters) {
    if (![...meter.names].some((name) => used.has(name))) continue;
    const objects = await listAll(client, kind, { namespace: quota.metadata.namespace });
    if (!objects.ok) return outcomeOf(objects);
    live = addUsage(live, readAll(meter, objects.value, now));
  }
  // Less than expected will do: what goes meanwhile comes in through the caches, and so does what they do not show yet.
  return [...used].some(([name, amount]) => compareQuantities(live.get(name) ?? zero, amount) > 0) ? 'conflict' : 'done';
}
