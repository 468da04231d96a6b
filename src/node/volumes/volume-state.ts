import type { Node, PersistentVolume, Pod, VolumeAttachment } from '../../api/generated/types.ts';
import { csiSourceOf, type CsiSource } from '../../api/volumes/csi-translation.ts';
import { uniqueNameOf } from '../../storage/volumes/attachable.ts';
import { matchesNode, nodeTermsOf } from '../../storage/volumes/topology.ts';
import { type ClaimLookup, claimedVolume } from './claimed-volume.ts';
import { type ConfigLookup, configOfVolume, missingConfig } from './config-references.ts';
import type { VolumeUse } from './used-volumes.ts';

/** What a node knows when it is to mount a volume. */
export interface VolumeSnapshot extends ClaimLookup, ConfigLookup {
  readonly node: Node | undefined;
  /** Whether volumes of the driver have to be attached. */
  attachRequired(driver: string): boolean;
  hasDriver(driver: string): boolean;
  /** The name that the volume's attachment to the node has, or would have; and the attachment, if it exists. */
  attachment(source: CsiSource): { readonly name: string; readonly object: VolumeAttachment | undefined };
  /** The node calls the volume in use, and will go on doing so. */
  mayMount(uniqueName: string): boolean;
  /** Another pod of the node has the claim's volume mounted. 'namespace/name' */
  isMountedByOtherPod(claim: string): boolean;
}

/** How things stand with a volume that a pod of the node wants. `name`: as the pod calls it. */
export type VolumeState =
  /** It can be mounted. `attached`: what had to be attached for it, as node statuses call it. */
  | { readonly state: 'ready'; readonly name: string; readonly attached?: string }
  /** Its claim is not in order. */
  | { readonly state: 'unclaimed'; readonly name: string; readonly error: string }
  /** The control plane has to attach it first. */
  | { readonly state: 'unattached'; readonly name: string }
  /** Mounting it fails. */
  | { readonly state: 'failing'; readonly name: string; readonly reason: 'FailedMount' | 'FailedMapVolume'; readonly message: string };

export function volumeStateOf(pod: Pod, use: VolumeUse, around: VolumeSnapshot): VolumeState {
  const { name } = use.volume;
  const claimed = claimedVolume(pod, use, around);
  if (claimed === undefined) return inlineVolumeState(pod, use, around);
  if (claimed.type === 'error') return { state: 'unclaimed', name, error: claimed.error };
  const { volume, claim } = claimed;
  const words = mountTerms(use.asDevice);
  const fails = (what: string, why: string): VolumeState => ({
    state: 'failing',
    name,
    reason: words.reason,
    message: failed(`${words.verb}.${what}`, volume.metadata.name ?? '', why),
  });

  const source = csiSourceOf(volume);
  const attached = source !== undefined && around.attachRequired(source.driver) ? uniqueNameOf(source) : undefined;
  if (attached !== undefined && !isAttached(attached, around)) return { state: 'unattached', name };
  if (!isReachable(volume, around.node)) return fails('NodeAffinity check', 'no matching NodeSelectorTerms');
  const claimKey = `${claim.metadata.namespace ?? ''}/${claim.metadata.name ?? ''}`;
  if (isForOnePod(volume) && around.isMountedByOtherPod(claimKey)) return fails(words.setUp, onePodOnly);
  const wrong = source === undefined || attached === undefined ? undefined : wrongAttachment(source, around);
  if (wrong !== undefined) return fails('WaitForAttach', wrong);
  if (source !== undefined && !around.hasDriver(source.driver)) return fails(words.stage, noDriver(words.call, source.driver));
  return { state: 'ready', name, ...(attached === undefined ? {} : { attached }) };
}

/** A volume that is described in the pod itself. */
function inlineVolumeState(pod: Pod, { volume }: VolumeUse, around: VolumeSnapshot): VolumeState {
  const { name, csi } = volume;
  const { namespace = '' } = pod.metadata;
  const missing = configOfVolume(volume).flatMap((wanted) => missingConfig(wanted, namespace, around) ?? []);
  const problems = csi === undefined || around.hasDriver(csi.driver) ? missing : [noDriver('mounter.SetUpAt failed to get CSI client', csi.driver)];
  if (problems.length === 0) return { state: 'ready', name };
  return { state: 'failing', name, reason: 'FailedMount', message: failed('MountVolume.SetUp', name, aggregate(problems)) };
}

function isAttached(uniqueName: string, around: VolumeSnapshot): boolean {
  const { volumesInUse, volumesAttached } = around.node?.status ?? {};
  const isKnown = volumesInUse?.includes(uniqueName) === true && volumesAttached?.some(({ name }) => name === uniqueName) === true;
  return isKnown && around.mayMount(uniqueName);
}

function isReachable({ spec }: PersistentVolume, node: Node | undefined): boolean {
  const required = spec.nodeAffinity?.required;
  return required === undefined || matchesNode(nodeTermsOf(required), { labels: node?.metadata.labels });
}

/** Whoever has it has it alone. */
export const isForOnePod = ({ spec: { accessModes = [] } }: PersistentVolume): boolean => accessModes.length === 1 && accessModes[0] === 'ReadWriteOncePod';

function wrongAttachment(source: CsiSource, around: VolumeSnapshot): string | undefined {
  const { name, object } = around.attachment(source);
  if (object === undefined) {
    return `volume ${source.handle} has GET error for volume attachment ${name}: volumeattachments.storage.k8s.io ${JSON.stringify(name)} not found`;
  }
  if (object.metadata.deletionTimestamp !== undefined) return 'volume attachment is being deleted';
  if (object.status.attached) return undefined;
  return object.status.attachError?.message ?? `volume ${source.handle} is not attached for volume attachment ${name}`;
}

export const onePodOnly = 'volume uses the ReadWriteOncePod access mode and is already in use by another pod';

/** 'MountVolume.SetUp failed for volume "data" : …' */
export const failed = (what: string, volume: string, why: string): string => `${what} failed for volume ${JSON.stringify(volume)} : ${why}`;

const noDriver = (call: string, driver: string): string => `kubernetes.io/csi: ${call}: driver name ${driver} not found in the list of registered CSI drivers`;

/** Kubelets have other words for a device than for files. */
export const mountTerms = (asDevice: boolean) => (asDevice ? deviceWords : fileWords);

const fileWords = {
  reason: 'FailedMount',
  verb: 'MountVolume',
  setUp: 'SetUp',
  stage: 'MountDevice',
  grow: 'Setup failed while expanding volume',
  call: 'attacher.MountDevice failed to create newCsiDriverClient',
} as const;
const deviceWords = {
  reason: 'FailedMapVolume',
  verb: 'MapVolume',
  setUp: 'SetUpDevice',
  stage: 'SetUpDevice',
  grow: 'MarkVolumeAsMounted failed while expanding volume',
  call: 'blockMapper.SetUpDevice failed to get CSI client',
} as const;

/** As Go prints a list of errors. */
const aggregate = (problems: readonly string[]): string => {
  const distinct = [...new Set(problems)];
  return distinct.length === 1 ? (distinct[0] ?? '') : `[${distinct.join(', ')}]`;
};
