import type { NodeGetVolumeStatsResponse } from '../../grpc/generated/csi.ts';
import type { VolumeHealth } from '../contract.ts';

/**
 * What a driver tells of a volume's health, the one place that knows how. In CSI 1.12 it is the condition in the answer to NodeGetVolumeStats
 * (VOLUME_CONDITION, alpha). CSI 1.13 drops that for calls of their own (NodeGetVolumeHealth, with DEGRADED, INACCESSIBLE and DATA_LOSS): their answers
 * become a VolumeHealth here, and nothing else changes. Undefined: the driver does not tell.
 */
export function volumeHealth(tells: boolean, { volumeCondition }: NodeGetVolumeStatsResponse): VolumeHealth | undefined {
  if (!tells || volumeCondition === undefined) return undefined;
  const { abnormal, message } = volumeCondition;
  return { abnormal, message: message.slice(0, mostCharacters) };
}

/** The message becomes an event, and a driver may answer anything. */
const mostCharacters = 512;
