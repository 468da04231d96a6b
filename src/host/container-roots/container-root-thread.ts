/** A worker thread of `ContainerRootThreads`: it makes the root file systems of containers, each in the mount namespace of its first process. */
import { closeSync, openSync, readlinkSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import type { ContainerRootRequest } from './container-root-threads.ts';
import { makeRoot, openSources } from './make-container-root.ts';
import { cloneFileSystem, close, namespaces, setns, unshare } from '../mount-calls.ts';

/** The mount namespace last: the others are found by the /proc of this thread's own. */
const entered = ['ipc', 'net', 'mnt'] as const;

/** Answers requests of the parent thread, one at a time. */
export function runContainerRootThread(): void {
  // setns(2) into a mount namespace needs a file system context that is not shared with other threads.
  unshare(cloneFileSystem);
  const home = entered.map((name) => ({ namespace: openSync(`/proc/thread-self/ns/${name}`, 'r'), type: namespaces[name] }));
  const [own, ownProcesses] = [readlinkSync('/proc/thread-self/ns/mnt'), readlinkSync('/proc/thread-self/ns/pid')];
  const answer = ({ pid, root }: ContainerRootRequest): string => {
    const opened: number[] = [];
    try {
      if (readlinkSync(`/proc/${pid}/ns/mnt`) === own) return 'it has no mount namespace of its own';
      const processes = readlinkSync(`/proc/${pid}/ns/pid`);
      const sources = openSources(root, opened);
      enter(pid);
      makeRoot(root, { sources, processes: processes === ownProcesses ? undefined : processes, opened });
      return '';
    } catch (error) {
      return (error as Error).message;
    } finally {
      for (const each of opened) close(each);
      // If this fails, the thread ends with it.
      for (const { namespace, type } of home) setns(namespace, type);
    }
  };
  parentPort?.on('message', (request: ContainerRootRequest) => parentPort?.postMessage(answer(request)));
  parentPort?.postMessage('');
}

/** File systems such as mqueue and sysfs show the ipc and network namespaces of the thread that mounts them. */
function enter(pid: number): void {
  const found: { readonly namespace: number; readonly type: number }[] = [];
  try {
    for (const name of entered) found.push({ namespace: openSync(`/proc/${pid}/ns/${name}`, 'r'), type: namespaces[name] });
    for (const { namespace, type } of found) setns(namespace, type);
  } finally {
    for (const { namespace } of found) closeSync(namespace);
  }
}
