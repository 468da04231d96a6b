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
import { nodeTermsOn, type PodVolumesResult, untranslatable } from './find-pod-volumes.ts';
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
export function assumePodVolumes(
  found: Found,
  nodeName: string,
  assumeCache: VolumeAssumeCache,
): { readonly volumes: PodVolumes } | { readonly failed: string } {
  const staticBindings: StaticBinding[] = [];
  const dynamicProvisions: DynamicProvision[] = [];
  const volumes = { nodeName, staticBindings, dynamicProvisions };
  for (const { volume, claim } of found.staticBindings) {
    const linked = linkVolume(volume, claim);
    const assumed = linked === volume.object ? undefined : linked;
    if (assumed !== undefined && assumeCache.assumeVolume(assumed) === 'outdated') {
      revertAssumedPodVolumes(volumes, assumeCache);
      return { failed: outOfSync(volume.name, assumed, assumeCache.apiVolume(volume.name)) };
    }
    staticBindings.push({ volumeName: volume.name, claim: identityOf(claim), assumed });
  }
  for (const claim of found.dynamicProvisions) {
    const assumed = claim.selectedNode === nodeName ? undefined : withSelectedNode(claim, nodeName);
    if (assumed !== undefined && assumeCache.assumeClaim(assumed) === 'outdated') {
      revertAssumedPodVolumes(volumes, assumeCache);
      return { failed: outOfSync(claim.key, assumed, assumeCache.apiClaim(claim.key)) };
    }
    dynamicProvisions.push({ claim: identityOf(claim), assumed });
  }
  return { volumes };
}

export const withSelectedNode = ({ object }: Claim, nodeName: string): PersistentVolumeClaim =>
  withAnnotations(object, { [annotations.selectedNode]: nodeName });

const identityOf = ({ key, name, uid }: Claim): ClaimIdentity => ({ key, name, uid });

type Revised = { readonly metadata: { readonly resourceVersion?: string } };

function outOfSync(key: string, assumed: Revised, api: { readonly object: Revised } | undefined): string {
  return `"${key}" is out of sync (stored: ${api?.object.metadata.resourceVersion ?? ''}, assume: ${assumed.metadata.resourceVersion ?? ''})`;
}

/** Reverts what is still assumed. Returns the keys of the reverted objects, for the pods that wait for them. */
export function revertAssumedPodVolumes({ staticBindings, dynamicProvisions }: PodVolumes, assumeCache: VolumeAssumeCache): readonly string[] {
  return [
    ...staticBindings.flatMap(({ volumeName, assumed }) => (assumed !== undefined && assumeCache.restoreVolume(assumed) ? [`pv/${volumeName}`] : [])),
    ...dynamicProvisions.flatMap(({ claim, assumed }) => (assumed !== undefined && assumeCache.restoreClaim(assumed) ? [`pvc/${claim.key}`] : [])),
  ];
}

/** The objects whose changes affect the binding. */
export function waiterKeysOf({ nodeName, staticBindings, dynamicProvisions }: PodVolumes): readonly string[] {
  const claims = [...staticBindings, ...dynamicProvisions].map(({ claim }) => `pvc/${claim.key}`);
  return [`node/${nodeName}`, ...claims, ...staticBindings.map(({ volumeName }) => `pv/${volumeName}`)];
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

export function checkBindings(volumes: PodVolumes, snapshot: BindingCheckSnapshot): BindingProgress {
  const labels = snapshot.nodeLabels.labelsOf(volumes.nodeName);
  if (labels === undefined) return { failed: `failed to get node "${volumes.nodeName}": node "${volumes.nodeName}" not found` };
  const node = { name: volumes.nodeName, labels };
  for (const binding of volumes.staticBindings) {
    const progress = checkStaticBinding(binding, node, snapshot);
    if (progress !== 'bound') return progress;
  }
  for (const provision of volumes.dynamicProvisions) {
    const progress = checkProvision(provision, node, snapshot);
    if (progress !== 'bound') return progress;
  }
  return 'bound';
}

interface SelectedNode {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

function checkStaticBinding({ volumeName, claim: { key, uid, name } }: StaticBinding, node: SelectedNode, snapshot: BindingCheckSnapshot): BindingProgress {
  const { assumeCache } = snapshot;
  const volume = assumeCache.apiVolume(volumeName);
  if (volume === undefined) return { failed: `failed to check binding: persistentvolumes "${volumeName}" not found` };
  const claim = assumeCache.apiClaim(key);
  if (claim?.uid !== uid) return { failed: `failed to check binding: persistentvolumeclaims "${key}" not found` };
  if (isOlder(volume, snapshot.written.get(`pv/${volumeName}`)) || isOlder(claim, snapshot.written.get(`pvc/${key}`))) return 'waiting';
  const unreachable = whyUnreachable(volume, node, snapshot);
  if (unreachable !== undefined) return { failed: unreachable };
  if (volume.claim?.uid !== uid) {
    // Another pod with the same claim is about to bind it.
    return assumeCache.isAssumedVolume(volumeName) && assumeCache.volume(volumeName)?.claim?.uid === uid
      ? 'waiting'
      : { failed: `ClaimRef got reset for pv "${volumeName}"` };
  }
  if (claim.volumeName !== '' && claim.volumeName !== volumeName) return { failed: `PVC "${name}" got another volume, "${claim.volumeName}"` };
  return isBound(claim) ? 'bound' : 'waiting';
}

function checkProvision({ claim: { key, uid, name } }: DynamicProvision, node: SelectedNode, snapshot: BindingCheckSnapshot): BindingProgress {
  const { assumeCache } = snapshot;
  const claim = assumeCache.apiClaim(key);
  if (claim?.uid !== uid) return { failed: `failed to check provisioning pvc: persistentvolumeclaims "${key}" not found` };
  if (isOlder(claim, snapshot.written.get(`pvc/${key}`))) return 'waiting';
  if (claim.selectedNode !== node.name) {
    // Another pod with the same claim is about to set the selected node.
    if (assumeCache.isAssumedClaim(key) && assumeCache.claim(key)?.selectedNode === node.name) return 'waiting';
    const isBare = claim.object.metadata.annotations === undefined;
    return { failed: isBare ? `selectedNode annotation reset for PVC "${name}"` : `provisioning failed for PVC "${name}"` };
  }
  if (claim.volumeName === '') return 'waiting';
  const volume = assumeCache.apiVolume(claim.volumeName);
  if (volume === undefined) return 'waiting';
  const unreachable = whyUnreachable(volume, node, snapshot);
  if (unreachable !== undefined) return { failed: unreachable };
  return isBound(claim) ? 'bound' : 'waiting';
}

const isOlder = ({ object }: Volume | Claim, revision: string | undefined): boolean =>
  revision !== undefined && isNewer(revision, object.metadata.resourceVersion ?? '0');

function whyUnreachable(volume: Volume, node: SelectedNode, snapshot: BindingCheckSnapshot): string | undefined {
  const plugin = migratablePluginOf(volume);
  const nodes = plugin === undefined ? volume.nodes : nodeTermsOn(volume, { plugin, node, snapshot });
  if (nodes === 'untranslatable') return `failed to translate pv to csi: ${untranslatable(volume)}`;
  if (nodes === undefined || matchesNode(nodes, { labels: node.labels })) return undefined;
  return `pv "${volume.name}" node affinity doesn't match node "${node.name}": no matching NodeSelectorTerms`;
}
