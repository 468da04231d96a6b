import { createInterface } from 'node:readline/promises';
import { removeData } from '../../cluster/life-cycle/remove-data.ts';
import type { Command } from '../command.ts';
import { clusterArgument, dataDirFlag, forCluster } from './cluster-argument.ts';
import { takeDown } from './down.ts';

/** `moor delete`: ends everything of a cluster and removes its data. */
export const deleteCommand: Command = {
  arguments: clusterArgument,
  about: `Does what "moor down" does, and removes the data directory: objects, volumes, certificates, logs and kubeconfig. It asks
first, unless --yes is given. Nothing below a live mount is ever removed: if something cannot be unmounted, all data stays.`,
  flags: [dataDirFlag, { name: 'yes', short: 'y', about: 'do not ask' }],
  examples: [
    { line: 'moor delete shop', about: 'one cluster, after a question' },
    { line: 'moor delete --yes', about: 'the cluster of "moor up", in a script' },
  ],
  run: (flags) =>
    forCluster('delete', flags, async (record) => {
      if (!flags.on('yes') && !(await isConfirmed(`Delete all data in ${record.dataDir}?`))) {
        process.stderr.write('moor delete: nothing was deleted\n');
        return 1;
      }
      await takeDown(record, async (removed) => {
        process.stdout.write(`Down: ${removed}.\n`);
        await removeData(record.dataDir);
      });
      process.stdout.write(`Deleted ${record.dataDir}.\n`);
      return 0;
    }),
};

async function isConfirmed(question: string): Promise<boolean> {
  if (!process.stdin.isTTY) {
    process.stderr.write('moor delete: there is no terminal to ask on; --yes deletes without asking\n');
    return false;
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question(`${question} [y/N] `);
  terminal.close();
  return /^y(es)?$/i.test(answer.trim());
}
