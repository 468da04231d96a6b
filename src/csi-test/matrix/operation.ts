import type { ErrorCode } from '../../grpc/status.ts';
import type { Bench } from '../bench.ts';
import type { Need } from '../capabilities.ts';
import type { Clause } from '../clauses.ts';
import type { Proxy } from '../proxy.ts';

/** A call of the matrix: it is repeated, made with other arguments, interrupted, undone. */
export interface Operation {
  /** 'CreateVolume', or 'CreateVolume from snapshot' */
  readonly call: string;
  readonly clause: Clause;
  readonly needs: readonly Need[];
  /** Brings a volume to where the call is possible. */
  prepare(bench: Bench): Promise<Prepared>;
}

export interface Prepared {
  /** The call, always with the same arguments. Resolves with what must be the same each time. */
  perform(): Promise<unknown>;
  /** The same with arguments that do not fit what was made. */
  readonly other?: {
    readonly what: string;
    readonly clause: Clause;
    readonly codes: readonly ErrorCode[];
    perform(): Promise<unknown>;
  };
  /** The negating call, after which the call may be made again. Absent: nothing undoes it. */
  readonly inverse?: () => Promise<unknown>;
  /** What must hold after the call. */
  check(): Promise<void>;
  /** Through which the call goes. */
  readonly proxy: Proxy;
}
