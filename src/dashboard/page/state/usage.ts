import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { ApiError } from '../../../api/status.ts';
import { type StatsSummary, usageIn, type VolumeUsage } from '../../model/usage.ts';
import { browserWorld } from '../api/browser-world.ts';
import { getJson } from '../api/requests.ts';
import { synced, view } from './cluster.ts';

/** How full the volumes are, by claim. Nodes that do not say, or may not be asked, are left out. */
export const usage = signal<ReadonlyMap<string, VolumeUsage>>(new Map());

/** As often as a kubelet measures. */
const everyMs = 60_000;
/** A figure beside each claim is not worth a request to each of a thousand nodes. */
const mostNodes = 50;

/** While a view is shown. */
export function useUsage(): void {
  const isReady = synced.value;
  useEffect(() => {
    if (!isReady) return undefined;
    const abort = new AbortController();
    let cancel = () => {};
    const read = async () => {
      usage.value = await readUsage(abort.signal);
      cancel = browserWorld.timers.after(everyMs, () => void read());
    };
    void read();
    return () => {
      abort.abort();
      cancel();
    };
  }, [isReady]);
}

/** Nodes that have no figures, or none for this user. */
const silent = new Set<string>();

async function readUsage(signal: AbortSignal): Promise<ReadonlyMap<string, VolumeUsage>> {
  const { pods } = view.peek().lists;
  const usesClaim = pods.filter(({ spec }) => (spec.volumes ?? []).some(({ persistentVolumeClaim, ephemeral }) => persistentVolumeClaim ?? ephemeral));
  const nodes = [...new Set(usesClaim.flatMap(({ spec }) => spec.nodeName ?? []))].filter((node) => !silent.has(node)).slice(0, mostNodes);
  const found = new Map<string, VolumeUsage>();
  for (const node of nodes) {
    const summary = await getJson<StatsSummary>(`/api/v1/nodes/${encodeURIComponent(node)}/proxy/stats/summary`, signal).catch((error: unknown) => {
      if (error instanceof ApiError && error.code < 500) silent.add(node);
      return {};
    });
    for (const [claim, used] of usageIn(summary)) found.set(claim, used);
  }
  return found;
}
