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

interface StatusContext {
  readonly client: Client;
  readonly world: World;
}

export async function patchPodStatus(pod: Pod, change: StatusChange, { client, world }: StatusContext): Promise<Result<unknown>> {
  const body = statusPatch(pod, change, world.clock.now());
  return body === undefined ? upToDate : await withRetry(() => patch(pod, body, client), world);
}

/** The same for a pod without a node. A write that a bad network keeps must not come after a later binding: a bound pod is left as it is. */
export async function patchUnboundPodStatus(pod: Pod, change: StatusChange, { client, world }: StatusContext): Promise<Result<unknown>> {
  const { namespace, name = '', uid } = pod.metadata;
  let current = pod;
  return await withRetry(async () => {
    const body = statusPatch(current, change, world.clock.now());
    if (body === undefined || current.metadata.uid !== uid || (current.spec.nodeName ?? '') !== '') return upToDate;
    const result = await patch(current, { ...body, metadata: { uid, resourceVersion: current.metadata.resourceVersion } }, client);
    if (result.ok || result.reason !== 'conflict') return result;
    const found = await client.get(podKind, { namespace, name });
    if (found.ok) current = found.value;
    return result;
  }, world);
}

const upToDate: Result<unknown> = { ok: true, value: undefined };

const patch = ({ metadata: { namespace, name = '' } }: Pod, body: object, client: Client): Promise<Result<unknown>> =>
  client.patch(podKind, { namespace, name }, { type: 'strategic', body }, { subresource: 'status' });
