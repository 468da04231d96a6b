import type { PersistentVolumeClaim, Pod } from '../../api/generated/types.ts';
import type { EventText, Tell } from '../../domain/volumes/decision.ts';
import type { Draft } from '../../machinery/client.ts';
import type { Decision as AnyDecision } from '../../machinery/loop.ts';

export type Action = CreateClaim | Tell;

export interface CreateClaim {
  readonly do: 'create-claim';
  readonly pod: Pod;
  /** The pod's name for it. */
  readonly volume: string;
  readonly claim: Draft<PersistentVolumeClaim>;
}

export type Decision = AnyDecision<Action>;

/** The component that Kubernetes names in these events. */
export const eventSource = 'ephemeral_volume';

/** What a pod is told if a volume cannot have its claim. */
export const failedBinding = (pod: Pod, volume: string, why: string): EventText => ({
  about: pod,
  type: 'Warning',
  reason: 'FailedBinding',
  message: `ephemeral volume ${volume}: ${why}`,
});
