/**
 * What a pod that has its node is about to take: in memory first, so that the pods behind it look elsewhere, and on the server
 * while it waits to be bound. How far that has come is told from the objects alone, so whoever waits may ask again and again.
 */
import type { PersistentVolume, PersistentVolumeClaim } from '../../api/generated/types.ts';
import { isNewer } from '../../client/revision.ts';
import { annotations } from '../../api/volumes/annotations.ts';
import type { Claim } from '../../storage/volumes/claim.ts';
import { linkVolume, withAnnotations } from '../../storage/volumes/edits.ts';
import { matchesNode } from '../../storage/volumes/topology.ts';
import type { Volume } from '../../storage/volumes/volume.ts';
import { type PodVolumesResult, nodeTermsOn, untranslatable } from './find-pod-volumes.ts';
import { migratablePluginOf } from './csi-migration.ts';
import type { NodeLabelIndex } from './node-label-index.ts';
import { isBound } from './pod-claims.ts';
import type { VolumeAssumeCache } from './assume-cache.ts';

export interface PodVolumes {
  readonly nodeName: string;
  readonly staticBindings: readonly StaticBinding[];
  readonly dynamicProvisions: readonly DynamicProvision[];
}

interface ClaimIdentity {
  readonly key: string;
  readonly name: string;
  readonly uid: string;
}

/** `assumed`: as it shall be. Undefined: it is so already, or another pod of the same claim sees to it. */
export interface StaticBinding {
  readonly volumeName: string;
  readonly claim: ClaimIdentity;
  readonly assumed: PersistentVolume | undefined;
}

/** A volume is made for the claim, on this node. */
export interface DynamicProvision {
  readonly claim: ClaimIdentity;
  readonly assumed: PersistentVolumeClaim | undefined;
}

type Found = Extract<PodVolumesResult, { type: 'found' }>;

/** Assumes everything, or nothing: then it is said why. */
export function assumePodVolumes(found: Found, nodeName: string, book: VolumeAssumeCache): { readonly plan: PodVolumes } | { readonly failed: string } {
  const bindings: StaticBinding[] = [];
  const provisions: DynamicProvision[] = [];
  const plan = { nodeName, staticBindings: bindings, dynamicProvisions: provisions };
  for (const { volume, claim } of found.bindings) {
    const linked = linkVolume(volume, claim);
    const assumed = linked === volume.object ? undefined : linked;
    if (assumed !== undefined && book.assumeVolume(assumed) === 'outdated') {
      revertAssumedPodVolumes(plan, book);
      return { failed: outOfSync(volume.name, assumed, book.apiVolume(volume.name)) };
    }
    bindings.push({ volumeName: volume.name, claim: identityOf(claim), assumed });
  }
  for (const claim of found.provisions) {
    const assumed = claim.selectedNode === nodeName ? undefined : withSelectedNode(claim, nodeName);
    if (assumed !== undefined && book.assumeClaim(assumed) === 'outdated') {
      revertAssumedPodVolumes(plan, book);
      return { failed: outOfSync(claim.key, assumed, book.apiClaim(claim.key)) };
    }
    provisions.push({ claim: identityOf(claim), assumed });
  }
  return { plan };
}

export const withSelectedNode = ({ object }: Claim, nodeName: string): PersistentVolumeClaim =>
  withAnnotations(object, { [annotations.selectedNode]: nodeName });

const identityOf = ({ key, name, uid }: Claim): ClaimIdentity => ({ key, name, uid });

type Revised = { readonly metadata: { readonly resourceVersion?: string } };

function outOfSync(key: string, assumed: Revised, seen: { readonly object: Revised } | undefined): string {
  return `"${key}" is out of sync (stored: ${seen?.object.metadata.resourceVersion ?? ''}, assume: ${assumed.metadata.resourceVersion ?? ''})`;
}

/** Takes back what is still assumed; the bells to ring, for whoever relied on it. */
export function revertAssumedPodVolumes({ staticBindings: bindings, dynamicProvisions: provisions }: PodVolumes, book: VolumeAssumeCache): readonly string[] {
  return [
    ...bindings.flatMap(({ volumeName, assumed }) => (assumed !== undefined && book.restoreVolume(assumed) ? [`pv/${volumeName}`] : [])),
    ...provisions.flatMap(({ claim, assumed }) => (assumed !== undefined && book.restoreClaim(assumed) ? [`pvc/${claim.key}`] : [])),
  ];
}

/** The bells that ring when anything happens that the plan depends on. */
export function waiterKeysOf({ nodeName, staticBindings: bindings, dynamicProvisions: provisions }: PodVolumes): readonly string[] {
  const claims = [...bindings, ...provisions].map(({ claim }) => `pvc/${claim.key}`);
  return [`node/${nodeName}`, ...claims, ...bindings.map(({ volumeName }) => `pv/${volumeName}`)];
}

/** How far a plan has come: as Kubernetes says it, in its order. */
export type BindingProgress = 'bound' | 'waiting' | { readonly failed: string };

export interface BindingCheckSnapshot {
  readonly assumeCache: VolumeAssumeCache;
  readonly nodeLabels: NodeLabelIndex;
  isMigratedOn(plugin: string, nodeName: string): boolean;
  /** The revisions that this pod's own writes gave the objects, by bell: what is older is no news. */
  readonly written: ReadonlyMap<string, string>;
}

export function checkBindings(plan: PodVolumes, sight: BindingCheckSnapshot): BindingProgress {
  const labels = sight.nodeLabels.labelsOf(plan.nodeName);
  if (labels === undefined) return { failed: `failed to get node "${plan.nodeName}": node "${plan.nodeName}" not found` };
  const node = { name: plan.nodeName, labels };
  for (const binding of plan.staticBindings) {
    const progress = checkStaticBinding(binding, node, sight);
    if (progress !== 'bound') return progress;
  }
  for (const provision of plan.dynamicProvisions) {
    const progress = checkProvision(provision, node, sight);
    if (progress !== 'bound') return progress;
  }
  return 'bound';
}

interface SelectedNode {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

function checkStaticBinding({ volumeName, claim: { key, uid, name } }: StaticBinding, node: SelectedNode, sight: BindingCheckSnapshot): BindingProgress {
  const { assumeCache: book } = sight;
  const volume = book.apiVolume(volumeName);
  if (volume === undefined) return { failed: `failed to check binding: persistentvolumes "${volumeName}" not found` };
  const claim = book.apiClaim(key);
  if (claim?.uid !== uid) return { failed: `failed to check binding: persistentvolumeclaims "${key}" not found` };
  if (isOlder(volume, sight.written.get(`pv/${volumeName}`)) || isOlder(claim, sight.written.get(`pvc/${key}`))) return 'waiting';
  const unreachable = whyUnreachable(volume, node, sight);
  if (unreachable !== undefined) return { failed: unreachable };
  if (volume.claim?.uid !== uid) {
    // Another pod of the same claim is about to bind it.
    return book.isAssumedVolume(volumeName) && book.volume(volumeName)?.claim?.uid === uid
      ? 'waiting'
      : { failed: `ClaimRef got reset for pv "${volumeName}"` };
  }
  if (claim.volumeName !== '' && claim.volumeName !== volumeName) return { failed: `PVC "${name}" got another volume, "${claim.volumeName}"` };
  return isBound(claim) ? 'bound' : 'waiting';
}

function checkProvision({ claim: { key, uid, name } }: DynamicProvision, node: SelectedNode, sight: BindingCheckSnapshot): BindingProgress {
  const { assumeCache: book } = sight;
  const claim = book.apiClaim(key);
  if (claim?.uid !== uid) return { failed: `failed to check provisioning pvc: persistentvolumeclaims "${key}" not found` };
  if (isOlder(claim, sight.written.get(`pvc/${key}`))) return 'waiting';
  if (claim.selectedNode !== node.name) {
    // Another pod of the same claim is about to note the node.
    if (book.isAssumedClaim(key) && book.claim(key)?.selectedNode === node.name) return 'waiting';
    const isBare = claim.object.metadata.annotations === undefined;
    return { failed: isBare ? `selectedNode annotation reset for PVC "${name}"` : `provisioning failed for PVC "${name}"` };
  }
  if (claim.volumeName === '') return 'waiting';
  const volume = book.apiVolume(claim.volumeName);
  if (volume === undefined) return 'waiting';
  const unreachable = whyUnreachable(volume, node, sight);
  if (unreachable !== undefined) return { failed: unreachable };
  return isBound(claim) ? 'bound' : 'waiting';
}

const isOlder = ({ object }: Volume | Claim, revision: string | undefined): boolean =>
  revision !== undefined && isNewer(revision, object.metadata.resourceVersion ?? '0');

function whyUnreachable(volume: Volume, node: SelectedNode, sight: BindingCheckSnapshot): string | undefined {
  const plugin = migratablePluginOf(volume);
  const nodes = plugin === undefined ? volume.nodes : nodeTermsOn(volume, { plugin, node, seen: sight });
  if (nodes === 'untranslatable') return `failed to translate pv to csi: ${untranslatable(volume)}`;
  if (nodes === undefined || matchesNode(nodes, { labels: node.labels })) return undefined;
  return `pv "${volume.name}" node affinity doesn't match node "${node.name}": no matching NodeSelectorTerms`;
}
