/**
 * Which volumes a pod would get on a node. Asked for thousands of nodes, so whatever does not depend on the node is found out
 * once, in `askFor`; what is free is looked for with the binder's own matching (`domain/volumes/match.ts`).
 */
import type { StorageClass } from '../../api/generated/types.ts';
import { compareQuantities, quantityValue } from '../../api/quantity.ts';
import type { Labels } from '../../domain/label-selector.ts';
import { storageAmount } from '../../domain/volumes/capacity.ts';
import type { Claim } from '../../domain/volumes/claim.ts';
import { matchVolume } from '../../domain/volumes/match.ts';
import { matchesNode, type NodeTerms, topologyAllows } from '../../domain/volumes/topology.ts';
import { pointsAt, type Volume } from '../../domain/volumes/volume.ts';
import { bySize } from '../../domain/volumes/volume-index.ts';
import type { Choice } from './free-volumes.ts';
import { migratedPlugin, translatedNodes } from './migrated.ts';
import type { DelayedClaim } from './pod-claims.ts';

/** What has to be known of volumes and drivers. */
export interface VolumesSeen {
  volume(name: string): Volume | undefined;
  /** The volumes whose claimRef names the claim, rightly or not. */
  pointingAt(claimKey: string): Iterable<Volume>;
  choiceFor(claim: Claim): Choice;
  /** The driver reports how much room it has, and wants to be asked only for what fits. */
  reportsCapacity(driver: string): boolean;
  hasRoom(className: string, bytes: bigint, labels: Labels | undefined): boolean;
  /** The node's kubelet leaves the volumes of this plugin to the driver that took over. */
  isHandedOver(plugin: string, nodeName: string): boolean;
}

/** What a pod asks of every node. */
export interface Ask {
  readonly bound: readonly BoundVolume[];
  /** In the order of their sizes: the smallest take the smallest. */
  readonly wanted: readonly Wanted[];
  readonly seen: VolumesSeen;
}

interface BoundVolume {
  readonly claim: Claim;
  /** Undefined: it does not exist. */
  readonly volume: Volume | undefined;
  /** What nodes may differ in. */
  readonly plugin: string | undefined;
}

/** A claim that gets its volume together with the node. */
interface Wanted {
  readonly claim: Claim;
  readonly storageClass: StorageClass;
  /** Reserved for it, and in all but the place what it asks for. Others are out of the question as long as there is one. */
  readonly reserved: readonly Volume[];
  readonly choice: Choice;
  /** Bytes that the driver must have room for; undefined: nobody counts. */
  readonly room: bigint | undefined;
}

export interface NodeAsked {
  readonly name: string;
  readonly labels: Labels | undefined;
}

/** Why not, each at most once. */
export type Conflict = 'nodeAffinity' | 'noVolume' | 'noRoom' | 'volumeMissing';

export type Finding =
  | { readonly type: 'found'; readonly bindings: readonly Binding[]; readonly provisions: readonly Claim[] }
  | { readonly type: 'conflict'; readonly conflicts: readonly Conflict[] }
  | { readonly type: 'failed'; readonly message: string };

/** A volume that is free, or reserved for the claim. */
export interface Binding {
  readonly volume: Volume;
  readonly claim: Claim;
}

export function askFor(claims: { readonly bound: readonly Claim[]; readonly delayed: readonly DelayedClaim[] }, seen: VolumesSeen): Ask {
  return {
    seen,
    bound: claims.bound.map((claim) => {
      const volume = seen.volume(claim.volumeName);
      return { claim, volume, plugin: volume === undefined ? undefined : migratedPlugin(volume) };
    }),
    wanted: claims.delayed
      .map(({ claim, storageClass }): Wanted => {
        const reserved = [...seen.pointingAt(claim.key)].filter((volume) => isReservedFor(volume, claim)).sort(bySize);
        return { claim, storageClass, reserved, choice: seen.choiceFor(claim), room: roomFor(claim, storageClass, seen) };
      })
      .sort((a, b) => compareQuantities(a.claim.request, b.claim.request)),
  };
}

function isReservedFor(volume: Volume, claim: Claim): boolean {
  return pointsAt(volume, claim) && volume.className === claim.className && matchVolume(claim, volume, { node: 'any' }) === 'fits';
}

function roomFor({ object }: Claim, { provisioner }: StorageClass, seen: VolumesSeen): bigint | undefined {
  const asked = storageAmount(object.spec.resources.requests);
  return asked === undefined || !seen.reportsCapacity(provisioner) ? undefined : quantityValue(asked);
}

/** The usual case, in which nothing has to be put together: one claim, and a volume for it. */
export function isServed({ bound, wanted }: Ask, { labels }: NodeAsked): boolean {
  const [only] = wanted;
  if (bound.length > 0 || wanted.length !== 1 || only === undefined) return false;
  const { selectedNode, selector } = only.claim;
  return selectedNode === undefined && selector.type === 'valid' && volumeFor(only, labels, noneTaken) !== undefined;
}

export function findVolumes({ bound, wanted, seen }: Ask, node: NodeAsked): Finding {
  const ofBound = checkBound(bound, node, seen);
  if (ofBound.type === 'failed') return ofBound;
  const found = wanted.length === 0 ? nothingWanted : findWanted(wanted, node, seen);
  if (ofBound.type === 'found') return found;
  return found.type === 'conflict'
    ? { type: 'conflict', conflicts: inOrder([...ofBound.conflicts, ...found.conflicts]) }
    : found.type === 'found'
      ? ofBound
      : found;
}

const nothingWanted: Finding = { type: 'found', bindings: [], provisions: [] };

const order: readonly Conflict[] = ['nodeAffinity', 'noVolume', 'noRoom', 'volumeMissing'];
const inOrder = (conflicts: readonly Conflict[]): readonly Conflict[] => order.filter((each) => conflicts.includes(each));

const conflictOf = (conflict: Conflict): Finding & { readonly type: 'conflict' } => ({ type: 'conflict', conflicts: [conflict] });
const conflicts = {
  nodeAffinity: conflictOf('nodeAffinity'),
  noVolume: conflictOf('noVolume'),
  noRoom: conflictOf('noRoom'),
  volumeMissing: conflictOf('volumeMissing'),
} satisfies Record<Conflict, Finding>;

function checkBound(bound: readonly BoundVolume[], node: NodeAsked, seen: VolumesSeen): Finding {
  for (const { volume, plugin } of bound) {
    if (volume === undefined) return conflicts.volumeMissing;
    const nodes = plugin === undefined ? volume.nodes : nodesOn(volume, { plugin, node, seen });
    if (nodes === 'untranslatable') return { type: 'failed', message: untranslatable(volume) };
    if (nodes !== undefined && !matchesNode(nodes, { labels: node.labels })) return conflicts.nodeAffinity;
  }
  return nothingWanted;
}

/** Which nodes reach the volume, as seen from one whose kubelet may have handed it over. */
export function nodesOn(
  volume: Volume,
  { plugin, node, seen }: { readonly plugin: string; readonly node: NodeAsked; readonly seen: Pick<VolumesSeen, 'isHandedOver'> },
): NodeTerms | undefined | 'untranslatable' {
  return seen.isHandedOver(plugin, node.name) ? translatedNodes(volume) : volume.nodes;
}

export const untranslatable = ({ name }: Volume): string => `could not translate pv: volume "${name}" names nothing that its driver could know`;

function findWanted(wanted: readonly Wanted[], node: NodeAsked, seen: VolumesSeen): Finding {
  // Those for which a node was chosen already come first.
  const toMake = wanted.filter(({ claim }) => claim.selectedNode !== undefined);
  if (toMake.some(({ claim }) => claim.selectedNode !== node.name)) return conflicts.noVolume;
  const bindings: Binding[] = [];
  // A single claim takes nothing from another.
  const taken = wanted.length === 1 ? undefined : new Set<string>();
  for (const each of wanted) {
    const { claim } = each;
    if (claim.selectedNode !== undefined) continue;
    if (claim.selector.type === 'invalid') {
      return { type: 'failed', message: `error creating internal label selector for claim: ${claim.key}: ${claim.selector.problem}` };
    }
    const volume = volumeFor(each, node.labels, taken ?? noneTaken);
    if (volume === undefined) toMake.push(each);
    else {
      taken?.add(volume.name);
      bindings.push({ volume, claim });
    }
  }
  for (const each of toMake) {
    const conflict = whyNotProvisioned(each, node.labels, seen);
    if (conflict !== undefined) return conflicts[conflict];
  }
  return { type: 'found', bindings, provisions: toMake.map(({ claim }) => claim) };
}

const noneTaken: ReadonlySet<string> = new Set();

function volumeFor({ reserved, choice }: Wanted, labels: Labels | undefined, taken: ReadonlySet<string>): Volume | undefined {
  if (reserved.length === 0) return choice.smallest(labels, taken);
  return reserved.find(({ name, nodes }) => !taken.has(name) && (nodes === undefined || matchesNode(nodes, { labels })));
}

const noProvisioner = 'kubernetes.io/no-provisioner';

function whyNotProvisioned({ storageClass, room }: Wanted, labels: Labels | undefined, seen: VolumesSeen): Conflict | undefined {
  const { provisioner, allowedTopologies } = storageClass;
  if (provisioner === '' || provisioner === noProvisioner || !topologyAllows(allowedTopologies, labels)) return 'noVolume';
  return room === undefined || seen.hasRoom(storageClass.metadata.name ?? '', room, labels) ? undefined : 'noRoom';
}

/** Whether a volume could be made for the claim, somewhere. */
const canBeMade = ({ storageClass: { provisioner } }: Wanted): boolean => provisioner !== '' && provisioner !== noProvisioner;

/** No node but these will do, as far as that can be said without asking them. Undefined: any may. */
export function likelyNodes({ bound, wanted }: Ask, nodesAt: (volume: Volume) => ReadonlySet<string> | undefined): ReadonlySet<string> | undefined {
  let best: ReadonlySet<string> | undefined;
  const narrow = (nodes: ReadonlySet<string> | undefined) => {
    if (nodes !== undefined && (best === undefined || nodes.size < best.size)) best = nodes;
  };
  for (const { volume, plugin } of bound) if (volume !== undefined && plugin === undefined) narrow(nodesAt(volume));
  for (const each of wanted) {
    const { claim, reserved, choice } = each;
    if (claim.selectedNode !== undefined) narrow(new Set([claim.selectedNode]));
    else if (!canBeMade(each))
      narrow(reserved.length === 0 ? choice.nodes : reserved.length === 1 && reserved[0] !== undefined ? nodesAt(reserved[0]) : undefined);
  }
  return best;
}
