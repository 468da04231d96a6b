/** The cloud of a cluster: its endpoint, the driver of its disks, and its instances as nodes. */
import path from 'node:path';
import type { Cloud } from '../../cloud/engine/cloud.ts';
import { Ec2Client } from '../../drivers/aws-ebs/ec2-client.ts';
import { ebsDriver } from '../../drivers/aws-ebs/driver.ts';
import type { VolumeDriver } from '../../drivers/contract.ts';
import type { World } from '../../world/world.ts';
import type { CleanupStack } from '../cleanup-stack.ts';
import { sha256 } from '../sha256.ts';
import { launchFirstInstances } from './first-instances.ts';
import { type CloudSettings, openCloud } from './open-cloud.ts';

export interface ClusterCloudOptions extends Omit<CloudSettings, 'directory' | 'keys'> {
  readonly provider: 'aws';
  /** Instances that the first start finds running, one zone after the other. Default: two. */
  readonly nodes?: number | undefined;
  /** Absent: it is kept in the data directory. */
  readonly keepsNothing?: boolean | undefined;
  /** From a running instance to its kubelet's first words. */
  readonly bootMs?: number | undefined;
}

export interface ClusterCloud {
  readonly cloud: Cloud;
  readonly served: { readonly url: string; readonly region: string };
  readonly drivers: readonly VolumeDriver[];
  /** Milliseconds from a running instance to its kubelet's first words. */
  readonly bootMs: number | undefined;
}

export async function startClusterCloud(
  options: ClusterCloudOptions,
  { world, dataDir, cleanup }: { readonly world: World; readonly dataDir: string; readonly cleanup: CleanupStack },
): Promise<ClusterCloud> {
  const directory = options.keepsNothing === true ? undefined : path.join(dataDir, 'cloud');
  const { cloud, url, close } = await openCloud({ ...options, directory }, world);
  cleanup.defer(close);
  if (cloud.state.instances.size === 0) await launchFirstInstances(cloud, { count: options.nodes ?? 2 });
  const client = new Ec2Client({
    world,
    host: new URL(url).host,
    region: cloud.region.name,
    // Its own endpoint takes any signature.
    credentials: () => ({ accessKeyId: 'mooring', secretAccessKey: 'mooring' }),
    transport: (request) => post(url, request),
  });
  return { cloud, served: { url, region: cloud.region.name }, drivers: [ebsDriver({ world, client, sha256 })], bootMs: options.bootMs };
}

async function post(url: string, { headers, body }: { readonly headers: Readonly<Record<string, string>>; readonly body: string }) {
  const { host: _, ...sent } = headers;
  const answer = await fetch(url, { method: 'POST', headers: sent, body, signal: AbortSignal.timeout(60_000) });
  return { status: answer.status, body: await answer.text() };
}
