import type { CallOptions, Channel } from '../../grpc/channel.ts';
import { never, type SimulatedProcess } from './process.ts';

export interface ProcessChannelOptions {
  readonly process: SimulatedProcess;
  /** Of every call. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Called before and after each call: the process may be killed there. */
  readonly step: (moment: 'before' | 'after', path: string) => void;
}

/** A channel as a process uses it: without answers once it is dead, or while it is paused. */
export class ProcessChannel implements Channel {
  readonly #channel: Channel;
  readonly #options: ProcessChannelOptions;

  constructor(channel: Channel, options: ProcessChannelOptions) {
    this.#channel = channel;
    this.#options = options;
  }

  async unary(path: string, request: Uint8Array, options: CallOptions = {}): Promise<Uint8Array> {
    const { process, metadata, step } = this.#options;
    step('before', path);
    if (!process.alive) return never();
    const answer = this.#channel.unary(path, request, { ...options, metadata: { ...options.metadata, ...metadata } });
    const outcome = await answer.then(
      (bytes) => ({ bytes }),
      (error: unknown) => ({ error }),
    );
    step('after', path);
    const ended = await process.untilResumed(outcome);
    if ('error' in ended) throw ended.error;
    return ended.bytes;
  }

  stream(path: string, requests: AsyncIterable<Uint8Array>, options: CallOptions = {}): AsyncIterable<Uint8Array> {
    return this.#channel.stream(path, requests, options);
  }

  close(): void {
    this.#channel.close();
  }
}
