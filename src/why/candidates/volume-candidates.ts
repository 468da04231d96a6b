/** Every volume that a claim could have, and every claim that could have a volume, with the rules that say no. */
import { compareQuantities } from '../../api/quantity.ts';
import { type Claim, takesAnyVolume } from '../../storage/volumes/claim.ts';
import { showAmount, zero } from '../../api/volumes/capacity.ts';
import { type Rejection, rejectionsOf, type Rule } from '../../storage/volumes/match.ts';
import { waitsForConsumer } from '../../api/volumes/storage-class.ts';
import { isVolumeBoundToClaim, type Volume } from '../../storage/volumes/volume.ts';
import type { Candidate, Refusal } from '../explanation/explanation.ts';
import type { ObjectGraph } from '../graph/object-graph.ts';
import { quoted, shortModes, whereIs } from '../explanation/words.ts';

type RuleRefusal = Refusal & { readonly rule: Rule };

export interface VolumeCandidate extends Candidate {
  readonly volume: Volume;
  readonly refusals: readonly RuleRefusal[];
}

export interface ClaimCandidate extends Candidate {
  readonly claim: Claim;
  readonly refusals: readonly RuleRefusal[];
}

/** The nearest misses first, the largest of them before the others. */
export function volumesFor(claim: Claim, graph: ObjectGraph): readonly VolumeCandidate[] {
  return graph.volumes
    .map((volume) => ({ name: `pv/${volume.name}`, traits: traitsOf(volume), refusals: refusalsOf(claim, volume, graph), volume }))
    .sort((a, b) => distance(a) - distance(b) || compareQuantities(b.volume.capacity ?? zero, a.volume.capacity ?? zero) || byName(a, b));
}

/** Without what only the code needs. */
export const shown = ({ name, traits, refusals }: Candidate): Candidate => ({ name, traits, refusals });

/** Claims that wait for any volume, and why they do not take this one. */
export function claimsFor(volume: Volume, graph: ObjectGraph): readonly ClaimCandidate[] {
  return graph.claims
    .filter((claim) => takesAnyVolume(claim) && claim.object.metadata.deletionTimestamp === undefined)
    .map((claim) => ({
      name: `pvc/${claim.name} -n ${claim.namespace}`,
      traits: [showAmount(claim.request), shortModes(claim.object.spec.accessModes), claim.className === '' ? '-' : claim.className],
      refusals: refusalsOf(claim, volume, graph),
      claim,
    }))
    .sort((a, b) => distance(a) - distance(b) || byName(a, b));
}

const traitsOf = ({ capacity, object, className, phase, deleting }: Volume): readonly string[] => [
  showAmount(capacity),
  shortModes(object.spec.accessModes),
  className === '' ? '-' : className,
  deleting ? 'Terminating' : phase === '' ? 'Pending' : phase,
];

const byName = (a: Candidate, b: Candidate): number => (a.name < b.name ? -1 : 1);

/** A volume that belongs to somebody is no near miss, whatever else is right about it. */
const distance = ({ refusals }: Candidate): number =>
  refusals.reduce((sum, { rule }) => sum + (rule === 'claimedByAnother' ? 4 : rule === 'deleting' ? 3 : 1), 0);

function refusalsOf(claim: Claim, volume: Volume, graph: ObjectGraph): readonly RuleRefusal[] {
  const selected = claim.selectedNode === undefined ? undefined : graph.node(claim.selectedNode);
  const node = selected === undefined ? {} : { node: { name: claim.selectedNode ?? '', labels: selected.metadata.labels } };
  const rejections = rejectionsOf(claim, volume, node);
  const isTaken = rejections.some(({ rule }) => rule === 'claimedByAnother');
  const refusals = rejections
    // A volume that belongs to somebody has a phase that says so: once is enough.
    .filter(({ rule }) => !(isTaken && rule === 'phase'))
    .map((rejection) => ({ rule: rejection.rule, text: textOf(rejection, { claim, volume, graph }) }));
  return [...refusals, ...reservation(claim, volume, graph), ...(selected === undefined ? outOfReach(claim, volume, graph) : [])];
}

/** It looks free only because somebody cleared its claimRef. */
function reservation(claim: Claim, volume: Volume, graph: ObjectGraph): readonly RuleRefusal[] {
  const owner = volume.claim === undefined ? graph.ownerOf(volume.name) : undefined;
  if (owner === undefined || owner.key === claim.key) return [];
  return [{ rule: 'claimedByAnother', text: `goes back to claim ${owner.key}, which was bound to it` }];
}

/** Where pods have to be scheduled before volumes are chosen, a volume that no node can reach will never be chosen. */
function outOfReach(claim: Claim, volume: Volume, graph: ObjectGraph): readonly RuleRefusal[] {
  if (volume.nodes === undefined || graph.nodes.length === 0 || !waitsForConsumer(graph.class(claim.className))) return [];
  return graph.isReachable(volume) ? [] : [{ rule: 'nodeAffinity', text: `can be reached only from ${whereIs(volume.object)}, where no node is` }];
}

interface Comparison {
  readonly claim: Claim;
  readonly volume: Volume;
  readonly graph: ObjectGraph;
}

function textOf({ rule, found, wanted }: Rejection, { claim, volume, graph }: Comparison): string {
  switch (rule) {
    case 'claimedByAnother':
      return holderText(claim, volume, graph);
    case 'capacity':
      return `is too small: ${found}, wanted ${wanted}`;
    case 'volumeMode':
      return `is a ${found} volume, not ${wanted}`;
    case 'attributesClass':
      return `has attributes class ${found}, not ${wanted}`;
    case 'deleting':
      return 'is being deleted';
    case 'phase':
      return found === '' || found === 'Pending' ? 'is new: nobody has made it Available yet' : `is ${found}, not Available`;
    case 'selector':
      return found === 'no labels' ? `has no labels, wanted ${wanted}` : `has labels ${found}, wanted ${wanted}`;
    case 'claimSelector':
      return volume.claimSelector.type === 'invalid'
        ? `takes no claim: its claim selector cannot be read (${volume.claimSelector.problem})`
        : `takes only ${wanted}; this claim has ${found}`;
    case 'class':
      return volume.className === '' ? `has no class, not ${wanted}` : `is of class ${found}, not ${wanted === 'none' ? 'without one' : wanted}`;
    case 'accessModes':
      return `offers ${found}, not ${wanted}`;
    case 'nodeAffinity':
      return `can be reached only from ${whereIs(volume.object)}, not from node ${quoted(claim.selectedNode ?? '')}`;
  }
}

function holderText(claim: Claim, volume: Volume, graph: ObjectGraph): string {
  const holder = volume.claim;
  if (holder === undefined) return 'belongs to another claim';
  if (holder.uid === '') return `is reserved for claim ${holder.key}`;
  if (volume.phase === 'Released' || volume.phase === 'Failed') {
    const whose = holder.key === claim.key ? `an earlier claim ${holder.key}` : `claim ${holder.key}`;
    return `is ${volume.phase}: it was that of ${whose}, which is gone`;
  }
  const known = graph.claim(holder.key);
  return known !== undefined && !isVolumeBoundToClaim(volume, known)
    ? `points at an earlier claim ${holder.key}, which is gone`
    : `belongs to claim ${holder.key}`;
}
