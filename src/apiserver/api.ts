import type { Kind } from '../api/kind.ts';
import type { KubeObject } from '../api/object.ts';
import type { Stored } from '../api/stored.ts';
import type { RequestInfo } from '../api/request-info.ts';
import type { Status } from '../api/status.ts';
import type { Fence, ListMeta, WatchEventType } from '../api/wire.ts';

export type { Fence, ListMeta, WatchEventType } from '../api/wire.ts';

/**
 * The API below HTTP: what a request for a resource is once it was received and authenticated, and what comes of it.
 * The HTTP layer, the controllers in the server's process and the simulator call the same `Api`; objects pass by
 * reference and are frozen, and only the HTTP layer ever asks for bytes.
 */
export interface Api {
  /** @throws ApiError for everything that a Status answers. */
  handle(request: ApiRequest): Promise<ApiResponse>;
}

export interface ApiRequest {
  readonly info: RequestInfo;
  readonly query: URLSearchParams;
  readonly user: User;
  readonly body: RequestBody;
  readonly userAgent: string;
  /** The leader under whose epoch this request writes (docs/EXTENSIONS.md): refused once another leader took over. */
  readonly fence?: Fence;
  /** Adds an annotation to the audit event; absent: there is no audit log. */
  readonly annotate?: Annotate | undefined;
}

/** `level`: the audit level from which on the annotation is recorded. The first value of a key stays. */
export type Annotate = (key: string, value: string, level?: 'Metadata' | 'Request') => void;

export type RequestBody =
  | { readonly type: 'none' }
  /** `contentType` without parameters. JSON, YAML, protobuf, or one of the patch types. */
  | { readonly type: 'bytes'; readonly contentType: string; readonly bytes: Uint8Array }
  /** From the server's own process: plain data that the caller does not touch again. */
  | { readonly type: 'object'; readonly contentType: string; readonly object: unknown };

export interface User {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

export type ApiResponse =
  | { readonly type: 'object'; readonly code: number; readonly kind: Kind; readonly stored: ObjectRevision; readonly warnings: readonly string[] }
  | { readonly type: 'list'; readonly kind: Kind; readonly items: readonly ObjectRevision[]; readonly metadata: ListMeta; readonly warnings: readonly string[] }
  | { readonly type: 'status'; readonly status: Status; readonly warnings: readonly string[] }
  | { readonly type: 'watch'; readonly kind: Kind; readonly start: (sink: WatchSink) => OpenWatch; readonly warnings: readonly string[] }
  /** An object that is no stored kind: Scale, TokenRequest, Eviction, Binding. */
  | { readonly type: 'plain'; readonly code: number; readonly object: KubeObject; readonly warnings: readonly string[] };

/** One revision of one object: decoded once, encoded once. */
export interface ObjectRevision<T extends KubeObject = KubeObject> {
  /** Deeply frozen; its metadata.resourceVersion is `revision`. A dry run's has none, and a bookmark's has nothing else. */
  readonly object: Stored<T>;
  readonly revision: number;
  /** The object as JSON. */
  json(): Uint8Array;
  /** The same without a copy, where there is no such form in memory. */
  readonly splice?: Splice | undefined;
}

/** JSON with the revision put in, as `"resourceVersion":"7",`, at a place right behind `"metadata":{`. */
export interface Splice {
  readonly bytes: Uint8Array;
  readonly at: number;
}

/** All watchers that see the same change in the same way get the same object; what is encoded from it is kept in `memo`. */
export interface WatchEvent {
  readonly type: WatchEventType;
  readonly stored: ObjectRevision;
  memo: unknown;
}

export interface WatchSink {
  /** Events of one revision together. */
  events(batch: readonly WatchEvent[]): void;
  /** Nothing more will come: time is up (no status), or an error to send first (410). */
  end(status: Status | undefined): void;
  /** Resolves when there is room again. The initial state of a large collection waits for it; without it, nothing waits. */
  drained?(): Promise<void>;
}

export interface OpenWatch {
  stop(): void;
}
