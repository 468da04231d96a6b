import { isServed } from '../../cluster/life-cycle/cluster-lock.ts';
import type { ClusterRecord } from '../../cluster/life-cycle/cluster-record.ts';
import { TearDownError } from '../../cluster/life-cycle/tear-down.ts';
import { isRunningProcess } from '../../host/process-identity.ts';
import type { Progress } from '../result/progress.ts';

/** Asks the process that serves a cluster to stop, and waits for its end. False: none did. @throws TearDownError if it does not end */
export async function stopServer({ dataDir, process: server }: ClusterRecord, { say }: Progress): Promise<boolean> {
  if (!(await isServed(dataDir))) return false;
  const { pid } = server;
  if (pid === 0 || !isRunningProcess(server))
    throw new TearDownError(`${dataDir} is in use by a process that has not recorded itself yet; try again when it is ready`);
  process.kill(pid, 'SIGTERM');
  say(`Waiting for the end of process ${pid}`);
  const end = performance.now() + longestMs;
  while (isRunningProcess(server)) {
    if (performance.now() > end)
      throw new TearDownError(
        `process ${pid} has not ended ${longestMs / 1000} s after SIGTERM; "kill -9 ${pid}" is safe: the next start continues as after a crash`,
      );
    await new Promise((resolve) => void setTimeout(resolve, checkEveryMs));
  }
  return true;
}

const [checkEveryMs, longestMs] = [20, 60_000];
