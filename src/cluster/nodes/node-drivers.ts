import type { Endpoints, Pod, ServiceAccountTokenProjection, TokenRequest } from '../../api/generated/types.ts';
import { endpointsKind } from '../../api/kinds/core/endpoints.ts';
import { serviceAccountKind } from '../../api/kinds/core/service-account.ts';
import { configMapNode } from '../../drivers/config-map/node.ts';
import { type DriverAnswer, failed, type NodeDriver } from '../../drivers/contract.ts';
import { csiNode } from '../../drivers/csi/node.ts';
import { downwardApiNode } from '../../drivers/downward-api/node.ts';
import { emptyDirNode } from '../../drivers/empty-dir/node.ts';
import type { NodeHost } from '../../drivers/mount/node-host.ts';
import { flexDrivers, usualFlexDirectory } from '../../drivers/flex-volume/node.ts';
import { gitRepoNode } from '../../drivers/git-repo/node.ts';
import { glusterfsNode } from '../../drivers/glusterfs/node.ts';
import { hostPathNode } from '../../drivers/host-path/node.ts';
import { imageVolumeNode } from '../../drivers/image-volume/node.ts';
import { iscsiNode } from '../../drivers/iscsi/node.ts';
import { localNode } from '../../drivers/local/node.ts';
import { nfsNode } from '../../drivers/nfs/node.ts';
import { type IssuedToken, projectedNode } from '../../drivers/projected/node.ts';
import { secretNode } from '../../drivers/secret/node.ts';
import type { Client } from '../../client/client.ts';
import type { DriverContext, NodeDrivers } from '../../node/agent.ts';
import type { Programs } from '../../world/programs.ts';
import type { World } from '../../world/world.ts';
import { sha256 } from '../sha256.ts';

export interface NodeMachine extends NodeHost {
  readonly programs: Programs;
  /** The node's directory: containers see it as /var/lib/kubelet. */
  readonly root: string;
  /** Its CSI drivers. */
  readonly csi?: readonly NodeDriver[];
  /** The directory of FlexVolume drivers. */
  readonly flexDirectory?: string;
}

/** The volume types that a node can mount. */
export function nodeDrivers(
  { csi = [], flexDirectory = usualFlexDirectory, root, ...machine }: NodeMachine,
  world: Pick<World, 'clock' | 'timers'>,
  context: DriverContext,
): NodeDrivers {
  const allocatableMemory = context.allocatable()['memory'] ?? '1Gi';
  const { clock, timers } = world;
  const options = { ...machine, ...context, clock, allocatableMemory };
  const token = (pod: Pod, wanted: WantedToken) => requestToken(context.client, pod, wanted);
  return {
    drivers: [
      emptyDirNode(options),
      hostPathNode(machine, root),
      localNode(options),
      configMapNode(options),
      secretNode(options),
      downwardApiNode(options),
      projectedNode({ ...options, token }),
      csiNode(machine, csi, { ...options, root, sha256, token }),
      nfsNode(machine),
      glusterfsNode({ ...machine, endpoints: (namespace, name) => endpointsOf(context.client, { namespace, name }) }),
      iscsiNode({ ...options, timers }),
      gitRepoNode(options),
      imageVolumeNode,
    ],
    findDriver: flexDrivers({ ...options, directory: flexDirectory }),
  };
}

async function endpointsOf(client: Client, key: { readonly namespace: string; readonly name: string }): Promise<DriverAnswer<Endpoints | undefined>> {
  const found = await client.get(endpointsKind, key);
  if (found.ok) return { ok: true, value: found.value };
  return found.reason === 'notFound' ? { ok: true, value: undefined } : failed('Unavailable', found.error.message);
}

type WantedToken = Pick<ServiceAccountTokenProjection, 'audience' | 'expirationSeconds'>;

async function requestToken(client: Client, pod: Pod, { audience, expirationSeconds = 3600 }: WantedToken): Promise<DriverAnswer<IssuedToken>> {
  const { namespace = '', name = '', uid = '' } = pod.metadata;
  const request = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: {
      ...(audience === undefined || audience === '' ? {} : { audiences: [audience] }),
      expirationSeconds,
      boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid },
    },
  };
  const account = { namespace, name: pod.spec.serviceAccountName ?? 'default', subresource: 'token' };
  const issued = await client.createSubresource<TokenRequest>(serviceAccountKind, account, request);
  if (!issued.ok) return failed('Unavailable', `failed to fetch token: ${issued.error.message}`);
  const { token, expirationTimestamp } = issued.value.status;
  return { ok: true, value: { token, expires: Date.parse(expirationTimestamp ?? '') } };
}
