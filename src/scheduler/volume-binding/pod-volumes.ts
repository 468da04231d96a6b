/**
 * The volumes that a pod gets on its node (volumebinding's PodVolumes): assumed in memory by Reserve, written and awaited by PreBind.
 * `checkBindings` reads the progress from the objects alone, so it may be called any number of times.
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

/** `assumed`: the PV to write. Undefined: the claimRef is set already, or another pod with the same claim sets it. */
export interface StaticBinding {
  readonly volumeName: string;
  readonly claim: ClaimIdentity;
  readonly assumed: PersistentVolume | undefined;
}

/** A PV is provisioned for the claim, for this node. */
export interface DynamicProvision {
  readonly claim: ClaimIdentity;
  readonly assumed: PersistentVolumeClaim | undefined;
}

type Found = Extract<PodVolumesResult, { type: 'found' }>;

/** Assumes all of the volumes, or none. */
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

/** Reverts what is still assumed. Returns the keys of the reverted objects, for the pods that wait for them. */
export function revertAssumedPodVolumes({ staticBindings: bindings, dynamicProvisions: provisions }: PodVolumes, book: VolumeAssumeCache): readonly string[] {
  return [
    ...bindings.flatMap(({ volumeName, assumed }) => (assumed !== undefined && book.restoreVolume(assumed) ? [`pv/${volumeName}`] : [])),
    ...provisions.flatMap(({ claim, assumed }) => (assumed !== undefined && book.restoreClaim(assumed) ? [`pvc/${claim.key}`] : [])),
  ];
}

/** The objects whose changes affect the binding. */
export function waiterKeysOf({ nodeName, staticBindings: bindings, dynamicProvisions: provisions }: PodVolumes): readonly string[] {
  const claims = [...bindings, ...provisions].map(({ claim }) => `pvc/${claim.key}`);
  return [`node/${nodeName}`, ...claims, ...bindings.map(({ volumeName }) => `pv/${volumeName}`)];
}

/** `failed`: Kubernetes' message. */
export type BindingProgress = 'bound' | 'waiting' | { readonly failed: string };

export interface BindingCheckSnapshot {
  readonly assumeCache: VolumeAssumeCache;
  readonly nodeLabels: NodeLabelIndex;
  isMigratedOn(plugin: string, nodeName: string): boolean;
  /** The resourceVersions of this pod's own writes, by waiter key: older objects are ignored. */
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
    // Another pod with the same claim is about to bind it.
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
    // Another pod with the same claim is about to set the selected node.
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
