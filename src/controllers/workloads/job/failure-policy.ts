import type { ContainerStatus, Pod, PodFailurePolicy, PodFailurePolicyOnExitCodesRequirement, PodFailurePolicyRule } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';

/** The result of spec.podFailurePolicy for a failed pod. */
export type FailurePolicyMatch =
  | { readonly type: 'count' }
  /** The failure does not count. */
  | { readonly type: 'ignore' }
  /** The index of the pod fails. */
  | { readonly type: 'failIndex' }
  | { readonly type: 'failJob'; readonly message: string };

/** The first matching rule decides. */
export function matchFailurePolicy(policy: PodFailurePolicy | undefined, pod: Stored<Pod>): FailurePolicyMatch {
  for (const [i, rule] of (policy?.rules ?? []).entries()) {
    const why = reasonToApply(rule, pod);
    if (why === undefined) continue;
    switch (rule.action) {
      case 'Ignore':
        return { type: 'ignore' };
      case 'FailIndex':
        return { type: 'failIndex' };
      case 'Count':
        return { type: 'count' };
      case 'FailJob':
        return { type: 'failJob', message: `${why} matching ${rule.action} rule at index ${i}` };
    }
  }
  return { type: 'count' };
}

/** Whether the failure counts towards backoffLimit. */
export const countsAsFailure = (policy: PodFailurePolicy | undefined, pod: Stored<Pod>): boolean => matchFailurePolicy(policy, pod).type !== 'ignore';

function reasonToApply({ onExitCodes, onPodConditions }: PodFailurePolicyRule, { metadata, status }: Stored<Pod>): string | undefined {
  const pod = `${metadata.namespace ?? ''}/${metadata.name}`;
  if (onExitCodes !== undefined) {
    const exited = [...(status.containerStatuses ?? []), ...(status.initContainerStatuses ?? [])].find((container) => hasExitedWith(onExitCodes, container));
    return exited === undefined ? undefined : `Container ${exited.name} for pod ${pod} failed with exit code ${exitCode(exited)}`;
  }
  const condition = status.conditions?.find(({ type, status: is }) => onPodConditions?.some((pattern) => pattern.type === type && pattern.status === is));
  return condition === undefined ? undefined : `Pod ${pod} has condition ${condition.type}`;
}

const exitCode = ({ state }: ContainerStatus): number => state?.terminated?.exitCode ?? 0;

function hasExitedWith({ containerName, operator, values }: PodFailurePolicyOnExitCodesRequirement, container: ContainerStatus): boolean {
  if (containerName !== undefined && containerName !== container.name) return false;
  const code = exitCode(container);
  if (code === 0) return false;
  const isListed = (values ?? []).includes(code);
  return operator === 'In' ? isListed : operator === 'NotIn' && !isListed;
}
