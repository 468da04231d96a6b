import { type ClusterRecord, isServed } from '../../cluster/life-cycle/cluster-record.ts';

/** Asks the process that serves a cluster to stop, and waits for its end. False: none did. @throws if it does not end */
export async function stopServer(record: ClusterRecord): Promise<boolean> {
  if (!isServed(record)) return false;
  const { pid } = record.process;
  process.kill(pid, 'SIGTERM');
  for (let waited = 0; isServed(record); waited += checkEveryMs) {
    if (waited > longestMs)
      throw new Error(`process ${pid} has not ended ${longestMs / 1000} s after SIGTERM; "kill -9 ${pid}" is safe: the next start continues as after a crash`);
    await new Promise((resolve) => void setTimeout(resolve, checkEveryMs));
  }
  return true;
}

const [checkEveryMs, longestMs] = [20, 60_000];
