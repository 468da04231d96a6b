import type { StorageClass } from '../../api/generated/types.ts';
import { defaultClassOf, waitsForConsumer } from '../../api/volumes/storage-class.ts';
import type { Stored } from '../../api/stored.ts';
import { provisionerOf } from '../../storage/provisioner/provisioning-need.ts';
import { isInTree } from '../../api/volumes/csi-migration.ts';
import { kubectl } from '../explanation/commands.ts';
import { type Diagnosis, explanationOf, nothingToDo, type ObjectExplanation } from '../explanation/explanation.ts';
import { plural, quoted, someOf } from '../explanation/words.ts';
import type { ObjectGraph } from '../graph/object-graph.ts';
import { evidenceOf, noProvisioner } from '../graph/provisioner-evidence.ts';
import { explainClaim } from '../volumes/claim.ts';

export function explainClass(storageClass: Stored<StorageClass>, graph: ObjectGraph): ObjectExplanation {
  const { name, creationTimestamp } = storageClass.metadata;
  const isDefault = defaultClassOf(graph.classes)?.metadata.name === name;
  const claims = graph.claims.filter((claim) => claim.className === name);
  const waiting = claims.filter(({ phase }) => phase !== 'Bound');
  const diagnosis = diagnose(storageClass, graph);
  const stuck = waiting.map((claim) => explainClaim(claim, graph)).filter(({ verdict }) => verdict === 'stuck');
  return explanationOf(
    { kind: 'sc', name },
    { state: isDefault ? 'Default' : 'Available', since: creationTimestamp },
    {
      ...diagnosis,
      ...(diagnosis.verdict === 'fine' && stuck.length > 0 ? { verdict: 'stuck', code: 'ClaimsStuck', next: stuck[0]?.next ?? nothingToDo } : {}),
      facts: [
        { label: 'provisioner', text: storageClass.provisioner },
        { label: 'binding', text: waitsForConsumer(storageClass) ? 'when a pod uses the claim (WaitForFirstConsumer)' : 'at once (Immediate)' },
        { label: 'claims', text: `${plural(claims.length, 'claim')}, ${waiting.length} without a volume` },
      ],
      parts: stuck.slice(0, 3),
    },
  );
}

function diagnose(storageClass: Stored<StorageClass>, graph: ObjectGraph): Diagnosis {
  const { name } = storageClass.metadata;
  const provisioner = provisionerOf(storageClass);
  if (provisioner === noProvisioner) {
    return { verdict: 'fine', code: 'NoProvisioner', summary: 'Volumes of the class are created by hand only.', next: nothingToDo };
  }
  const evidence = evidenceOf(provisioner, { graph, since: '' });
  // A plugin inside the control plane has no object of its own.
  if (evidence.type === 'absent' && !isInTree(provisioner)) {
    return {
      verdict: 'stuck',
      code: 'ProvisionerAbsent',
      summary: `Its provisioner ${provisioner} does not seem to be installed: there is no CSIDriver ${quoted(provisioner)}, it is registered on no node, and no volume was provisioned by it.`,
      fixes: [
        { text: `install ${provisioner}`, commands: [kubectl(undefined, 'get', 'csidrivers')] },
        { text: 'or use another class; the provisioner of a class cannot be changed', commands: [kubectl(undefined, 'delete', 'storageclass', name)] },
      ],
      next: { who: 'an administrator', does: `installs ${provisioner}` },
    };
  }
  const where = evidence.nodes.length === 0 ? '' : `, on ${someOf(evidence.nodes.map((node) => `node/${node}`))}`;
  return {
    verdict: 'fine',
    code: 'ProvisionerKnown',
    summary: `${evidence.type === 'unknown' ? 'Whether its provisioner is installed could not be read' : `Its provisioner ${provisioner} is there${where}, and has provisioned ${plural(evidence.made, 'volume')} so far`}.`,
    next: nothingToDo,
  };
}
