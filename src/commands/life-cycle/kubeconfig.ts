import { readFileSync } from 'node:fs';
import type { Command } from '../command.ts';
import { clusterArgument, dataDirFlag, forCluster } from './cluster-argument.ts';

/** `moor kubeconfig`: how kubectl reaches a cluster. */
export const kubeconfigCommand: Command = {
  arguments: clusterArgument,
  about: 'Prints the kubeconfig of a cluster, with the rights of its administrator.',
  flags: [dataDirFlag, { name: 'path', about: 'print the path of the file instead' }],
  examples: [
    { line: 'export KUBECONFIG=$(moor kubeconfig --path)', about: 'for kubectl in this shell' },
    { line: 'moor kubeconfig shop > shop.yaml', about: 'a copy of it' },
  ],
  run: (flags) =>
    forCluster('kubeconfig', flags, async (record) => {
      try {
        process.stdout.write(flags.on('path') ? `${record.kubeconfig}\n` : readFileSync(record.kubeconfig, 'utf8'));
        return 0;
      } catch (error) {
        process.stderr.write(`moor kubeconfig: ${(error as Error).message}\n`);
        return 1;
      }
    }),
};
