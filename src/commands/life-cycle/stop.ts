import type { Command } from '../command.ts';
import { clusterArgument, dataDirFlag, forCluster, wordsFor } from './cluster-argument.ts';
import { leftoversIn } from '../../cluster/life-cycle/tear-down.ts';
import { stopServer } from './stop-server.ts';

/** `moor stop`: ends the process that serves a cluster. */
export const stopCommand: Command = {
  arguments: clusterArgument,
  about: `Ends the process that serves a cluster, as Ctrl-C does. Its pods keep running with their volumes mounted, and the next
"moor up" finds them; "moor down" ends them too. A cluster that is stopped already is no error.`,
  flags: [dataDirFlag],
  examples: [{ line: 'moor stop shop', about: 'the server of one cluster; its pods keep running' }],
  run: (flags) =>
    forCluster('stop', flags, async (record) => {
      const didStop = await stopServer(record);
      const { mounts } = await leftoversIn(record.dataDir);
      process.stdout.write(didStop ? 'Stopped.' : 'It is stopped already.');
      process.stdout.write(
        mounts.length === 0 ? '\n' : ` Its pods keep running: "moor up${wordsFor(record)}" goes on with them, "moor down${wordsFor(record)}" ends them.\n`,
      );
      return 0;
    }),
};
