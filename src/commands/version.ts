import { kubernetesVersion, version } from '../cluster/version.ts';
import type { Command } from './command.ts';

export const versionCommand: Command = {
  about: 'Prints the version of Mooring, of the Kubernetes whose API it serves, and of Node.js.',
  flags: [],
  examples: [],
  run: () => {
    process.stdout.write(`moor ${version} (Kubernetes ${kubernetesVersion}, Node.js ${process.versions.node})\n`);
    return Promise.resolve(0);
  },
};
