import type { Pod } from '../../api/generated/types.ts';
import type { Fact } from '../explanation/explanation.ts';

/** The message of the pod's condition PodScheduled: the scheduler knows of more than storage. */
export function schedulerMessage(pod: Pod | undefined): readonly Fact[] {
  const condition = pod?.status.conditions?.find(({ type, status }) => type === 'PodScheduled' && status === 'False');
  return condition?.message === undefined || condition.message === '' ? [] : [{ label: 'scheduler', text: condition.message }];
}

/** The claims for which no volume could be provisioned on the node that was chosen, as the scheduler said last. */
export const refusedClaims = (pod: Pod | undefined): readonly string[] =>
  schedulerMessage(pod).flatMap(({ text }) => Array.from(text.matchAll(/provisioning failed for PVC "([^"]+)"/g), ([, name = '']) => name));
