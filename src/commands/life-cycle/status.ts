import { humanDuration } from '../../api/printer-columns.ts';
import type { Command } from '../command.ts';
import { outputFlag, outputOf, printData } from '../result/output.ts';
import { clusterArgument, dataDirFlag, forCluster } from './cluster-argument.ts';
import { type ClusterSummary, summaryOf } from './list.ts';
import { exitCodes } from '../result/exit-codes.ts';

/** `moor status`: one cluster. */
export const statusCommand: Command = {
  arguments: clusterArgument,
  about: `Prints whether a cluster runs, since when, and where its API, kubeconfig, data and log are.`,
  flags: [dataDirFlag, outputFlag],
  examples: [
    { line: 'moor status', about: 'the cluster of "moor up"' },
    { line: 'moor status shop || moor up shop --detach', about: 'start it unless it runs' },
  ],
  run: (flags) =>
    forCluster('status', flags, async (record) => {
      const summary = await summaryOf(record);
      printData(outputOf(flags), summary, (shown) => page(shown, Date.now()));
      return summary.status === 'Running' ? exitCodes.success : exitCodes.notInOrder;
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
