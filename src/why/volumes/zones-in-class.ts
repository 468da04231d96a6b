import { messages } from '../../storage/provisioner/messages.ts';
import { waitsForConsumer, zonesInParameters } from '../../api/volumes/storage-class.ts';
import { shown, volumesFor } from '../candidates/volume-candidates.ts';
import { kubectl } from '../explanation/commands.ts';
import type { Diagnosis } from '../explanation/explanation.ts';
import type { ClaimWithReason } from './claim-with-reason.ts';
import { requestFact, quoted } from '../explanation/words.ts';

/**
 * A StorageClass with a zone parameter, from before allowedTopologies, that also waits for the first consumer: the provisioner refuses it,
 * and the scheduler's choice of a node is taken back. Undefined: it is no such class, or an existing volume fits.
 */
export function zonesInClass({ claim, graph }: Pick<ClaimWithReason, 'claim' | 'graph'>): Diagnosis | undefined {
  const storageClass = graph.class(claim.className);
  if (storageClass === undefined || !waitsForConsumer(storageClass)) return undefined;
  const zones = zonesInParameters(storageClass);
  const candidates = volumesFor(claim, graph);
  if (zones.length === 0 || candidates.some(({ refusals }) => refusals.length === 0)) return undefined;
  const name = storageClass.metadata.name;
  return {
    verdict: 'stuck',
    code: 'ProvisioningRefused',
    summary: `StorageClass ${quoted(name)} has a zone parameter and volumeBindingMode WaitForFirstConsumer; the provisioner refuses both together: ${messages.zones}.`,
    facts: [requestFact(claim)],
    candidates: candidates.map(shown),
    fixes: [
      {
        text: 'create the StorageClass again without that parameter, and with allowedTopologies',
        commands: [kubectl(undefined, 'delete', 'storageclass', name)],
        yaml: `allowedTopologies: [{matchLabelExpressions: [{key: topology.kubernetes.io/zone, values: [${zones.join(', ')}]}]}]`,
      },
    ],
    next: { who: 'an administrator', does: 'creates the StorageClass again; the volume is provisioned as soon as a pod is scheduled' },
  };
}
