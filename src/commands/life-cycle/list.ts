import { isServed } from '../../cluster/life-cycle/cluster-lock.ts';
import { allRecords, type ClusterRecord } from '../../cluster/life-cycle/cluster-record.ts';
import { removeAbandoned } from '../../cluster/life-cycle/cluster-directory.ts';
import { leftoversIn } from '../../cluster/life-cycle/tear-down.ts';
import { createRealWorld } from '../../host/world.ts';
import type { Command } from '../command.ts';
import { withProgress } from '../result/progress.ts';
import { outputFlag, outputOf, printData } from '../result/output.ts';
import { exitCodes } from '../result/exit-codes.ts';

/** `moor list`: the clusters of this user on this machine. */
export const listCommand: Command = {
  about: `Lists the clusters that "moor up" has started on this machine and that "moor delete" has not removed.

STATUS is Running (a process serves its API), Stopped (none does, its pods may still run: MOUNTS counts their mounts) or
Down (nothing of it runs; its data is kept). Ephemeral clusters whose process was killed are removed first.`,
  flags: [outputFlag],
  examples: [
    { line: 'moor list', about: 'every cluster of this user' },
    { line: "moor list -o json | jq -r '.[].dataDir'", about: 'their data directories' },
  ],
  run: async (flags) => {
    await withProgress('Looking for clusters whose process was killed', ({ say }) =>
      removeAbandoned({ world: createRealWorld({ logLevel: 'error' }), onProgress: say }),
    );
    const clusters = await Promise.all(allRecords().map(summaryOf));
    printData(outputOf(flags), clusters, table);
    return exitCodes.success;
  },
};

export interface ClusterSummary extends Pick<ClusterRecord, 'dataDir' | 'kubeconfig' | 'url' | 'startedAt' | 'runtime' | 'version' | 'logFile'> {
  readonly name: string | null;
  readonly status: 'Running' | 'Stopped' | 'Down';
  readonly pid: number | null;
  readonly mounts: number;
}

export async function summaryOf(record: ClusterRecord): Promise<ClusterSummary> {
  const { name, process: server, ephemeral: _ephemeral, hostPathVolumes: _volumes, ...rest } = record;
  const { mounts, images } = await leftoversIn(record.dataDir);
  const isRunning = await isServed(record.dataDir);
  const status = isRunning ? 'Running' : mounts.length + images.length > 0 ? 'Stopped' : 'Down';
  return { name: name ?? null, status, pid: isRunning ? server.pid : null, mounts: mounts.length, ...rest };
}

function table(clusters: readonly ClusterSummary[]): string {
  if (clusters.length === 0) return 'No clusters. "moor up" starts one.\n';
  const rows = clusters.map(({ name, status, url, mounts, dataDir }) => [name ?? '<none>', status, status === 'Running' ? url : '-', String(mounts), dataDir]);
  const all = [['NAME', 'STATUS', 'URL', 'MOUNTS', 'DATA'], ...rows];
  const widths = all[0]?.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0))) ?? [];
  return all
    .map(
      (row) =>
        `${row
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join('   ')
          .trimEnd()}\n`,
    )
    .join('');
}
