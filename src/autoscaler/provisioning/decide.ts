import type { Pod } from '../../api/generated/types.ts';
import type { NodeClaim } from '../../api/kinds/karpenter/node-claim.ts';
import type { NodePool } from '../../api/kinds/karpenter/node-pool.ts';
import type { Stored } from '../../api/stored.ts';
import type { EventDraft, LastEvent, RecordEvent } from '../../client/decision.ts';
import type { ProvisioningAction, ProvisioningDecision } from './actions.ts';

/** What is planned for the pods of a batch. */
export interface BatchPlan {
  readonly launches: readonly { readonly claim: NodeClaim; readonly pods: readonly Stored<Pod>[] }[];
  /** Pods that fit on nodes that are there, or about to be. */
  readonly nominations: readonly { readonly pod: Stored<Pod>; readonly claim: string | undefined; readonly node: string | undefined }[];
  readonly failures: readonly { readonly pod: Stored<Pod>; readonly message: string }[];
  /** NodePools for which the cloud has no instance type at all. */
  readonly withoutTypes: readonly Stored<NodePool>[];
}

export interface ProvisioningSnapshot {
  /** When the first and the last pod of the batch became known; undefined: none waits. */
  readonly batch: { readonly first: number; readonly last: number } | undefined;
  /** Computed only if the batch is complete. */
  readonly plan: () => BatchPlan;
  readonly lastEvent: LastEvent;
}

/** BATCH_IDLE_DURATION and BATCH_MAX_DURATION. */
const idleMs = 1000;
const mostMs = 10_000;
/** While pods wait, they are planned again. */
const againMs = 10_000;

export function decideProvisioning({ batch, plan, lastEvent }: ProvisioningSnapshot, now: number): ProvisioningDecision {
  if (batch === undefined) return { actions: [], reasons: [] };
  const due = Math.min(batch.last + idleMs, batch.first + mostMs);
  if (now < due)
    return { actions: [], reasons: [{ code: 'Batching', text: 'more pods may come', next: 'the provisioner, once no pod has come for a second' }], again: due };
  const { launches, nominations, failures, withoutTypes } = plan();
  const actions: ProvisioningAction[] = [
    ...launches.map(({ claim, pods }) => ({ do: 'launch', object: claim, pods }) as const),
    ...nominations.flatMap(({ pod, claim, node }) => nominationOf(pod, { claim, node, lastEvent })),
    ...failures.flatMap(({ pod, message }) => onceIn(5, { about: pod, event: failedToSchedule(message) }, { lastEvent, now })),
    ...withoutTypes.flatMap((pool) => onceIn(1, { about: pool, event: noCompatibleInstanceTypes }, { lastEvent, now })),
  ];
  return { actions, reasons: [{ code: 'Planned', text: `${launches.length} nodes are to be launched` }], again: now + againMs };
}

interface Memory {
  readonly lastEvent: LastEvent;
  readonly now: number;
}

function onceIn(minutes: number, { about, event }: { readonly about: Stored; readonly event: EventDraft }, { lastEvent, now }: Memory): readonly RecordEvent[] {
  const key = `${about.metadata.uid}/${event.reason}`;
  const last = lastEvent(key);
  if (last !== undefined && last.message === event.message && now - last.at < minutes * 60_000) return [];
  return [{ do: 'recordEvent', event: { ...event, about }, rememberAs: key }];
}

function nominationOf(
  pod: Stored<Pod>,
  { claim, node, lastEvent }: { readonly claim: string | undefined; readonly node: string | undefined; readonly lastEvent: LastEvent },
): readonly ProvisioningAction[] {
  const event = nominated({ claim, node });
  const key = `${pod.metadata.uid}/${event.reason}`;
  const name = node ?? claim ?? '';
  const known = lastEvent(key);
  // A claim that has become a node is the same place.
  const isKnown = known?.message === event.message || (claim !== undefined && known?.message.includes(`nodeclaim/${claim}`) === true);
  const told: readonly ProvisioningAction[] = isKnown ? [] : [{ do: 'recordEvent', event: { ...event, about: pod }, rememberAs: key }];
  return [{ do: 'nominate', name }, ...told];
}

export function nominated({ claim, node }: { readonly claim: string | undefined; readonly node: string | undefined }): EventDraft {
  const places = [...(claim === undefined ? [] : [`nodeclaim/${claim}`]), ...(node === undefined ? [] : [`node/${node}`])];
  return { type: 'Normal', reason: 'Nominated', message: `Pod should schedule on: ${places.join(', ')}` };
}

const failedToSchedule = (message: string): EventDraft => ({ type: 'Warning', reason: 'FailedScheduling', message: `Failed to schedule pod, ${message}` });

const noCompatibleInstanceTypes: EventDraft = {
  type: 'Warning',
  reason: 'NoCompatibleInstanceTypes',
  message: 'NodePool requirements filtered out all compatible available instance types',
};
