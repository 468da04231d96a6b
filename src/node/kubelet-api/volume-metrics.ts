import type { VolumeUsage } from './node-stats.ts';

/** The kubelet's metrics (v1.36.4). */
const families = [
  { name: 'capacity_bytes', help: 'Capacity in bytes of the volume', of: 'capacityBytes' },
  { name: 'available_bytes', help: 'Number of available bytes in the volume', of: 'availableBytes' },
  { name: 'used_bytes', help: 'Number of used bytes in the volume', of: 'usedBytes' },
  { name: 'inodes', help: 'Maximum number of inodes in the volume', of: 'inodes' },
  { name: 'inodes_free', help: 'Number of free inodes in the volume', of: 'inodesFree' },
  { name: 'inodes_used', help: 'Number of used inodes in the volume', of: 'inodesUsed' },
] as const;

/** Prometheus' text format: each claim once, however many pods mount it. Volumes without a claim have no metrics. */
export function volumeMetrics(volumes: Iterable<VolumeUsage>): string {
  const claims = new Map<string, VolumeUsage>();
  for (const volume of volumes) {
    // Names of claims and namespaces need no escaping.
    const labels = volume.claim === undefined ? '' : `{namespace="${volume.pod.namespace}",persistentvolumeclaim="${volume.claim}"}`;
    if (labels !== '' && !claims.has(labels)) claims.set(labels, volume);
  }
  if (claims.size === 0) return '';
  const samples = [...claims];
  const amounts = families.map(({ name, help, of }) =>
    family(
      name,
      help,
      samples.map(([labels, volume]) => `${labels} ${volume[of] ?? 0}`),
    ),
  );
  const told = samples.flatMap(([labels, { health }]) => (health === undefined ? [] : [`${labels} ${health.abnormal ? 1 : 0}`]));
  return [...amounts, ...(told.length === 0 ? [] : [family('health_status_abnormal', abnormalHelp, told)])].join('');
}

const abnormalHelp = 'Abnormal volume health status. The count is either 1 or 0. 1 indicates the volume is unhealthy, 0 indicates volume is healthy';

function family(name: string, help: string, samples: readonly string[]): string {
  const full = `kubelet_volume_stats_${name}`;
  return `# HELP ${full} [ALPHA] ${help}\n# TYPE ${full} gauge\n${samples.map((sample) => `${full}${sample}\n`).join('')}`;
}
