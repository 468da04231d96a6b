import { lockCluster } from '../../cluster/life-cycle/cluster-lock.ts';
import type { ClusterRecord } from '../../cluster/life-cycle/cluster-record.ts';
import { type Leftovers, removedText, tearDown, TearDownError } from '../../cluster/life-cycle/tear-down.ts';
import { createRealWorld } from '../../host/world.ts';
import type { Command } from '../command.ts';
import { outputFlag, outputOf, printData } from '../result/output.ts';
import { clusterArgument, dataDirFlag, forEnding, wordsFor } from './cluster-argument.ts';
import { stopServer } from './stop-server.ts';
import { type Progress, withProgress } from '../result/progress.ts';
import { exitCodes } from '../result/exit-codes.ts';

/** `moor down`: ends everything of a cluster and keeps its data. */
export const downCommand: Command = {
  arguments: clusterArgument,
  about: `Stops a cluster and removes what it has on this machine: pods, their processes, mounts, loop devices, network and control
groups. Its data is kept: the next "moor up" starts the pods again with the same volumes. "moor delete" removes the data too.

A process that has not ended 30 s after SIGKILL, because the kernel waits for a disk or a server, is an error that names it and what is left.`,
  flags: [dataDirFlag, outputFlag],
  examples: [{ line: 'moor down', about: 'the cluster of "moor up"; nothing of it runs afterwards' }],
  run: (flags) =>
    forEnding('down', flags, async (record) => {
      await takeDown(record, async (removed) =>
        printData(
          outputOf(flags),
          removedFrom(record, removed),
          () => `Down: ${removedText(removed)}. Its data is kept in ${record.dataDir}: "moor up${wordsFor(record)}" starts it again.\n`,
        ),
      );
      return exitCodes.success;
    }),
};

/** For programs. */
export const removedFrom = ({ name, dataDir }: ClusterRecord, removed: Leftovers) => ({ name: name ?? null, dataDir, removed });

/** Stops it, removes what it has on the machine, and then calls with what that was. Meanwhile no process can start it. @throws TearDownError */
export const takeDown = (record: ClusterRecord, then: (removed: Leftovers, progress: Progress) => Promise<unknown>): Promise<void> =>
  withProgress('Looking for what runs', (progress) => takeDownSaying(progress, record, then));

async function takeDownSaying(progress: Progress, record: ClusterRecord, then: Parameters<typeof takeDown>[1]): Promise<void> {
  await stopServer(record, progress);
  const lock = await lockCluster(record.dataDir);
  if (lock === undefined) throw new TearDownError(`${record.dataDir} is in use by a process that has just started`);
  try {
    const removed = await tearDown(record.dataDir, { world: createRealWorld({ logLevel: 'error' }), onProgress: progress.say });
    progress.clear();
    await then(removed, progress);
  } finally {
    await lock.release();
  }
}
