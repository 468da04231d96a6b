import type { Duplex } from 'node:stream';
import type { InitProcess } from '../init/launcher.ts';
import { type InitFailure, type Report, reportReader } from '../init/reports.ts';
import { exitCodeOf } from '../protocol.ts';
import { signalNumber } from './processes.ts';

export interface InitEnd {
  /** The first step that failed. */
  readonly failure: InitFailure | undefined;
  /** The container's program has been executed. */
  readonly hasExecuted: boolean;
  /** Of the program, if it has been executed; else of the init. */
  readonly exitCode: number;
}

export interface InitListener {
  /** The container's first process exists, and waits. Resolves with whether it may go on. */
  readonly onProcess?: (pid: number) => Promise<boolean>;
  readonly onExecuted?: () => void;
  /** It has ended, and its streams are closed. */
  readonly onEnd: (end: InitEnd) => void;
  /** It could not be started. */
  readonly onError: (message: string) => void;
}

/** Reads what an init reports. */
export function followInit({ child, stepAt }: InitProcess, listener: InitListener): void {
  const channel = child.stdio[3] as Duplex;
  let failure: InitFailure | undefined;
  let [isExecuting, hasExecuted] = [false, false];
  let ended: number | undefined;
  const receive = (report: Report): void => {
    switch (report.type) {
      case 'process':
        return void listener.onProcess?.(report.pid).then((isReady) => isReady && channel.write('.'));
      case 'failed':
        failure ??= report.failure;
        return undefined;
      case 'executing':
        isExecuting = true;
        return undefined;
      case 'executed':
        hasExecuted = isExecuting && failure === undefined;
        return hasExecuted ? listener.onExecuted?.() : undefined;
      case 'ended':
        ended = report.exitCode;
        return undefined;
    }
  };
  channel.on('error', () => undefined);
  channel.on('data', reportReader(stepAt, receive));
  child.on('error', (error) => listener.onError(error.message));
  child.on('close', (code, name) => listener.onEnd({ failure, hasExecuted, exitCode: ended ?? exitCodeOf(code, signalNumber(name)) }));
}
