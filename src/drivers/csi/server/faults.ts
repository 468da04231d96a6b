/** Latencies and failures of calls, for the hollow driver: a YAML or JSON file, by the name of the call or '*'. */
import type { CallHandler } from '../../../grpc/channel.ts';
import { codes, type ErrorCode, RpcError } from '../../../grpc/status.ts';
import type { World } from '../../../world/world.ts';

export type CallFaults = Readonly<Record<string, CallFault>>;

export interface CallFault {
  /** Before the answer. */
  readonly latencyMs?: number;
  readonly failure?: {
    /** At least 0, at most 1. */
    readonly probability: number;
    readonly code: ErrorCode;
    readonly message?: string;
    /** The call takes effect before it fails. */
    readonly afterEffect?: boolean;
  };
}

/** Throws an Error that names the field. */
export function parseCallFaults(value: unknown): CallFaults {
  const calls = objectAt(value, 'the file');
  for (const [call, fault] of Object.entries(calls)) {
    const { latencyMs = 0, failure, ...unknown } = objectAt(fault, call);
    refuseUnknown(unknown, call, 'latencyMs, failure');
    if (typeof latencyMs !== 'number' || !(latencyMs >= 0)) throw new Error(`${call}.latencyMs: ${JSON.stringify(latencyMs)} is no number of milliseconds`);
    if (failure === undefined) continue;
    const { probability, code, message = '', afterEffect = false, ...others } = objectAt(failure, `${call}.failure`);
    refuseUnknown(others, `${call}.failure`, 'probability, code, message, afterEffect');
    if (typeof probability !== 'number' || !(probability >= 0 && probability <= 1)) throw new Error(`${call}.failure.probability: not between 0 and 1`);
    if (code === 'OK' || !codes.some((each) => each === code))
      throw new Error(`${call}.failure.code: ${JSON.stringify(code)} is none of ${codes.slice(1).join(', ')}`);
    if (typeof message !== 'string' || typeof afterEffect !== 'boolean') throw new Error(`${call}.failure: message is a text, afterEffect true or false`);
  }
  return calls as CallFaults;
}

function objectAt(value: unknown, field: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error(`${field}: an object is expected`);
  return value as Record<string, unknown>;
}

function refuseUnknown(fields: Readonly<Record<string, unknown>>, at: string, known: string): void {
  const [name] = Object.keys(fields);
  if (name !== undefined) throw new Error(`${at}.${name} is unknown: there are ${known}`);
}

export function withFaults(handlers: ReadonlyMap<string, CallHandler>, faults: CallFaults, { timers, random }: World): ReadonlyMap<string, CallHandler> {
  return new Map(
    Array.from(handlers, ([path, handler]) => {
      const { latencyMs = 0, failure } = faults[path.slice(path.lastIndexOf('/') + 1)] ?? faults['*'] ?? {};
      const faulty: CallHandler = async function* answer(call) {
        const fails = failure !== undefined && random.float() < failure.probability;
        if (latencyMs > 0) await new Promise<void>((resolve) => void timers.after(latencyMs, resolve));
        if (!fails || failure.afterEffect === true) {
          for await (const message of handler(call)) if (!fails) yield message;
        }
        if (fails) throw new RpcError(failure.code, failure.message ?? 'a failure of the configuration');
      };
      return [path, latencyMs === 0 && failure === undefined ? handler : faulty];
    }),
  );
}
