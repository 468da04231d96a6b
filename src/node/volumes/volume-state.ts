import type { Node, PersistentVolume, Pod, VolumeAttachment } from '../../api/generated/types.ts';
import { csiDriverOf } from '../../api/volumes/csi-migration.ts';
import { csiSourceOf, type CsiSource, migratedPluginOf } from '../../api/volumes/csi-translation.ts';
import { uniqueNameOf } from '../../storage/volumes/attachable.ts';
import { matchesNode, nodeTermsOf } from '../../storage/volumes/topology.ts';
import { isExhausted } from './attach-limit.ts';
import { type ClaimLookup, claimedVolume } from './claimed-volume.ts';
import { type ConfigLookup, configOfVolume, missingConfig } from './config-references.ts';
import type { VolumeUse } from './used-volumes.ts';
import { missingPlugin } from './volume-plugins.ts';

/** What the state of a volume on a node depends on. */
export interface VolumeSnapshot extends ClaimLookup, ConfigLookup {
  readonly node: Node | undefined;
  /** Whether volumes of the driver have to be attached. */
  attachRequired(driver: string): boolean;
  hasDriver(driver: string): boolean;
  /** The limit of attached volumes of the driver changes (`nodeAllocatableUpdatePeriodSeconds`). */
  hasChangingLimit(driver: string): boolean;
  /** The name of the volume's VolumeAttachment for the node, and the object, if it exists. */
  attachment(source: CsiSource): { readonly name: string; readonly object: VolumeAttachment | undefined };
  /** The node lists the volume in volumesInUse, and will continue to. */
  mayMount(uniqueName: string): boolean;
  /** Another pod of the node has the claim's volume mounted. 'namespace/name' */
  isMountedByOtherPod(claim: string): boolean;
}

/** The state of a volume that a pod of the node uses. `name`: the volume's name in the pod. */
export type VolumeState =
  /** It can be mounted. `attached`: the attached volume, as node statuses name it. */
  | { readonly state: 'ready'; readonly name: string; readonly attached?: string }
  /** Its claim cannot be used. */
  | { readonly state: 'unclaimed'; readonly name: string; readonly error: string }
  /** The control plane has to attach it first. `exhausted`: the node has no room for it, which the scheduler could not know. */
  | { readonly state: 'unattached'; readonly name: string; readonly exhausted?: true }
  /** Mounting it fails. */
  | { readonly state: 'failing'; readonly name: string; readonly reason: 'FailedMount' | 'FailedMapVolume'; readonly message: string };

export function volumeStateOf(pod: Pod, use: VolumeUse, snapshot: VolumeSnapshot): VolumeState {
  const { name } = use.volume;
  const claimed = claimedVolume(pod, use, snapshot);
  if (claimed === undefined) return inlineVolumeState(pod, use, snapshot);
  if (claimed.type === 'error') return { state: 'unclaimed', name, error: claimed.error };
  const { volume, claim } = claimed;
  const terms = mountTerms(use.asDevice);
  const fails = (what: string, why: string): VolumeState => ({
    state: 'failing',
    name,
    reason: terms.reason,
    message: failed(`${terms.verb}.${what}`, volume.metadata.name ?? '', why),
  });

  const missing = missingPlugin(volume.spec);
  if (missing !== undefined) return fails(terms.setUp, missing);
  const source = csiSourceOf(volume);
  const attached = source !== undefined && snapshot.attachRequired(source.driver) ? uniqueNameOf(source) : undefined;
  if (attached !== undefined && !isAttached(attached, snapshot)) {
    return { state: 'unattached', name, ...(source !== undefined && hasNoRoom(source, snapshot) ? { exhausted: true } : {}) };
  }
  if (!isReachable(volume, snapshot.node)) return fails('NodeAffinity check', 'no matching NodeSelectorTerms');
  const claimKey = `${claim.metadata.namespace ?? ''}/${claim.metadata.name ?? ''}`;
  if (isForOnePod(volume) && snapshot.isMountedByOtherPod(claimKey)) return fails(terms.setUp, onePodOnly);
  const wrong = source === undefined || attached === undefined ? undefined : wrongAttachment(source, snapshot);
  if (wrong !== undefined) return fails('WaitForAttach', wrong);
  const driver = source?.driver ?? migratedDriverOf(volume);
  if (driver !== undefined && !snapshot.hasDriver(driver)) return fails(terms.stage, noDriver(terms.call, driver));
  return { state: 'ready', name, ...(attached === undefined ? {} : { attached }) };
}

/** Of a volume that the pod itself describes. */
function inlineVolumeState(pod: Pod, { volume }: VolumeUse, snapshot: VolumeSnapshot): VolumeState {
  const { name, csi, ...source } = volume;
  const { namespace = '' } = pod.metadata;
  const config = configOfVolume(volume).flatMap((wanted) => missingConfig(wanted, namespace, snapshot) ?? []);
  const driver = csi?.driver ?? migratedDriverOf({ spec: source });
  const plugin = driver === undefined && Object.keys(source).length > 0 ? missingPlugin(source) : undefined;
  const problems = [
    ...config,
    ...(plugin === undefined ? [] : [plugin]),
    ...(driver === undefined || snapshot.hasDriver(driver) ? [] : [noDriver('mounter.SetUpAt failed to get CSI client', driver)]),
  ];
  if (problems.length === 0) return { state: 'ready', name };
  return { state: 'failing', name, reason: 'FailedMount', message: failed('MountVolume.SetUp', name, aggregate(problems)) };
}

function isAttached(uniqueName: string, snapshot: VolumeSnapshot): boolean {
  const { volumesInUse, volumesAttached } = snapshot.node?.status ?? {};
  const isKnown = volumesInUse?.includes(uniqueName) === true && volumesAttached?.some(({ name }) => name === uniqueName) === true;
  return isKnown && snapshot.mayMount(uniqueName);
}

const hasNoRoom = (source: CsiSource, snapshot: VolumeSnapshot): boolean =>
  snapshot.hasChangingLimit(source.driver) && isExhausted(snapshot.attachment(source).object);

function isReachable({ spec }: PersistentVolume, node: Node | undefined): boolean {
  const required = spec.nodeAffinity?.required;
  return required === undefined || matchesNode(nodeTermsOf(required), { labels: node?.metadata.labels });
}

/** Only one pod may use the volume. */
export const isForOnePod = ({ spec: { accessModes = [] } }: PersistentVolume): boolean => accessModes.length === 1 && accessModes[0] === 'ReadWriteOncePod';

function wrongAttachment(source: CsiSource, snapshot: VolumeSnapshot): string | undefined {
  const { name, object } = snapshot.attachment(source);
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

/** The CSI driver of a migrated in-tree plugin. */
function migratedDriverOf(volume: Parameters<typeof migratedPluginOf>[0]): string | undefined {
  const plugin = migratedPluginOf(volume);
  return plugin === undefined ? undefined : csiDriverOf(plugin);
}

const noDriver = (call: string, driver: string): string => `kubernetes.io/csi: ${call}: driver name ${driver} not found in the list of registered CSI drivers`;

/** The kubelet's terms for a device differ from those for files. */
export const mountTerms = (asDevice: boolean) => (asDevice ? deviceTerms : fileTerms);

const fileTerms = {
  reason: 'FailedMount',
  verb: 'MountVolume',
  setUp: 'SetUp',
  stage: 'MountDevice',
  grow: 'Setup failed while expanding volume',
  call: 'attacher.MountDevice failed to create newCsiDriverClient',
} as const;
const deviceTerms = {
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
