import type { Stored } from '../../api/stored.ts';
import type { StorageClass } from '../../api/generated/types.ts';
import { provisioningNeedOf, provisionerOf } from '../../storage/provisioner/provisioning-need.ts';
import type { Claim } from '../../storage/volumes/claim.ts';
import { defaultClassOf } from '../../api/volumes/storage-class.ts';
import { evidenceOf, noProvisioner } from '../graph/provisioner-evidence.ts';
import { provisionerSnapshot } from '../graph/snapshots.ts';
import type { ObjectGraph } from '../graph/object-graph.ts';

/** How likely it is that a StorageClass would give the claim a volume. `unknown`: no object shows its provisioner, which proves little. */
type Prospect = 'good' | 'unknown' | 'none';

/** Names of the StorageClasses that could provision for the claim, the most promising first; not those of a provisioner that fails already. */
export function otherClassesFor(claim: Claim, graph: ObjectGraph, failing?: string): readonly string[] {
  const usual = defaultClassOf(graph.classes);
  const others = graph.classes.filter((each) => each.metadata.name !== claim.className && provisionerOf(each) !== failing);
  const rated = others.map((each) => ({ each, prospect: prospectOf(each, claim, graph) }));
  return [...rated.filter(({ prospect }) => prospect === 'good'), ...rated.filter(({ prospect }) => prospect === 'unknown')]
    .toSorted((one, other) => Number(other.each === usual) - Number(one.each === usual))
    .map(({ each }) => each.metadata.name);
}

/** The provisioner's decision about the same claim in this StorageClass and, if the class waits for a consumer, with a node. */
function prospectOf({ metadata: { name }, provisioner }: Stored<StorageClass>, claim: Claim, graph: ObjectGraph): Prospect {
  const inClass: Claim = { ...claim, class: { type: 'named', name }, className: name, selectedNode: claim.selectedNode ?? 'anywhere' };
  const need = provisioningNeedOf(inClass, { ...provisionerSnapshot(graph), hasNode: () => true });
  switch (need.type) {
    case 'make':
    case 'populated':
    case 'nothing':
      return 'good';
    case 'external':
      return evidenceOf(need.provisioner, { graph, since: claim.created }).type === 'absent' ? 'unknown' : 'good';
    case 'refused':
      return need.cause === 'plugin' && provisioner !== noProvisioner ? 'unknown' : 'none';
  }
}
