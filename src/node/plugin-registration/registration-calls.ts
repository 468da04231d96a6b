/** Calls to a plugin's registration socket and to the node service behind it, with the kubelet's deadlines (pkg/kubelet/pluginmanager). */
import { createClient } from '../../grpc/client.ts';
import type { Channel } from '../../grpc/channel.ts';
import { Node } from '../../grpc/generated/csi.ts';
import { type PluginInfo, Registration } from '../../grpc/generated/pluginregistration.ts';
import type { DriverNodeInfo } from '../registration/plugin-drivers.ts';

const [infoMs, notifyMs, nodeInfoMs] = [1000, 5000, 120_000];

export function getInfo(channel: Channel, signal: AbortSignal): Promise<PluginInfo> {
  return createClient(Registration, channel).getInfo({}, { timeoutMs: infoMs, signal });
}

/** `error`: why it is not registered. */
export async function notify(channel: Channel, error: string | undefined, signal: AbortSignal): Promise<void> {
  const status = error === undefined ? { pluginRegistered: true } : { pluginRegistered: false, error };
  await createClient(Registration, channel).notifyRegistrationStatus(status, { timeoutMs: notifyMs, signal });
}

/** CSINode has a 32-bit count: a higher limit is cut, as by the kubelet. */
const maxCount = 2n ** 31n - 1n;

export async function nodeInfo(name: string, channel: Channel, signal: AbortSignal): Promise<DriverNodeInfo> {
  const { nodeId, maxVolumesPerNode: max, accessibleTopology } = await createClient(Node, channel).nodeGetInfo({}, { timeoutMs: nodeInfoMs, signal });
  const maxVolumes = max > 0n ? Number(max > maxCount ? maxCount : max) : undefined;
  return { name, nodeID: nodeId, topology: { ...accessibleTopology?.segments }, maxVolumes };
}
