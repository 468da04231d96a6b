import type { CallHandler, ServerCall } from '../../../grpc/channel.ts';
import { RpcError } from '../../../grpc/status.ts';
import { never } from '../../world/process.ts';
import type { ReportCsiEvent } from './backend.ts';
import type { CallFaults } from './call-faults.ts';

/** Metadata of every call in the simulation: the run of the process that made it. */
export const callerHeader = 'simulated-process';

export interface CallTarget {
  /** 'CreateVolume' */
  readonly call: string;
  /** Volume or snapshot. */
  readonly id: string;
  /** What is done one after the other: 'volume a.disk-1'. */
  readonly key: string;
}

interface RunningCall {
  readonly call: string;
  readonly caller: string;
  readonly signal: AbortSignal;
}

/** The calls of one server of a driver: one at a time for each key, as CSI demands of drivers. The others are answered with Aborted. */
export class SerialCalls {
  readonly #faults: CallFaults;
  readonly #report: ReportCsiEvent;
  readonly #running = new Map<string, RunningCall>();
  /** Of the server's process: an effect of an earlier one does not happen. */
  #run = 0;

  constructor(faults: CallFaults, report: ReportCsiEvent) {
    this.#faults = faults;
    this.#report = report;
  }

  /** The server was killed: nothing of it is under way. */
  restart(): void {
    this.#run++;
    this.#running.clear();
  }

  async perform<T>({ call, id, key }: CallTarget, { metadata, signal }: ServerCall, effect: () => Promise<T> | T): Promise<T> {
    const caller = metadata[callerHeader] ?? '';
    const other = this.#running.get(key);
    if (other !== undefined) {
      // A caller that still waits for an answer has to know that it does.
      if (!other.signal.aborted && other.caller === caller) this.#report(id, { do: 'concurrent', calls: `${other.call} and ${call} for ${key}` });
      throw new RpcError('Aborted', `an operation for ${key} is under way`);
    }
    const run = this.#run;
    const mine = { call, caller, signal };
    this.#running.set(key, mine);
    const stillRuns = async (): Promise<void> => {
      if (run !== this.#run) await never();
    };
    try {
      const value = await this.#faults.perform(signal, async () => {
        await stillRuns();
        return effect();
      });
      await stillRuns();
      return value;
    } finally {
      if (this.#running.get(key) === mine) this.#running.delete(key);
    }
  }
}

/** Handlers that answer twice, or with garbage, when that fault is due. Others reach the effect. */
export function withWireFaults(
  handlers: ReadonlyMap<string, CallHandler>,
  faults: CallFaults,
  changes: (path: string) => boolean,
): ReadonlyMap<string, CallHandler> {
  return new Map(
    Array.from(handlers, ([path, handler]): [string, CallHandler] => [
      path,
      async function* handle(call) {
        if (!changes(path)) return yield* handler(call);
        const fault = faults.draw(call.signal);
        for await (const answer of handler(call)) {
          yield fault?.what === 'garbage' ? new Uint8Array([0xff, 0xff, 0xff]) : answer;
          if (fault?.what === 'twice') yield answer;
        }
        return undefined;
      },
    ]),
  );
}
