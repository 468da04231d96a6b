import type { ClusterCloud, ClusterCloudOptions, startClusterCloud } from './cluster-cloud.ts';

/** Loaded only if asked for. */
export async function openClusterCloud(
  options: ClusterCloudOptions | undefined,
  started: Parameters<typeof startClusterCloud>[1],
): Promise<ClusterCloud | undefined> {
  return options === undefined ? undefined : (await import('./cluster-cloud.ts')).startClusterCloud(options, started);
}
