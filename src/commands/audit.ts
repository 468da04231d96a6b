import type { Command } from './command.ts';
import { accessFlags, accessOf } from './cluster-access.ts';
import { imagesFlag } from './images-flag.ts';

/** `moor audit`: does this machine hold storage that no object of the cluster accounts for? */
export const auditCommand: Command = {
  name: 'audit',
  summary: 'list storage without an owner, and intents that nobody finishes',
  about: `Compares what the storage drivers of this machine hold with the cluster's PersistentVolumes and VolumeIntents, and
names whatever nobody will ever delete or finish. It only reads. Run it on the machine of "moor up": drivers that keep
data on disk see only their own. Storage that other clusters made is left out.

The exit code is 0 if everything has an owner; 1 if not, or if the cluster gives no answer.`,
  flags: [...accessFlags, imagesFlag],
  examples: [
    { line: 'moor audit', about: 'the cluster that kubectl would talk to' },
    { line: 'moor audit --kubeconfig ./kubeconfig && echo clean', about: 'a check at the end of a test suite' },
  ],
  run: async (flags) => {
    const access = await accessOf(flags);
    // Loaded here, so that other commands do not wait for it.
    const { runAudit } = await import('./run-audit.ts');
    return runAudit(access, flags.text('data-dir'));
  },
};
