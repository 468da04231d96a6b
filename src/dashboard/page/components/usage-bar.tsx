import { showBytes } from '../../model/usage.ts';
import type { VolumeUsage } from '../../model/usage.ts';

/** How full a volume is; without a figure of its node, its size alone. */
export function UsageBar({ used, size }: { readonly used: VolumeUsage | undefined; readonly size: string }) {
  if (used === undefined) return <span>{size}</span>;
  const share = used.capacityBytes === 0 ? 0 : Math.min(1, used.usedBytes / used.capacityBytes);
  const label = `${showBytes(used.usedBytes)} of ${showBytes(used.capacityBytes)}`;
  return (
    <span class="usage">
      <meter min={0} max={1} high={0.85} value={share} aria-label={label} />
      <small>{label}</small>
    </span>
  );
}
