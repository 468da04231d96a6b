import type { Labels } from '../../api/selectors/label-selector.ts';
import type { TopologySegments } from '../../api/volumes/intent.ts';

/** Undefined: the labels lack a key. */
export function segmentsOf(labels: Labels, keys: readonly string[]): TopologySegments | undefined {
  const segments: Record<string, string> = {};
  for (const key of keys) {
    const value = labels[key];
    if (value === undefined) return undefined;
    segments[key] = value;
  }
  return segments;
}
