/** How long the cloud takes, in milliseconds: the median and the time that one of a hundred exceeds, log-normal between them. */
export interface Latency {
  readonly median: number;
  readonly p99: number;
}

export type Step = 'createVolume' | 'deleteVolume' | 'attach' | 'detach' | 'snapshot' | 'modify' | 'optimize' | 'launch' | 'terminate' | 'call';

/** aws-ebs-csi-driver's own measurements (pkg/cloud/cloud.go) for volumes. */
export const usualLatencies: Readonly<Record<Step, Latency>> = {
  createVolume: { median: 1500, p99: 4000 },
  deleteVolume: { median: 1000, p99: 3000 },
  attach: { median: 1500, p99: 4000 },
  detach: { median: 1500, p99: 4000 },
  snapshot: { median: 15_000, p99: 60_000 },
  modify: { median: 3000, p99: 15_000 },
  optimize: { median: 60_000, p99: 600_000 },
  launch: { median: 6000, p99: 20_000 },
  terminate: { median: 20_000, p99: 60_000 },
  call: { median: 60, p99: 400 },
};

/** z of the 99th percentile of the normal distribution. */
const z99 = 2.326;

/** `random`: at least 0, below 1. */
export function drawLatency({ median, p99 }: Latency, random: () => number): number {
  const sigma = p99 > median && median > 0 ? Math.log(p99 / median) / z99 : 0;
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return Math.round(median * Math.exp(sigma * Math.max(-3, Math.min(3, normal))));
}
