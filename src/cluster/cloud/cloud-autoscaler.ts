import type { CloudProvider } from '../../autoscaler/cloud-provider.ts';
import type { Client } from '../../client/client.ts';
import type { Informers } from '../../client/informers/informers.ts';
import type { Cloud } from '../../cloud/engine/cloud.ts';
import { ensureKarpenterDefinitions } from './karpenter-definitions.ts';
import { NodeProvider } from './node-provider.ts';

/** The autoscaler of a cluster in a cloud, with its kinds served; nothing for a cluster that is in none. */
export async function cloudAutoscaler(
  cloud: Cloud | undefined,
  { client, clusterName }: { readonly client: Client; readonly clusterName: string },
): Promise<{ readonly autoscaler?: { readonly provider: (informers: Informers) => CloudProvider } }> {
  if (cloud === undefined) return {};
  await ensureKarpenterDefinitions(client);
  return { autoscaler: { provider: (informers) => new NodeProvider({ cloud, informers, clusterName }) } };
}
