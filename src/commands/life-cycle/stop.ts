import type { Command } from '../command.ts';
import { outputFlag, outputOf, printData } from '../result/output.ts';
import { clusterArgument, dataDirFlag, forCluster, wordsFor } from './cluster-argument.ts';
import { leftoversIn } from '../../cluster/life-cycle/tear-down.ts';
import { stopServer } from './stop-server.ts';
import { withProgress } from '../result/progress.ts';
import { exitCodes } from '../result/exit-codes.ts';

/** `moor stop`: ends the process that serves a cluster. */
export const stopCommand: Command = {
  arguments: clusterArgument,
  about: `Ends the process that serves a cluster, as Ctrl-C does. Its pods keep running with their volumes mounted, and the next
"moor up" finds them; "moor down" ends them too. A cluster that is stopped already is no error.`,
  flags: [dataDirFlag, outputFlag],
  examples: [{ line: 'moor stop shop', about: 'the server of one cluster; its pods keep running' }],
  run: (flags) =>
    forCluster('stop', flags, async (record) => {
      const didStop = await withProgress('Looking for its process', (progress) => stopServer(record, progress));
      const { mounts } = await leftoversIn(record.dataDir);
      const { name, dataDir } = record;
      const keepRunning = ` Its pods keep running: "moor up${wordsFor(record)}" goes on with them, "moor down${wordsFor(record)}" ends them.`;
      printData(
        outputOf(flags),
        { name: name ?? null, dataDir, wasRunning: didStop, mounts: mounts.length },
        () => `${didStop ? 'Stopped.' : 'It is stopped already.'}${mounts.length === 0 ? '' : keepRunning}\n`,
      );
      return exitCodes.success;
    }),
};
