import type { CallOptions, Channel } from '../grpc/channel.ts';
import { RpcError } from '../grpc/status.ts';
import type { Timers } from '../world/world.ts';

/**
 * What happens to one call between the test and the driver.
 * - drop: the driver's answer is lost
 * - delay: the answer is late
 * - duplicate: the driver gets the request twice at the same time
 * - cut: the connection ends after `afterMs`, and the answer is lost, whether the driver gave it or not
 * - cancel: the call is cancelled after `afterMs`
 */
export type NetworkFault = { readonly type: 'drop' | 'duplicate' } | { readonly type: 'delay' | 'cut' | 'cancel'; readonly afterMs: number };

export interface ProxyOptions {
  /** Opens a connection to the driver. */
  readonly connect: () => Channel;
  readonly timers: Timers;
  /** Of each call that has none of its own. */
  readonly timeoutMs: number;
}

/** Stands between test and driver: passes calls on, and injects faults into them. */
export class Proxy implements Channel {
  readonly #options: ProxyOptions;
  #channel: Channel | undefined;
  #fault: NetworkFault | undefined;

  constructor(options: ProxyOptions) {
    this.#options = options;
  }

  /** The next call gets this fault. */
  inject(fault: NetworkFault): void {
    this.#fault = fault;
  }

  async unary(path: string, request: Uint8Array, options: CallOptions = {}): Promise<Uint8Array> {
    const fault = this.#fault;
    this.#fault = undefined;
    const call = (own: CallOptions = {}): Promise<Uint8Array> =>
      this.#connected().unary(path, request, { timeoutMs: this.#options.timeoutMs, ...options, ...own });
    switch (fault?.type) {
      case undefined:
        return call();
      case 'drop':
        await call();
        throw new RpcError('DeadlineExceeded', 'the proxy dropped the answer');
      case 'delay': {
        const answer = await call();
        await this.#wait(fault.afterMs);
        return answer;
      }
      case 'duplicate':
        return firstOf(await Promise.allSettled([call(), call()]));
      case 'cut': {
        const answer = call().catch(() => undefined);
        await this.#wait(fault.afterMs);
        this.close();
        await answer;
        throw new RpcError('Unavailable', 'the proxy cut the connection');
      }
      case 'cancel': {
        const abort = new AbortController();
        const answer = call({ signal: abort.signal }).catch(() => undefined);
        await Promise.race([answer, this.#wait(fault.afterMs)]);
        abort.abort();
        await answer;
        throw new RpcError('Canceled', 'the proxy cancelled the call');
      }
    }
  }

  stream(path: string, requests: AsyncIterable<Uint8Array>, options?: CallOptions): AsyncIterable<Uint8Array> {
    return this.#connected().stream(path, requests, options);
  }

  close(): void {
    this.#channel?.close();
    this.#channel = undefined;
  }

  #connected(): Channel {
    this.#channel ??= this.#options.connect();
    return this.#channel;
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#options.timers.after(ms, resolve));
  }
}

/** One of two equal requests may be refused while the other is in flight. */
function firstOf(answers: readonly PromiseSettledResult<Uint8Array>[]): Uint8Array {
  for (const answer of answers) if (answer.status === 'fulfilled') return answer.value;
  const [first] = answers;
  throw first?.status === 'rejected' ? first.reason : new RpcError('Internal', 'no answer');
}
