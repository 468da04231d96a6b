import { lockCluster } from '../../cluster/life-cycle/cluster-lock.ts';
import type { ClusterRecord } from '../../cluster/life-cycle/cluster-record.ts';
import { type Leftovers, tearDown, TearDownError } from '../../cluster/life-cycle/tear-down.ts';
import { createRealWorld } from '../../host/world.ts';
import type { Command } from '../command.ts';
import { clusterArgument, dataDirFlag, forCluster, wordsFor } from './cluster-argument.ts';
import { stopServer } from './stop-server.ts';

/** `moor down`: ends everything of a cluster and keeps its data. */
export const downCommand: Command = {
  arguments: clusterArgument,
  about: `Stops a cluster and removes what it has on this machine: pods, their processes, mounts, loop devices, network and control
groups. Its data is kept: the next "moor up" starts the pods again with the same volumes. "moor delete" removes the data too.`,
  flags: [dataDirFlag],
  examples: [{ line: 'moor down', about: 'the cluster of "moor up"; nothing of it runs afterwards' }],
  run: (flags) =>
    forCluster('down', flags, async (record) => {
      await takeDown(record, async (removed) =>
        process.stdout.write(`Down: ${removed}. Its data is kept in ${record.dataDir}: "moor up${wordsFor(record)}" starts it again.\n`),
      );
      return 0;
    }),
};

/** Stops it, removes what it has on the machine, and then calls with what that was. Meanwhile no process can start it. @throws TearDownError */
export async function takeDown(record: ClusterRecord, then: (removed: string) => Promise<unknown>): Promise<void> {
  await stopServer(record);
  const lock = await lockCluster(record.dataDir);
  if (lock === undefined) throw new TearDownError(`${record.dataDir} is in use by a process that has just started`);
  try {
    await then(removedText(await tearDown(record.dataDir, createRealWorld({ logLevel: 'error' }))));
  } finally {
    await lock.release();
  }
}

const removedText = ({ pods, mounts, images }: Leftovers): string =>
  pods + mounts.length + images.length === 0
    ? 'nothing was left to remove'
    : `removed ${counted(pods, 'pod')}, ${counted(mounts.length, 'mount')}, ${counted(images.length, 'loop device')}`;

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;
