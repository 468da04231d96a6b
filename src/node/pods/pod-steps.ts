/** Steps of a pod's life that are the same whatever runs it. */
import type { Node, Pod, PodStatus } from '../../api/generated/types.ts';
import type { Host } from '../host.ts';
import { nothingRuns } from './runtime-state.ts';
import { type Failure, podStatus, rejectedStatus } from './status/pod-status.ts';

interface StepDecision {
  readonly actions: readonly Step[];
  readonly reasons: readonly { readonly code: string; readonly text: string }[];
  readonly again?: number;
}

type Step = { readonly pod: Pod } & (
  | { readonly do: 'admit' }
  | { readonly do: 'write-status'; readonly status: PodStatus }
  | { readonly do: 'remove' }
  | { readonly do: 'tell'; readonly type: 'Normal' | 'Warning'; readonly reason: string; readonly message: string }
);

export function rejectPod(pod: Pod, refused: Failure, now: number): StepDecision {
  return {
    actions: [
      { do: 'write-status', pod, status: rejectedStatus(pod, refused, now) },
      { do: 'tell', pod, type: 'Warning', ...refused },
    ],
    reasons: [{ code: refused.reason, text: refused.message }],
  };
}

/** The node has seen the pod: it will run here. */
export function acceptPod({ pod, host }: { readonly pod: Pod; readonly host: Host }, now: number): StepDecision {
  const status = podStatus({ pod, state: nothingRuns, hostIp: host.ip }, now);
  return {
    actions: [
      { do: 'admit', pod },
      { do: 'write-status', pod, status },
    ],
    reasons: [{ code: 'PodAdmitted', text: 'the node takes the pod' }],
  };
}

/** Pods that ended gave theirs back: a node that has fewer than pods was made so by hand. */
export function noAddress({ pod, host, node }: { readonly pod: Pod; readonly host: Host; readonly node: Node | undefined }, now: number): StepDecision {
  const message = `Failed to create pod sandbox: no IP addresses available in range set: ${node?.spec.podCIDR ?? host.podCidr}`;
  return {
    actions: [{ do: 'tell', pod, type: 'Warning', reason: 'FailedCreatePodSandBox', message }],
    reasons: [{ code: 'NoAddress', text: message }],
    again: now + 10_000,
  };
}

/** Somebody waits for the node to confirm that the pod is gone; without grace nobody does. */
export function confirmDeletion(pod: Pod): readonly Extract<Step, { do: 'remove' }>[] {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = pod.metadata;
  return deletionTimestamp !== undefined && deletionGracePeriodSeconds > 0 ? [{ do: 'remove', pod }] : [];
}

export const ended = [{ code: 'PodEnded', text: 'the pod has ended' }] as const;

/** When it has had its time; milliseconds since 1970. */
export function deadlineOf({ spec: { activeDeadlineSeconds }, status: { startTime } }: Pod): number | undefined {
  return activeDeadlineSeconds === undefined || startTime === undefined ? undefined : Date.parse(startTime) + activeDeadlineSeconds * 1000;
}

export const deadlineExceeded: Failure = { reason: 'DeadlineExceeded', message: 'Pod was active on the node longer than the specified deadline' };
