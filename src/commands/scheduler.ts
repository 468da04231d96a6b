import { startScheduler } from '../cluster/scheduler.ts';
import type { Command } from './command.ts';
import { type LeaderElectedProcessOptions, leaderElectionFlags, leaderElectionOptions, runLeaderElectedProcess } from './leader-elected-process.ts';
import { type ExitCode } from './result/exit-codes.ts';

/** `moor scheduler`: the scheduler without the API server. */
export const schedulerCommand: Command = {
  about: `Runs the scheduler of "moor up" against an API server elsewhere, over HTTPS. Start as many processes as you like: one
leads, by the Lease kube-system/moor-scheduler. Another one takes over in a few seconds if the leader stopped cleanly, in 15
to 25 if it died. Mooring's API server rejects writes of a process that no longer leads.

It schedules the pods whose schedulerName is default-scheduler. On Mooring it acts under its own ServiceAccount in
kube-system; where the server issues no such tokens, as the user of the kubeconfig. It also works with other Kubernetes API
servers (and with "moor up --plain"): stop their own scheduler first, since two of them would bind the same pods.`,
  flags: leaderElectionFlags,
  examples: [
    { line: 'moor up --scheduler=false', about: 'an API server with controllers, but without a scheduler …' },
    { line: 'moor scheduler --kubeconfig ./kubeconfig', about: '… and the scheduler; again in another terminal for a standby' },
  ],
  run: (flags) => runScheduler(leaderElectionOptions(flags)),
};

/** Runs the scheduler against an API server elsewhere until a signal ends it. Resolves with the exit code. */
function runScheduler(options: LeaderElectedProcessOptions): Promise<ExitCode> {
  const { identity } = options;
  return runLeaderElectedProcess(options, {
    ready: 'The scheduler is ready',
    start: async (connections, { world, bindsTogether }) => {
      await connections.identify(['moor-scheduler', 'moor-informers']);
      return startScheduler({ connect: connections.connect, world, bindsTogether, election: { identity }, pageSize: 500 });
    },
  });
}
