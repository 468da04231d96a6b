import { messages } from '../../storage/provisioner/messages.ts';
import { waitsForConsumer, zonesInParameters } from '../../api/volumes/storage-class.ts';
import { shown, volumesFor } from '../candidates/volume-candidates.ts';
import { kubectl } from '../explanation/commands.ts';
import type { Diagnosis } from '../explanation/explanation.ts';
import type { ClaimWithReason } from './claim-with-reason.ts';
import { requestText, quoted } from '../explanation/words.ts';

/**
 * A class from before there was allowedTopologies, which no volume can be made of: whenever the scheduler chooses a node, the
 * choice is taken back. Undefined: it is none of these, or a volume fits without being made.
 */
export function zonesInClass({ claim, graph }: Pick<ClaimWithReason, 'claim' | 'graph'>): Diagnosis | undefined {
  const storageClass = graph.class(claim.className);
  if (storageClass === undefined || !waitsForConsumer(storageClass)) return undefined;
  const zones = zonesInParameters(storageClass);
  const candidates = volumesFor(claim, graph);
  if (zones.length === 0 || candidates.some(({ refusals }) => refusals.length === 0)) return undefined;
  const name = storageClass.metadata.name ?? '';
  return {
    verdict: 'stuck',
    code: 'ProvisioningRefused',
    summary: `Class ${quoted(name)} names a zone in its parameters and waits for the first consumer; both at once is refused: ${messages.zones}.`,
    facts: [{ label: 'asks for', text: requestText(claim) }],
    candidates: candidates.map(shown),
    fixes: [
      {
        text: 'create the class again without that parameter, and with allowedTopologies',
        commands: [kubectl(undefined, 'delete', 'storageclass', name)],
        yaml: `allowedTopologies: [{matchLabelExpressions: [{key: topology.kubernetes.io/zone, values: [${zones.join(', ')}]}]}]`,
      },
    ],
    next: { who: 'an administrator', does: 'creates the class again; the volume is made as soon as a pod has a node' },
  };
}
