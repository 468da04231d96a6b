import { humanDuration } from '../../api/printer-columns.ts';
import type { Command } from '../command.ts';
import { outputFlag } from '../shared-flags.ts';
import { clusterArgument, dataDirFlag, forCluster } from './cluster-argument.ts';
import { type ClusterSummary, summaryOf } from './list.ts';

/** `moor status`: one cluster. */
export const statusCommand: Command = {
  arguments: clusterArgument,
  about: `Prints whether a cluster runs, since when, and where its API, kubeconfig, data and log are.

The exit code is 0 if a process serves it, 3 if none does, 1 if there is no such cluster.`,
  flags: [dataDirFlag, outputFlag],
  examples: [
    { line: 'moor status', about: 'the cluster of "moor up"' },
    { line: 'moor status shop || moor up shop --detach', about: 'start it unless it runs' },
  ],
  run: (flags) =>
    forCluster('status', flags, async (record) => {
      const summary = await summaryOf(record);
      process.stdout.write(flags.text('output') === 'json' ? `${JSON.stringify(summary, null, 2)}\n` : page(summary, Date.now()));
      return summary.status === 'Running' ? 0 : 3;
    }),
};

function page({ name, status, url, pid, startedAt, kubeconfig, dataDir, logFile, mounts, runtime, version }: ClusterSummary, now: number): string {
  const since = status === 'Running' ? ` for ${humanDuration(now - Date.parse(startedAt))}, process ${pid}` : '';
  return [
    `${name ?? dataDir}: ${status}${since}`,
    '',
    `  version     ${version}`,
    `  url         ${status === 'Running' ? url : '-'}`,
    `  kubeconfig  ${kubeconfig}`,
    `  data        ${dataDir}`,
    `  log         ${logFile ?? 'none: it was started in the foreground'}`,
    `  nodes       ${runtime}`,
    `  mounts      ${mounts}`,
    '',
  ].join('\n');
}
