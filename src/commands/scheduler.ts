import type { Command } from './command.ts';
import { leaderElectionFlags, leaderElectionOptions } from './leader-election-flags.ts';

/** `moor scheduler`: the scheduler without the server. */
export const schedulerCommand: Command = {
  name: 'scheduler',
  summary: 'run the scheduler apart from the server, as many processes as you like',
  about: `Runs the scheduler of "moor up" against a server elsewhere, over HTTPS. Start as many as you like: one decides, by
the Lease kube-system/moor-scheduler, and another takes over: in a few seconds if it ended in order, in 15 to 25 if it
died. Our own server refuses whatever a process still writes that no longer leads.

It gives nodes to the pods whose schedulerName is default-scheduler. On Mooring it acts under a service account of its
own in kube-system; where the server gives no such tokens, as the user of the kubeconfig. It also works with other
Kubernetes API servers (and with "moor up --plain"); stop their own scheduler first, or the two will get in each other's way.`,
  flags: leaderElectionFlags,
  examples: [
    { line: 'moor up --scheduler=false', about: 'a server with its controllers, but without a scheduler …' },
    { line: 'moor scheduler --kubeconfig ./kubeconfig', about: '… and the scheduler; once more in another terminal for one that stands by' },
  ],
  run: async (flags) => {
    const options = await leaderElectionOptions(flags);
    // Loaded here, so that other commands do not wait for it.
    const { runSchedulerProcess } = await import('./run-scheduler.ts');
    return runSchedulerProcess(options);
  },
};
