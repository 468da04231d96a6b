import { formatQuantity, quantityOf } from '../../api/quantity.ts';

/** What a node reports of a claim's volume. */
export interface VolumeUsage {
  readonly usedBytes: number;
  readonly capacityBytes: number;
}

/** The part of the kubelet's /stats/summary that is read here. */
export interface StatsSummary {
  readonly pods?: readonly {
    readonly volume?: readonly {
      readonly usedBytes?: number;
      readonly capacityBytes?: number;
      readonly pvcRef?: { readonly name: string; readonly namespace: string };
    }[];
  }[];
}

/** By 'namespace/name' of the claim. */
export function usageIn({ pods = [] }: StatsSummary): ReadonlyMap<string, VolumeUsage> {
  const found = new Map<string, VolumeUsage>();
  for (const { volume = [] } of pods) {
    for (const { usedBytes, capacityBytes, pvcRef } of volume) {
      if (pvcRef === undefined || usedBytes === undefined || capacityBytes === undefined) continue;
      found.set(`${pvcRef.namespace}/${pvcRef.name}`, { usedBytes, capacityBytes });
    }
  }
  return found;
}

const units = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi'];

/** '1.5Gi' */
export function showBytes(bytes: number): string {
  let [value, unit] = [bytes, ''];
  for (const next of units) {
    if (value < 1024) break;
    value /= 1024;
    unit = next;
  }
  return unit === '' ? formatQuantity(quantityOf(Math.round(value))) : `${value < 10 ? Math.round(value * 10) / 10 : Math.round(value)}${unit}`;
}
