import { type ErrorCode, RpcError } from '../grpc/status.ts';
import type { World } from '../world/world.ts';

/** Failures after which the operation may still be going on, or may succeed when it is tried again. */
const notFinal: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['Aborted', 'Unavailable', 'DeadlineExceeded', 'Canceled', 'ResourceExhausted']);

export interface SettleOptions extends Pick<World, 'timers' | 'clock'> {
  readonly timeoutMs: number;
}

/** Repeats a call with exponential backoff while its failure is not final. */
export async function settle<T>(call: () => Promise<T>, { timers, clock, timeoutMs }: SettleOptions): Promise<T> {
  const end = clock.monotonic() + timeoutMs;
  for (let waitMs = 5; ; waitMs = Math.min(waitMs * 2, 500)) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof RpcError) || !notFinal.has(error.code)) throw error;
      if (clock.monotonic() > end) throw new RpcError(error.code, `${error.message} (still after ${timeoutMs} ms of repeating the call)`);
      await new Promise<void>((resolve) => void timers.after(waitMs, resolve));
    }
  }
}
