import type { Pod, PodCondition } from '../api/generated/types.ts';
import { podKind } from '../api/kinds/pod/pod.ts';
import type { Client, Result } from '../client/client.ts';
import type { World } from '../world/world.ts';
import { withRetry } from './retry.ts';

/** A change of a pod's status. Absent fields stay. */
export interface StatusChange {
  readonly condition?: Pick<PodCondition, 'type' | 'status' | 'reason' | 'message'>;
  /** '': clears the nomination. */
  readonly nominatedNodeName?: string;
}

/** Undefined: the status is up to date. */
export function statusPatch(pod: Pod, { condition, nominatedNodeName }: StatusChange, now: number): object | undefined {
  const conditions = condition === undefined ? [] : changedCondition(pod, condition, now);
  const isRenominated = nominatedNodeName !== undefined && nominatedNodeName !== (pod.status.nominatedNodeName ?? '');
  if (conditions.length === 0 && !isRenominated) return undefined;
  return {
    metadata: { uid: pod.metadata.uid },
    status: {
      ...(conditions.length === 0 ? {} : { conditions }),
      ...(isRenominated ? { nominatedNodeName: nominatedNodeName === '' ? null : nominatedNodeName } : {}),
    },
  };
}

function changedCondition({ metadata, status }: Pod, condition: NonNullable<StatusChange['condition']>, now: number): readonly Partial<PodCondition>[] {
  const old = status.conditions?.find(({ type }) => type === condition.type);
  if (old?.status === condition.status && (old.reason ?? '') === condition.reason && (old.message ?? '') === condition.message) return [];
  const { generation: observedGeneration } = metadata;
  const lastTransitionTime = old?.status === condition.status ? old.lastTransitionTime : `${new Date(now).toISOString().slice(0, 19)}Z`;
  return [{ ...condition, ...(observedGeneration === undefined ? {} : { observedGeneration }), lastTransitionTime }];
}

export async function patchPodStatus(
  pod: Pod,
  change: StatusChange,
  { client, world }: { readonly client: Client; readonly world: World },
): Promise<Result<unknown>> {
  const body = statusPatch(pod, change, world.clock.now());
  if (body === undefined) return { ok: true, value: undefined };
  const { namespace, name = '' } = pod.metadata;
  return await withRetry(() => client.patch(podKind, { namespace, name }, { type: 'strategic', body }, { subresource: 'status' }), world);
}
