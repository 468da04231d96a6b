/**
 * Whether a volume satisfies a claim, and if not, by which rule. Binder, scheduler and `moor why` share it, so that they cannot
 * disagree.
 */
import { compareQuantities, quantityValue } from '../../api/quantity.ts';
import { matchesLabels } from '../../api/selectors/label-selector.ts';
import { offersModes, showModes } from './access-modes.ts';
import { showAmount, zero } from '../../api/volumes/capacity.ts';
import type { Claim } from './claim.ts';
import { type NodeFacts, matchesNode } from './topology.ts';
import { isHalfBound, isVolumeBoundToClaim, type Volume } from './volume.ts';

export type Rule =
  | 'claimedByAnother'
  | 'capacity'
  | 'volumeMode'
  | 'attributesClass'
  | 'deleting'
  | 'phase'
  | 'selector'
  | 'claimSelector'
  | 'class'
  | 'accessModes'
  | 'nodeAffinity';

/** Which rule refused the volume, what was found, and what would have been right. */
export interface Rejection {
  readonly rule: Rule;
  readonly found: string;
  readonly wanted: string;
}

export interface MatchOptions {
  /** The node on which a pod needs the volume: only the scheduler knows one. 'any': before a node is chosen. */
  readonly node?: NodeFacts | 'any';
}

type Check = (claim: Claim, volume: Volume, options: MatchOptions) => Rejection | undefined;

const checks = {
  claimedByAnother: (claim, volume) =>
    volume.claim === undefined || isVolumeBoundToClaim(volume, claim)
      ? undefined
      : reject('claimedByAnother', volume.claim.key, `no claimRef, or one to ${claim.key}`),
  capacity: (claim, volume) =>
    compareQuantities(volume.capacity ?? zero, claim.request) >= 0
      ? undefined
      : reject('capacity', showAmount(volume.capacity), `at least ${showAmount(claim.request)}`),
  volumeMode: (claim, volume) => (volume.volumeMode === claim.volumeMode ? undefined : reject('volumeMode', volume.volumeMode, claim.volumeMode)),
  attributesClass: (claim, volume) =>
    volume.attributesClass === claim.attributesClass ? undefined : reject('attributesClass', quoted(volume.attributesClass), quoted(claim.attributesClass)),
  deleting: (claim, volume) => (volume.deleting && !isHalfBound(volume, claim) ? reject('deleting', 'being deleted', 'not being deleted') : undefined),
  phase: (_, volume) => (volume.phase === 'Available' ? undefined : reject('phase', volume.phase, 'Available')),
  selector: ({ selector }, volume) =>
    selector.type === 'valid' && matchesLabels(selector.selector, volume.labels)
      ? undefined
      : reject('selector', showLabels(volume.labels), selector.type === 'valid' ? selector.text : `a selector that can be read: ${selector.problem}`),
  claimSelector: (claim, { claimSelector }) =>
    claimSelector.type === 'valid' && matchesLabels(claimSelector.selector, claim.labels)
      ? undefined
      : reject(
          'claimSelector',
          showLabels(claim.labels),
          claimSelector.type === 'valid' ? `a claim with ${claimSelector.text}` : `a claim selector that can be read: ${claimSelector.problem}`,
        ),
  class: (claim, volume) => (volume.className === claim.className ? undefined : reject('class', quoted(volume.className), quoted(claim.className))),
  accessModes: (claim, volume) =>
    offersModes(volume.accessModes, claim.accessModes) ? undefined : reject('accessModes', showModes(volume.accessModes), showModes(claim.accessModes)),
  nodeAffinity: (_, volume, { node }) =>
    node === undefined || node === 'any' || volume.nodes === undefined || matchesNode(volume.nodes, node)
      ? undefined
      : reject('nodeAffinity', 'a node affinity without this node', `one that matches ${node.name ?? 'the node'}`),
} satisfies Record<Rule, Check>;

const reject = (rule: Rule, found: string, wanted: string): Rejection => ({ rule, found, wanted });
const quoted = (name: string): string => (name === '' ? 'none' : `"${name}"`);
const showLabels = (labels: Readonly<Record<string, string>> | undefined): string =>
  Object.entries(labels ?? {})
    .map(([key, value]) => `${key}=${value}`)
    .join(',') || 'no labels';

/** The rules for a volume whose claimRef names the claim: a user chose it in spite of class, labels and phase. */
const rulesForReserved: readonly Rule[] = ['capacity', 'volumeMode', 'attributesClass', 'deleting', 'accessModes'];
/** The scheduler checks the node affinity of such a volume, not its access modes. */
const rulesForReservedOnNode: readonly Rule[] = ['capacity', 'volumeMode', 'attributesClass', 'deleting', 'nodeAffinity'];
const rulesForFree: readonly Rule[] = [
  'claimedByAnother',
  'capacity',
  'volumeMode',
  'attributesClass',
  'deleting',
  'phase',
  'selector',
  'claimSelector',
  'class',
  'accessModes',
  'nodeAffinity',
];

/** The first rule that rejects the volume for a claim which names no volume. */
export function matchVolume(claim: Claim, volume: Volume, options: MatchOptions = {}): 'fits' | Rejection {
  for (const rule of rulesForMatch(claim, volume, options)) {
    const rejection = checks[rule](claim, volume, options);
    if (rejection !== undefined) return rejection;
  }
  return 'fits';
}

/** Every rule that rejects the volume. */
export function rejectionsOf(claim: Claim, volume: Volume, options: MatchOptions = {}): readonly Rejection[] {
  return rulesForMatch(claim, volume, options).flatMap((rule) => checks[rule](claim, volume, options) ?? []);
}

function rulesForMatch(claim: Claim, volume: Volume, { node }: MatchOptions): readonly Rule[] {
  if (!isVolumeBoundToClaim(volume, claim)) return rulesForFree;
  return node === undefined ? rulesForReserved : rulesForReservedOnNode;
}

/** The messages of Kubernetes' VolumeMismatch event. */
const mismatches = {
  capacity: 'requested PV is too small',
  class: 'storageClassName does not match',
  attributesClass: 'volumeAttributesClassName does not match',
  volumeMode: 'incompatible volumeMode',
  accessModes: 'incompatible accessMode',
  claimSelector: "the volume's claim selector does not select this claim",
} as const;

const rulesForRequested = ['class', 'attributesClass', 'volumeMode', 'accessModes', 'claimSelector'] as const;

/**
 * The rule that rejects the volume which the claim names, with Kubernetes' message. Naming a volume overrides the claim's own selector,
 * but not the volume's.
 */
export function matchRequestedVolume(claim: Claim, volume: Volume): 'fits' | (Rejection & { readonly text: string }) {
  const deleting = checks.deleting(claim, volume);
  if (deleting !== undefined) return { ...deleting, text: `the volume is marked for deletion "${volume.name}"` };
  // In whole bytes, rounded up: unlike the search among free volumes, which is exact.
  if (quantityValue(volume.capacity ?? zero) < quantityValue(claim.request)) {
    return { ...reject('capacity', showAmount(volume.capacity), `at least ${showAmount(claim.request)}`), text: mismatches.capacity };
  }
  for (const rule of rulesForRequested) {
    const rejection = checks[rule](claim, volume);
    if (rejection !== undefined) return { ...rejection, text: mismatches[rule] };
  }
  return 'fits';
}
