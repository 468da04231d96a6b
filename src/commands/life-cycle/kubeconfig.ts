import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { Command } from '../command.ts';
import { outputFlag, outputOf, printData } from '../result/output.ts';
import { clusterArgument, dataDirFlag, forCluster } from './cluster-argument.ts';
import { exitCodes } from '../result/exit-codes.ts';

/** `moor kubeconfig`: how kubectl reaches a cluster. */
export const kubeconfigCommand: Command = {
  arguments: clusterArgument,
  about: 'Prints the kubeconfig of a cluster, with the rights of its administrator.',
  flags: [dataDirFlag, { name: 'path', about: 'print the path of the file instead' }, outputFlag],
  examples: [
    { line: 'export KUBECONFIG=$(moor kubeconfig --path)', about: 'for kubectl in this shell' },
    { line: 'moor kubeconfig shop > shop.yaml', about: 'a copy of it' },
  ],
  run: (flags) =>
    forCluster('kubeconfig', flags, async (record) => {
      try {
        const output = outputOf(flags);
        if (flags.on('path')) printData(output, { path: record.kubeconfig }, ({ path }) => `${path}\n`);
        else {
          const text = readFileSync(record.kubeconfig, 'utf8');
          printData<unknown>(output, parse(text), () => text);
        }
        return exitCodes.success;
      } catch (error) {
        process.stderr.write(`moor kubeconfig: ${(error as Error).message}\n`);
        return exitCodes.failure;
      }
    }),
};
