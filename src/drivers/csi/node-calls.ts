import type { CSIDriver, PersistentVolumeSource, Pod, Secret, VolumeSource } from '../../api/generated/types.ts';
import type { CallOptions } from '../../grpc/channel.ts';
import { createClient, type Client } from '../../grpc/client.ts';
import { Node, NodeServiceCapability_RPC_Type as Rpc } from '../../grpc/generated/csi.ts';
import { inlineCsiHandle } from '../../api/volumes/csi-translation.ts';
import type { Clock } from '../../world/world.ts';
import { type CsiSocket, type DriverAnswer, failed, succeeded, type VolumeOnNode } from '../contract.ts';
import type { NodeHost } from '../mount/node-host.ts';
import { answerOf } from './rpc-failure.ts';
import { volumeCapabilityOf } from './volume-capability.ts';

/** What calls over sockets need of the node. */
export interface CsiSocketOptions extends NodeHost {
  readonly clock: Clock;
  /** The node's directory. */
  readonly root: string;
  readonly nodeName: string;
  /** In hexadecimal. */
  readonly sha256: (text: string) => string;
  readonly secret: (key: string) => Secret | undefined;
  readonly csiDriver: (name: string) => CSIDriver | undefined;
  /** Undefined: no driver of that name is registered. */
  readonly csiSocket: (driver: string) => CsiSocket | undefined;
  /** A token of the pod's service account, bound to the pod. */
  readonly token: (
    pod: Pod,
    wanted: { readonly audience: string; readonly expirationSeconds?: number },
  ) => Promise<DriverAnswer<{ readonly token: string; readonly expires: number }>>;
}

/** csiTimeout in kubernetes/pkg/volume/csi/csi_plugin.go */
const timeoutMs = 120_000;
export const callOptions = { timeoutMs } as const;
/** Requests to the kubelet's API wait for the answers. */
export const statsOptions = { timeoutMs: 5_000 } as const;

export interface NodeService {
  readonly client: Client<typeof Node>;
  readonly path: CsiSocket['pathInDriver'];
  /** NodeGetCapabilities, asked before each use. */
  readonly has: { readonly [Capability in keyof typeof capabilityNames]: boolean };
}

const capabilityNames = {
  stage: Rpc.STAGE_UNSTAGE_VOLUME,
  stats: Rpc.GET_VOLUME_STATS,
  condition: Rpc.VOLUME_CONDITION,
  expand: Rpc.EXPAND_VOLUME,
  singleNodeMultiWriter: Rpc.SINGLE_NODE_MULTI_WRITER,
  mountGroup: Rpc.VOLUME_MOUNT_GROUP,
} as const;

export async function openNodeService({ channel, pathInDriver: path }: CsiSocket, options: CallOptions = callOptions): Promise<DriverAnswer<NodeService>> {
  const client = createClient(Node, channel);
  const answer = await answerOf(client.nodeGetCapabilities({}, options));
  if (!answer.ok) return answer;
  const types = new Set(answer.value.capabilities.map(({ type }) => (type.case === 'rpc' ? type.value.type : Rpc.UNKNOWN)));
  const { stage, stats, condition, expand, singleNodeMultiWriter, mountGroup } = capabilityNames;
  const has = {
    stage: types.has(stage),
    stats: types.has(stats),
    condition: types.has(condition),
    expand: types.has(expand),
    singleNodeMultiWriter: types.has(singleNodeMultiWriter),
    mountGroup: types.has(mountGroup),
  };
  return succeeded({ client, path, has });
}

type PersistentCsi = NonNullable<PersistentVolumeSource['csi']>;
type InlineCsi = NonNullable<VolumeSource['csi']>;

/** A CSI volume of a PersistentVolume or of a pod, in one form. */
export interface CsiVolume {
  readonly driver: string;
  readonly handle: string;
  readonly mode: 'Persistent' | 'Ephemeral';
  /** '': the driver chooses. */
  readonly fsType: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly accessModes: readonly string[];
  readonly mountOptions: readonly string[];
  readonly isBlock: boolean;
  readonly secrets: { readonly stage: SecretKey; readonly publish: SecretKey; readonly expand: SecretKey };
}

type SecretKey = { readonly namespace: string; readonly name: string } | undefined;

/** `sha256`, `pod`: the kubelet's handle of an inline volume is made of the pod and the volume's name. */
export function csiVolumeOf(volume: VolumeOnNode, pod: Pod | undefined, sha256: (text: string) => string): CsiVolume | undefined {
  const { source, persistentVolume, name } = volume;
  const csi: PersistentCsi | InlineCsi | undefined = source.csi;
  if (csi === undefined) return undefined;
  const common = { driver: csi.driver, fsType: csi.fsType ?? '', attributes: csi.volumeAttributes ?? {}, isBlock: volume.mode === 'Block' };
  if ('volumeHandle' in csi) {
    return {
      ...common,
      handle: csi.volumeHandle,
      mode: 'Persistent',
      accessModes: persistentVolume?.spec.accessModes ?? [],
      mountOptions: persistentVolume?.spec.mountOptions ?? [],
      secrets: { stage: keyOf(csi.nodeStageSecretRef), publish: keyOf(csi.nodePublishSecretRef), expand: keyOf(csi.nodeExpandSecretRef) },
    };
  }
  const { uid = '', namespace = '' } = pod?.metadata ?? {};
  const publish = keyOf(csi.nodePublishSecretRef === undefined ? undefined : { namespace, ...csi.nodePublishSecretRef });
  const handle = inlineCsiHandle(uid, name, sha256);
  return { ...common, handle, mode: 'Ephemeral', accessModes: [], mountOptions: [], secrets: { stage: undefined, publish, expand: undefined } };
}

const keyOf = (reference: { readonly namespace?: string; readonly name?: string } | undefined): SecretKey =>
  reference === undefined ? undefined : { namespace: reference.namespace ?? '', name: reference.name ?? '' };

/** Of the first access mode, as the kubelet. `group`: the pod's fsGroup, for a driver that applies it itself. */
export function capabilityOf({ accessModes, isBlock, fsType, mountOptions }: CsiVolume, { has }: NodeService, group?: number) {
  return volumeCapabilityOf(
    {
      accessModes: [accessModes[0] ?? 'ReadWriteOnce'],
      volumeMode: isBlock ? 'Block' : 'Filesystem',
      fsType,
      mountOptions,
      ...(group === undefined || !has.mountGroup ? {} : { volumeMountGroup: String(group) }),
    },
    { singleNodeMultiWriter: has.singleNodeMultiWriter },
  );
}

/** The data of a Secret as strings. `what`: the field that names it. */
export function secretsOf(key: SecretKey, what: string, { secret }: CsiSocketOptions): DriverAnswer<Record<string, string>> {
  if (key === undefined) return succeeded({});
  const { namespace, name } = key;
  const found = secret(`${namespace}/${name}`);
  if (found === undefined) {
    const why = `kubernetes.io/csi: failed to find the secret ${name} in the namespace ${namespace} with error: secrets ${JSON.stringify(name)} not found`;
    return failed('NotFound', `fetching ${what} ${namespace}/${name} failed: ${why}`);
  }
  return succeeded(Object.fromEntries(Object.entries(found.data ?? {}).map(([field, value]) => [field, textOf(value)])));
}

/** Go's strings may hold any bytes, protobuf's only UTF-8: other bytes become U+FFFD, as in Go's marshalling. */
const textOf = (base64: string): string => new TextDecoder().decode(Uint8Array.from(atob(base64), (character) => character.charCodeAt(0)));
