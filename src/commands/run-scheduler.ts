import { type LeaderElectedProcessOptions, runLeaderElectedProcess } from './leader-elected-process.ts';
import { startScheduler } from '../cluster/scheduler.ts';

/** Runs the scheduler against a server elsewhere until a signal ends it. Resolves with the exit code. */
export function runSchedulerProcess(options: LeaderElectedProcessOptions): Promise<number> {
  const { identity } = options;
  return runLeaderElectedProcess(options, {
    ready: 'The scheduler is ready',
    start: async (connections, { world, bindsTogether }) => {
      await connections.identify(['moor-scheduler', 'moor-informers']);
      return startScheduler({ connect: connections.connect, world, bindsTogether, election: { identity }, pageSize: 500 });
    },
  });
}
