import type { InitProcess } from '../init/launcher.ts';
import { type InitFailure, type Report, reportReader } from '../init/reports.ts';
import { childrenOf, hasOwnMounts } from './processes.ts';

export interface InitEnd {
  /** The first step that failed. */
  readonly failure: InitFailure | undefined;
  /** The container's program has been executed. */
  readonly hasExecuted: boolean;
  /** Of the program, if it has been executed; else of the init. */
  readonly exitCode: number;
}

export interface InitListener {
  /** The process that waits is the one that executes the program. */
  readonly waitsItself: boolean;
  /** Whether a process is one of the container, and not one of the host's that the init made too. */
  readonly isInside?: (pid: number) => boolean;
  /** A process has its namespaces, and waits. Resolves with whether it may go on. 0: it is the one that was launched. */
  readonly onWaiting?: (pid: number) => Promise<boolean>;
  /** The process that has executed the program. It exists until `onProgramEnd`. */
  readonly onProgram?: (pid: number) => void;
  readonly onProgramEnd?: () => void;
  readonly onExecuted?: () => void;
  /** It has ended, and its streams are closed. */
  readonly onEnd: (end: InitEnd) => void;
}

/** Reads what an init reports. Its last process, which a process of the container may trace, has the channel too: no report is believed that could lead to a process of the host. */
export function followInit({ child, stepAt }: InitProcess, listener: InitListener): void {
  const { channel } = child;
  let failure: InitFailure | undefined;
  let [isExecuting, hasExecuted] = [false, false];
  let waiting: number | undefined;
  let ended: number | undefined;
  /** A process that waited for another to become the program is none: it has other namespaces. */
  const { isInside = hasOwnMounts } = listener;
  const isProgram = (pid: number): boolean => (listener.waitsItself ? pid === 0 : pid !== waiting && childrenOf(child.pid ?? 0).includes(pid) && isInside(pid));
  const receive = (report: Report): void => {
    switch (report.type) {
      case 'waiting':
        if (waiting !== undefined) return undefined;
        waiting = report.pid;
        if (failure !== undefined) return void channel.end();
        return void listener.onWaiting?.(report.pid).then((isReady) => (isReady ? channel.write('.') : channel.end()));
      case 'failed':
        failure ??= report.failure;
        return undefined;
      case 'executing':
        isExecuting = true;
        return undefined;
      case 'executed':
        if (!isExecuting || failure !== undefined) return undefined;
        if (hasExecuted || !isProgram(report.pid)) return undefined;
        hasExecuted = true;
        listener.onProgram?.(report.pid || (waiting ?? 0));
        return listener.onExecuted?.();
      case 'ended':
        ended = report.exitCode;
        listener.onProgramEnd?.();
        return void channel.end();
    }
  };
  channel.on('error', () => undefined);
  const read = reportReader(stepAt, receive);
  channel.on('data', (chunk: Buffer) => {
    try {
      read(chunk);
    } catch {
      channel.destroy(); // Not a report: the init ends.
    }
  });
  child.onClose((exitCode) => listener.onEnd({ failure, hasExecuted, exitCode: ended ?? exitCode }));
}
