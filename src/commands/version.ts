import { kubernetesVersion, version } from '../cluster/version.ts';
import type { Command } from './command.ts';
import { outputFlag, outputOf, printData } from './result/output.ts';
import { exitCodes } from './result/exit-codes.ts';

export const versionCommand: Command = {
  about: 'Prints the version of Mooring, of the Kubernetes whose API it serves, and of Node.js.',
  flags: [outputFlag],
  examples: [{ line: 'moor version -o json | jq -r .kubernetes', about: 'the version of the API' }],
  run: (flags) => {
    const versions = { version, kubernetes: kubernetesVersion, node: process.versions.node };
    printData(outputOf(flags), versions, ({ kubernetes, node }) => `moor ${version} (Kubernetes ${kubernetes}, Node.js ${node})\n`);
    return Promise.resolve(exitCodes.success);
  },
};
