import { createReadStream, existsSync, statSync } from 'node:fs';
import { isServed } from '../../cluster/life-cycle/cluster-lock.ts';
import type { Command } from '../command.ts';
import { clusterArgument, dataDirFlag, forCluster, wordsFor } from './cluster-argument.ts';
import { exitCodes } from '../result/exit-codes.ts';

/** `moor logs`: the log of a cluster that runs in the background. */
export const logsCommand: Command = {
  arguments: clusterArgument,
  about: 'Prints the log of a cluster that was started with --detach. A cluster in the foreground logs to its own terminal.',
  flags: [dataDirFlag, { name: 'follow', short: 'f', about: 'go on with new lines until the cluster stops' }],
  examples: [{ line: 'moor logs shop -f', about: 'follow one cluster' }],
  run: (flags) =>
    forCluster('logs', flags, async (record) => {
      const { logFile } = record;
      if (logFile === undefined || !existsSync(logFile)) {
        process.stderr.write(`moor logs: it has no log file: it was started in the foreground, or never; "moor up${wordsFor(record)} --detach" writes one\n`);
        return exitCodes.failure;
      }
      let end = await print(logFile, 0);
      while (flags.on('follow') && (await isServed(record.dataDir))) {
        await new Promise((resolve) => void setTimeout(resolve, checkEveryMs));
        end = await print(logFile, end);
      }
      return exitCodes.success;
    }),
};

const checkEveryMs = 200;

/** Prints a file from an offset. Resolves with its end. */
async function print(file: string, from: number): Promise<number> {
  const { size } = statSync(file);
  if (size <= from) return from;
  for await (const chunk of createReadStream(file, { start: from, end: size - 1 })) process.stdout.write(chunk as Buffer);
  return size;
}
