import type { StorageClass } from '../../api/generated/types.ts';
import { provisioningNeedOf, provisionerOf } from '../../storage/provisioner/provisioning-need.ts';
import type { Claim } from '../../storage/volumes/claim.ts';
import { defaultClassOf } from '../../api/volumes/storage-class.ts';
import { evidenceOf, noProvisioner } from '../graph/provisioner-evidence.ts';
import { provisionerSnapshot } from '../graph/snapshots.ts';
import type { ObjectGraph } from '../graph/object-graph.ts';

/** How likely it is that the claim would get a volume of a class. `unseen`: nothing is to be seen of its provisioner, which need not mean much. */
type Prospect = 'good' | 'unseen' | 'none';

/** Names of the classes of which the claim could get a volume, the most promising first; not those of a provisioner that fails it already. */
export function otherClassesFor(claim: Claim, graph: ObjectGraph, failing?: string): readonly string[] {
  const usual = defaultClassOf(graph.classes);
  const others = graph.classes.filter((each) => each.metadata.name !== claim.className && provisionerOf(each) !== failing);
  const rated = others.map((each) => ({ each, prospect: prospectOf(each, claim, graph) }));
  return [...rated.filter(({ prospect }) => prospect === 'good'), ...rated.filter(({ prospect }) => prospect === 'unseen')]
    .toSorted((one, other) => Number(other.each === usual) - Number(one.each === usual))
    .map(({ each }) => each.metadata.name ?? '');
}

/** The provisioner's own decision about a claim that asked for this class and, if the class waits for a pod, had one. */
function prospectOf({ metadata: { name = '' }, provisioner }: StorageClass, claim: Claim, graph: ObjectGraph): Prospect {
  const asking: Claim = { ...claim, class: { type: 'named', name }, className: name, selectedNode: claim.selectedNode ?? 'anywhere' };
  const need = provisioningNeedOf(asking, { ...provisionerSnapshot(graph), hasNode: () => true });
  switch (need.type) {
    case 'make':
    case 'nothing':
      return 'good';
    case 'external':
      return evidenceOf(need.provisioner, { graph, since: claim.created }).type === 'absent' ? 'unseen' : 'good';
    case 'refused':
      return need.cause === 'plugin' && provisioner !== noProvisioner ? 'unseen' : 'none';
  }
}
