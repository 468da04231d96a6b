/**
 * FindPodVolumes: which volumes a pod would get on a node. Runs for thousands of nodes, so `podVolumeClaims` computes once what does not
 * depend on the node. Free PVs are matched by the binder's own function (`matchVolume`).
 */
import type { StorageClass } from '../../api/generated/types.ts';
import { compareQuantities, quantityValue } from '../../api/quantity.ts';
import type { Labels } from '../../api/selectors/label-selector.ts';
import { storageAmount } from '../../api/volumes/capacity.ts';
import type { Claim } from '../../storage/volumes/claim.ts';
import { matchVolume } from '../../storage/volumes/match.ts';
import { matchesNode, type NodeTerms, topologyAllows } from '../../storage/volumes/topology.ts';
import { isVolumeBoundToClaim, type Volume } from '../../storage/volumes/volume.ts';
import { bySize } from '../../storage/volumes/volume-index.ts';
import type { CandidateVolumes } from './free-volumes.ts';
import { migratablePluginOf, translatedNodeTerms } from './csi-migration.ts';
import type { DelayedClaim } from './pod-claims.ts';

export interface VolumesSnapshot {
  volume(name: string): Volume | undefined;
  /** The PVs whose claimRef names the claim, whatever its uid. */
  volumesWithClaimRef(claimKey: string): Iterable<Volume>;
  candidatesFor(claim: Claim): CandidateVolumes;
  /** CSIDriver.spec.storageCapacity. */
  reportsCapacity(driver: string): boolean;
  hasEnoughCapacity(className: string, bytes: bigint, labels: Labels | undefined): boolean;
  /** The node's kubelet has migrated this in-tree plugin to its CSI driver. */
  isMigratedOn(plugin: string, nodeName: string): boolean;
}

/** The claims of a pod, with what does not depend on the node. */
export interface PodVolumeClaims {
  readonly bound: readonly BoundVolume[];
  /** By size: the smallest claim gets the smallest PV. */
  readonly delayed: readonly DelayedBinding[];
  readonly snapshot: VolumesSnapshot;
}

interface BoundVolume {
  readonly claim: Claim;
  /** Undefined: the PV does not exist. */
  readonly volume: Volume | undefined;
  /** The in-tree plugin, if only some nodes may have migrated it. */
  readonly plugin: string | undefined;
}

/** A claim with WaitForFirstConsumer, without a volume. */
interface DelayedBinding {
  readonly claim: Claim;
  readonly storageClass: StorageClass;
  /** Pre-bound PVs that match in all but topology. While there is one, no other PV is considered. */
  readonly reserved: readonly Volume[];
  readonly candidates: CandidateVolumes;
  /** Bytes to check against CSIStorageCapacity; undefined: not checked. */
  readonly capacity: bigint | undefined;
}

export interface CandidateNode {
  readonly name: string;
  readonly labels: Labels | undefined;
}

export type ConflictReason = 'nodeAffinity' | 'noVolume' | 'notEnoughSpace' | 'volumeMissing';

export type PodVolumesResult =
  | { readonly type: 'found'; readonly staticBindings: readonly BindingInfo[]; readonly dynamicProvisions: readonly Claim[] }
  | { readonly type: 'conflict'; readonly conflicts: readonly ConflictReason[] }
  | { readonly type: 'failed'; readonly message: string };

/** The PV is free, or pre-bound to the claim. */
export interface BindingInfo {
  readonly volume: Volume;
  readonly claim: Claim;
}

export function podVolumeClaims(
  claims: { readonly bound: readonly Claim[]; readonly delayed: readonly DelayedClaim[] },
  snapshot: VolumesSnapshot,
): PodVolumeClaims {
  return {
    snapshot,
    bound: claims.bound.map((claim) => {
      const volume = snapshot.volume(claim.volumeName);
      return { claim, volume, plugin: volume === undefined ? undefined : migratablePluginOf(volume) };
    }),
    delayed: claims.delayed
      .map(({ claim, storageClass }): DelayedBinding => {
        const reserved = [...snapshot.volumesWithClaimRef(claim.key)].filter((volume) => isReservedFor(volume, claim)).sort(bySize);
        return { claim, storageClass, reserved, candidates: snapshot.candidatesFor(claim), capacity: requiredCapacity(claim, storageClass, snapshot) };
      })
      .sort((a, b) => compareQuantities(a.claim.request, b.claim.request)),
  };
}

function isReservedFor(volume: Volume, claim: Claim): boolean {
  return isVolumeBoundToClaim(volume, claim) && volume.className === claim.className && matchVolume(claim, volume, { node: 'any' }) === 'fits';
}

function requiredCapacity({ object }: Claim, { provisioner }: StorageClass, snapshot: VolumesSnapshot): bigint | undefined {
  const request = storageAmount(object.spec.resources.requests);
  return request === undefined || !snapshot.reportsCapacity(provisioner) ? undefined : quantityValue(request);
}

/** A fast path that allocates nothing: the pod has one claim, and a PV matches it. */
export function fitsSingleClaim({ bound, delayed }: PodVolumeClaims, { labels }: CandidateNode): boolean {
  const [only] = delayed;
  if (bound.length > 0 || delayed.length !== 1 || only === undefined) return false;
  const { selectedNode, selector } = only.claim;
  return selectedNode === undefined && selector.type === 'valid' && volumeFor(only, labels, noneTaken) !== undefined;
}

export function findPodVolumes({ bound, delayed, snapshot }: PodVolumeClaims, node: CandidateNode): PodVolumesResult {
  const ofBound = checkBound(bound, node, snapshot);
  if (ofBound.type === 'failed') return ofBound;
  const found = delayed.length === 0 ? nothingToBind : findDelayed(delayed, node, snapshot);
  if (ofBound.type === 'found') return found;
  return found.type === 'conflict'
    ? { type: 'conflict', conflicts: inOrder([...ofBound.conflicts, ...found.conflicts]) }
    : found.type === 'found'
      ? ofBound
      : found;
}

const nothingToBind: PodVolumesResult = { type: 'found', staticBindings: [], dynamicProvisions: [] };

const order: readonly ConflictReason[] = ['nodeAffinity', 'noVolume', 'notEnoughSpace', 'volumeMissing'];
const inOrder = (conflicts: readonly ConflictReason[]): readonly ConflictReason[] => order.filter((each) => conflicts.includes(each));

const conflictOf = (conflict: ConflictReason): PodVolumesResult & { readonly type: 'conflict' } => ({ type: 'conflict', conflicts: [conflict] });
const conflicts = {
  nodeAffinity: conflictOf('nodeAffinity'),
  noVolume: conflictOf('noVolume'),
  notEnoughSpace: conflictOf('notEnoughSpace'),
  volumeMissing: conflictOf('volumeMissing'),
} satisfies Record<ConflictReason, PodVolumesResult>;

function checkBound(bound: readonly BoundVolume[], node: CandidateNode, snapshot: VolumesSnapshot): PodVolumesResult {
  for (const { volume, plugin } of bound) {
    if (volume === undefined) return conflicts.volumeMissing;
    const nodes = plugin === undefined ? volume.nodes : nodeTermsOn(volume, { plugin, node, snapshot });
    if (nodes === 'untranslatable') return { type: 'failed', message: untranslatable(volume) };
    if (nodes !== undefined && !matchesNode(nodes, { labels: node.labels })) return conflicts.nodeAffinity;
  }
  return nothingToBind;
}

/** The PV's node affinity; translated, if the node's kubelet has migrated the plugin. */
export function nodeTermsOn(
  volume: Volume,
  { plugin, node, snapshot }: { readonly plugin: string; readonly node: CandidateNode; readonly snapshot: Pick<VolumesSnapshot, 'isMigratedOn'> },
): NodeTerms | undefined | 'untranslatable' {
  return snapshot.isMigratedOn(plugin, node.name) ? translatedNodeTerms(volume) : volume.nodes;
}

export const untranslatable = ({ name }: Volume): string => `could not translate pv: volume "${name}" has no CSI translation`;

function findDelayed(delayed: readonly DelayedBinding[], node: CandidateNode, snapshot: VolumesSnapshot): PodVolumesResult {
  // Claims with a selected node come first.
  const toProvision = delayed.filter(({ claim }) => claim.selectedNode !== undefined);
  if (toProvision.some(({ claim }) => claim.selectedNode !== node.name)) return conflicts.noVolume;
  const staticBindings: BindingInfo[] = [];
  // A single claim has no competition.
  const taken = delayed.length === 1 ? undefined : new Set<string>();
  for (const each of delayed) {
    const { claim } = each;
    if (claim.selectedNode !== undefined) continue;
    if (claim.selector.type === 'invalid') {
      return { type: 'failed', message: `error creating internal label selector for claim: ${claim.key}: ${claim.selector.problem}` };
    }
    const volume = volumeFor(each, node.labels, taken ?? noneTaken);
    if (volume === undefined) toProvision.push(each);
    else {
      taken?.add(volume.name);
      staticBindings.push({ volume, claim });
    }
  }
  for (const each of toProvision) {
    const conflict = provisioningConflict(each, node.labels, snapshot);
    if (conflict !== undefined) return conflicts[conflict];
  }
  return { type: 'found', staticBindings, dynamicProvisions: toProvision.map(({ claim }) => claim) };
}

const noneTaken: ReadonlySet<string> = new Set();

function volumeFor({ reserved, candidates }: DelayedBinding, labels: Labels | undefined, taken: ReadonlySet<string>): Volume | undefined {
  if (reserved.length === 0) return candidates.smallest(labels, taken);
  return reserved.find(({ name, nodes }) => !taken.has(name) && (nodes === undefined || matchesNode(nodes, { labels })));
}

const noProvisioner = 'kubernetes.io/no-provisioner';

function provisioningConflict({ storageClass, capacity }: DelayedBinding, labels: Labels | undefined, snapshot: VolumesSnapshot): ConflictReason | undefined {
  const { provisioner, allowedTopologies } = storageClass;
  if (provisioner === '' || provisioner === noProvisioner || !topologyAllows(allowedTopologies, labels)) return 'noVolume';
  return capacity === undefined || snapshot.hasEnoughCapacity(storageClass.metadata.name ?? '', capacity, labels) ? undefined : 'notEnoughSpace';
}

const canBeProvisioned = ({ storageClass: { provisioner } }: DelayedBinding): boolean => provisioner !== '' && provisioner !== noProvisioner;

/** No other node can pass Filter. Undefined: any node may. */
export function likelyNodes(
  { bound, delayed }: PodVolumeClaims,
  nodesThatReach: (volume: Volume) => ReadonlySet<string> | undefined,
): ReadonlySet<string> | undefined {
  let best: ReadonlySet<string> | undefined;
  const narrow = (nodes: ReadonlySet<string> | undefined) => {
    if (nodes !== undefined && (best === undefined || nodes.size < best.size)) best = nodes;
  };
  for (const { volume, plugin } of bound) if (volume !== undefined && plugin === undefined) narrow(nodesThatReach(volume));
  for (const each of delayed) {
    const { claim, reserved, candidates } = each;
    if (claim.selectedNode !== undefined) narrow(new Set([claim.selectedNode]));
    else if (!canBeProvisioned(each))
      narrow(reserved.length === 0 ? candidates.nodes : reserved.length === 1 && reserved[0] !== undefined ? nodesThatReach(reserved[0]) : undefined);
  }
  return best;
}
