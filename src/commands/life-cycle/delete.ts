import { createInterface } from 'node:readline/promises';
import type { ClusterRecord } from '../../cluster/life-cycle/cluster-record.ts';
import { removeData } from '../../cluster/life-cycle/remove-data.ts';
import { removedText } from '../../cluster/life-cycle/tear-down.ts';
import type { Command } from '../command.ts';
import { jsonText, outputFlag, outputOf } from '../result/output.ts';
import { clusterArgument, dataDirFlag, forEnding } from './cluster-argument.ts';
import { removedFrom, takeDown } from './down.ts';
import { exitCodes } from '../result/exit-codes.ts';

/** `moor delete`: ends everything of a cluster and removes its data. */
export const deleteCommand: Command = {
  arguments: clusterArgument,
  about: `Does what "moor down" does, and removes the data directory: objects, volumes, certificates, logs and kubeconfig; its host-path
volumes, which are in /tmp/hostpath_pv; and its entries in the file of --kubeconfig. It asks first, unless --yes is given. Nothing
below a live mount is ever removed: if something cannot be unmounted, all data stays.`,
  flags: [dataDirFlag, { name: 'yes', short: 'y', about: 'do not ask' }, outputFlag],
  examples: [
    { line: 'moor delete shop', about: 'one cluster, after a question' },
    { line: 'moor delete --yes', about: 'the cluster of "moor up", in a script' },
  ],
  run: (flags) =>
    forEnding('delete', flags, async (record) => {
      if (!flags.on('yes') && !(await isConfirmed(questionFor(record)))) {
        process.stderr.write('moor delete: nothing was deleted\n');
        return exitCodes.failure;
      }
      await takeDown(record, async (removed, progress) => {
        const isText = outputOf(flags) === 'text';
        if (isText) process.stdout.write(`Down: ${removedText(removed)}.\n`);
        progress.say(`Removing ${record.dataDir}`);
        await removeData(record.dataDir);
        progress.clear();
        process.stdout.write(isText ? `Deleted ${record.dataDir}.\n` : jsonText({ ...removedFrom(record, removed), deleted: true }));
      });
      return exitCodes.success;
    }),
};

const questionFor = ({ dataDir, hostPathVolumes: volumes }: ClusterRecord): string =>
  `Delete all data in ${dataDir}${volumes === undefined ? '' : `, and its volumes in ${volumes.root}`}?`;

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
