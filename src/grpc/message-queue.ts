import type { RpcError } from './status.ts';

export interface MessageSource {
  /** The queue is full: the peer has to wait. */
  pause(): void;
  resume(): void;
  /** The reader has left before the end. */
  cancel(): void;
}

interface Reader {
  resolve(result: IteratorResult<Uint8Array, undefined>): void;
  reject(error: RpcError): void;
}

/** The reader may be so many messages behind before the source is paused. */
const fullAt = 16;

/** The received messages of a call on their way to one reader. */
export class MessageQueue implements AsyncIterableIterator<Uint8Array> {
  readonly #source: MessageSource;
  #messages: Uint8Array[] = [];
  /** `failure`: the queue throws it after the last message. */
  #end: { readonly failure: RpcError | undefined } | undefined;
  #reader: Reader | undefined;
  #paused = false;

  constructor(source: MessageSource) {
    this.#source = source;
  }

  push(message: Uint8Array): void {
    if (this.#end !== undefined) return;
    const reader = this.#takeReader();
    if (reader !== undefined) return reader.resolve({ done: false, value: message });
    this.#messages.push(message);
    if (this.#paused || this.#messages.length < fullAt) return;
    this.#paused = true;
    this.#source.pause();
  }

  /** No message follows. */
  end(failure?: RpcError): void {
    if (this.#end !== undefined) return;
    this.#end = { failure };
    const reader = this.#takeReader();
    if (reader === undefined) return;
    if (failure === undefined) reader.resolve({ done: true, value: undefined });
    else reader.reject(failure);
  }

  next(): Promise<IteratorResult<Uint8Array, undefined>> {
    const message = this.#messages.shift();
    if (message !== undefined) {
      if (this.#paused && this.#messages.length === 0) {
        this.#paused = false;
        this.#source.resume();
      }
      return Promise.resolve({ done: false, value: message });
    }
    if (this.#end?.failure !== undefined) {
      const { failure } = this.#end;
      this.#end = { failure: undefined };
      return Promise.reject(failure);
    }
    if (this.#end !== undefined) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve, reject) => (this.#reader = { resolve, reject }));
  }

  return(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.#messages = [];
    if (this.#end === undefined) {
      this.end();
      this.#source.cancel();
    }
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #takeReader(): Reader | undefined {
    const reader = this.#reader;
    this.#reader = undefined;
    return reader;
  }
}
