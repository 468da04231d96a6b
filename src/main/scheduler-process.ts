import { type LedProcessOptions, runLedProcess } from './led-process.ts';
import { startScheduler } from './scheduler.ts';

/** Runs the scheduler against a server elsewhere until a signal ends it. Resolves with the exit code. */
export function runSchedulerProcess(options: LedProcessOptions): Promise<number> {
  const { identity } = options;
  return runLedProcess(options, {
    ready: 'The scheduler is ready',
    start: async (connections, { world, bindsTogether }) => {
      await connections.identify(['moor-scheduler', 'moor-informers']);
      return startScheduler({ connect: connections.connect, world, bindsTogether, election: { identity }, pageSize: 500 });
    },
  });
}
