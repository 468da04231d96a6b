import { readFileSync } from 'node:fs';
import type { Command } from '../commands/command.ts';

/** Mooring's own version, from package.json. */
export const version: string = (JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }).version;

/** The Kubernetes whose behaviour, fields and messages are served. */
export const kubernetesVersion = '1.36.4';

export const versionCommand: Command = {
  name: 'version',
  summary: 'print the version',
  about: 'Prints the version of Mooring, of the Kubernetes whose API it serves, and of Node.js.',
  flags: [],
  examples: [],
  run: () => {
    process.stdout.write(`moor ${version} (Kubernetes ${kubernetesVersion}, Node.js ${process.versions.node})\n`);
    return Promise.resolve(0);
  },
};
