/** Every volume for a claim, and every claim for a volume, with the rules that refuse the match. */
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

/** The nearest misses first, larger volumes before smaller ones. */
export function volumesFor(claim: Claim, graph: ObjectGraph): readonly VolumeCandidate[] {
  return graph.volumes
    .map((volume) => ({ name: `pv/${volume.name}`, traits: traitsOf(volume), refusals: refusalsOf(claim, volume, graph), volume }))
    .sort((a, b) => distance(a) - distance(b) || compareQuantities(b.volume.capacity ?? zero, a.volume.capacity ?? zero) || byName(a, b));
}

/** The part of a candidate that is printed. */
export const shown = ({ name, traits, refusals }: Candidate): Candidate => ({ name, traits, refusals });

/** Claims that wait for any volume, and why this one does not fit them. */
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

/** A volume that is bound to another claim is no near miss, even if all other rules hold. */
const distance = ({ refusals }: Candidate): number =>
  refusals.reduce((sum, { rule }) => sum + (rule === 'claimedByAnother' ? 4 : rule === 'deleting' ? 3 : 1), 0);

function refusalsOf(claim: Claim, volume: Volume, graph: ObjectGraph): readonly RuleRefusal[] {
  const selected = claim.selectedNode === undefined ? undefined : graph.node(claim.selectedNode);
  const node = selected === undefined ? {} : { node: { name: claim.selectedNode ?? '', labels: selected.metadata.labels } };
  const rejections = rejectionsOf(claim, volume, node);
  const isTaken = rejections.some(({ rule }) => rule === 'claimedByAnother');
  const refusals = rejections
    // The phase of a volume with another claim follows from that: one refusal is enough.
    .filter(({ rule }) => !(isTaken && rule === 'phase'))
    .map((rejection) => ({ rule: rejection.rule, text: textOf(rejection, { claim, volume, graph }) }));
  return [...refusals, ...reservation(claim, volume, graph), ...(selected === undefined ? outOfReach(claim, volume, graph) : [])];
}

/** The volume is unclaimed only because its claimRef was cleared while a claim was bound to it. */
function reservation(claim: Claim, volume: Volume, graph: ObjectGraph): readonly RuleRefusal[] {
  const owner = volume.claim === undefined ? graph.ownerOf(volume.name) : undefined;
  if (owner === undefined || owner.key === claim.key) return [];
  return [{ rule: 'claimedByAnother', text: `will be bound again to claim ${owner.key}, which still names it` }];
}

/** With WaitForFirstConsumer, the scheduler never chooses a volume whose node affinity no node satisfies. */
function outOfReach(claim: Claim, volume: Volume, graph: ObjectGraph): readonly RuleRefusal[] {
  if (volume.nodes === undefined || graph.nodes.length === 0 || !waitsForConsumer(graph.class(claim.className))) return [];
  return graph.isReachable(volume) ? [] : [{ rule: 'nodeAffinity', text: `has a node affinity to ${whereIs(volume.object)}, where there is no node` }];
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
      return `is too small: ${found}, requested is ${wanted}`;
    case 'volumeMode':
      return `is a ${found} volume, not ${wanted}`;
    case 'attributesClass':
      return `has VolumeAttributesClass ${found}, not ${wanted}`;
    case 'deleting':
      return 'is being deleted';
    case 'phase':
      return found === '' || found === 'Pending' ? 'is new, and not Available yet' : `is ${found}, not Available`;
    case 'selector':
      return found === 'no labels' ? `has no labels, the selector requires ${wanted}` : `has labels ${found}, the selector requires ${wanted}`;
    case 'claimSelector':
      return volume.claimSelector.type === 'invalid'
        ? `takes no claim: its claim selector is invalid (${volume.claimSelector.problem})`
        : `takes only ${wanted}; this claim has ${found}`;
    case 'class':
      return `has ${volume.className === '' ? 'no StorageClass' : `StorageClass ${found}`}, the claim requires ${wanted}`;
    case 'accessModes':
      return `offers ${found}, not ${wanted}`;
    case 'nodeAffinity':
      return `has a node affinity to ${whereIs(volume.object)}, which excludes node ${quoted(claim.selectedNode ?? '')}`;
  }
}

function holderText(claim: Claim, volume: Volume, graph: ObjectGraph): string {
  const holder = volume.claim;
  if (holder === undefined) return 'is bound to another claim';
  if (holder.uid === '') return `is reserved for claim ${holder.key}`;
  if (volume.phase === 'Released' || volume.phase === 'Failed') {
    const whose = holder.key === claim.key ? `an earlier claim ${holder.key}` : `claim ${holder.key}`;
    return `is ${volume.phase}: it was bound to ${whose}, which is deleted`;
  }
  const known = graph.claim(holder.key);
  return known !== undefined && !isVolumeBoundToClaim(volume, known)
    ? `has the claimRef of an earlier claim ${holder.key}, which is deleted`
    : `is bound to claim ${holder.key}`;
}
