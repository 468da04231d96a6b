import type { Command } from './command.ts';
import { imagesFlag } from './images-flag.ts';
import { leaderElectionFlags, leaderElectionOptions } from './leader-election-flags.ts';

/** `moor controllers`: the controllers without the server. */
export const controllersCommand: Command = {
  name: 'controllers',
  summary: 'run the controllers apart from the server, as many processes as you like',
  about: `Runs the controllers of "moor up" against a server elsewhere, over HTTPS. Start as many as you like: one leads, by
the Lease kube-system/moor-controllers, and another takes over: in a few seconds if it ended in order, in 15 to 25 if it
died. Our own server refuses whatever a process still writes that no longer leads.

On Mooring each controller acts under a service account of its own in kube-system and may do what its role says; where
the server gives no such tokens, all act as the user of the kubeconfig. It also works with other Kubernetes API servers
(and with "moor up --plain"): then volumes and claims are bound in Kubernetes' four writes.

Drivers that keep data on disk keep it on the machine of the process that leads.`,
  flags: [...leaderElectionFlags, imagesFlag],
  examples: [
    { line: 'moor up --controllers=false', about: 'a server without controllers …' },
    { line: 'moor controllers --kubeconfig ./kubeconfig', about: '… and the controllers; once more in another terminal for one that stands by' },
  ],
  run: async (flags) => {
    const options = await leaderElectionOptions(flags);
    // Loaded here, so that other commands do not wait for it.
    const { runControllersProcess } = await import('./run-controllers.ts');
    return runControllersProcess({ ...options, dataDir: flags.text('data-dir') });
  },
};
