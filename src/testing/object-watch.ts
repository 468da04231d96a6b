import type { Kind } from '../api/kind.ts';
import type { ApiError } from '../api/status.ts';
import type { Selection } from '../client/client.ts';
import type { Stream, StreamEvent } from '../client/transport.ts';
import { clientOf, type ClusterConnection } from './connection.ts';

interface WatchRequest {
  readonly kind: Kind;
  readonly selection: Selection;
  readonly timeoutMs: number;
}

/** A change of an object. */
export interface ObjectEvent<T> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: T;
}

/** More events than that, which the test has not read, end a watch with an error. */
const mostWaiting = 100_000;

/** The changes of objects, one by one. `break` in a loop over it closes it. */
export class ObjectWatch<T> implements AsyncIterableIterator<ObjectEvent<T>> {
  readonly #connection: ClusterConnection;
  readonly #timeoutMs: number;
  readonly #waiting: ObjectEvent<T>[] = [];
  #stream: Stream | undefined;
  #end: { readonly error: ApiError | Error | undefined } | undefined;
  #arrived: () => void = () => undefined;

  private constructor(connection: ClusterConnection, timeoutMs: number) {
    this.#connection = connection;
    this.#timeoutMs = timeoutMs;
  }

  /** @internal */
  static async open<T>(connection: ClusterConnection, { kind, selection, timeoutMs }: WatchRequest): Promise<ObjectWatch<T>> {
    const watch = new ObjectWatch<T>(connection, timeoutMs);
    const client = clientOf(connection);
    const listed = await connection.run(() => client.list(kind, selection));
    if (!listed.ok) throw listed.error;
    watch.#stream = client.watch(
      kind,
      { ...selection, resourceVersion: listed.value.metadata.resourceVersion ?? '' },
      { events: (batch) => watch.#receive(batch), end: (error) => watch.#finish(error) },
    );
    return watch;
  }

  /** Done when the watch was closed, the server ended it, or nothing came in time. @throws ApiError if the server refused it */
  async next(): Promise<IteratorResult<ObjectEvent<T>, undefined>> {
    if (this.#waiting.length === 0 && this.#end === undefined) await this.#connection.run(() => this.#somethingCame());
    const event = this.#waiting.shift();
    if (event !== undefined) return { done: false, value: event };
    this.close();
    if (this.#end?.error !== undefined) throw this.#end.error;
    return { done: true, value: undefined };
  }

  async return(): Promise<IteratorResult<ObjectEvent<T>, undefined>> {
    this.close();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Idempotent. */
  close(): void {
    this.#stream?.close();
    this.#end ??= { error: undefined };
  }

  #somethingCame(): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#connection.world.timers.after(this.#timeoutMs, resolve);
      this.#arrived = () => {
        cancel();
        resolve();
      };
    });
  }

  #receive(batch: readonly StreamEvent[]): void {
    for (const { type, object } of batch) if (type !== 'BOOKMARK') this.#waiting.push({ type, object: object as T });
    if (this.#waiting.length > mostWaiting) {
      this.close();
      this.#end = { error: new Error(`the test has not read ${mostWaiting} events of its watch`) };
    }
    // A bookmark is no event of an object.
    if (this.#waiting.length > 0) this.#arrived();
  }

  #finish(error: ApiError | undefined): void {
    this.#end ??= { error };
    this.#arrived();
  }
}
