import type { KubeObject } from '../api/object.ts';
import type { RequestInfo } from '../api/request-info.ts';
import type { ApiError, Status } from '../api/status.ts';
import type { Fence, ListMeta, WatchEventType } from '../api/wire.ts';

export type { Fence, ListMeta } from '../api/wire.ts';

/**
 * How a client reaches an API server: over HTTPS (`http-transport.ts`), or by reference in the server's own process
 * (`cluster/access/in-process-transport.ts`). The simulator puts its faults between a client and either of them.
 *
 * Guarantees
 * - Neither call throws or rejects: every failure is an answer.
 * - Objects that come out are deeply frozen; the caller may keep them for ever.
 * - The transport does not change a body, and the caller must not change it afterwards.
 */
export interface Transport {
  send(request: TransportRequest): Promise<Answer>;
  /** Opens a watch. The first events may arrive before it returns; `end` comes exactly once, unless the caller closes. */
  watch(request: TransportRequest, sink: StreamSink): Stream;
}

export interface TransportRequest {
  readonly info: RequestInfo;
  readonly query: URLSearchParams;
  readonly body?: { readonly contentType: string; readonly object: unknown };
  readonly fence?: Fence;
}

export type Answer =
  | { readonly type: 'object'; readonly object: KubeObject }
  | { readonly type: 'list'; readonly items: readonly KubeObject[]; readonly metadata: ListMeta }
  | { readonly type: 'status'; readonly status: Status }
  | { readonly type: 'failed'; readonly error: ApiError }
  /** No answer came: the request may or may not have had its effect. */
  | { readonly type: 'unreachable'; readonly error: Error };

export interface StreamEvent<T extends KubeObject = KubeObject> {
  readonly type: WatchEventType;
  readonly object: T;
}

export interface StreamSink<T extends KubeObject = KubeObject> {
  /** In the order of their revisions; those of one revision may come in several batches. */
  events(batch: readonly StreamEvent<T>[]): void;
  /** Nothing more will come. Undefined: the stream was cut, or its time was up. */
  end(error: ApiError | undefined): void;
}

export interface Stream {
  /** Idempotent; nothing is delivered after it returns. */
  close(): void;
}
