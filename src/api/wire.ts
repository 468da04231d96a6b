/** What API server and client say to each other besides objects and the request's target. */

/** The leader under whose epoch a request writes (docs/EXTENSIONS.md). `lease`: 'kube-system/moor-controllers'; `epoch`: the store revision at which it was acquired. */
export interface Fence {
  readonly lease: string;
  readonly epoch: number;
}

export interface ListMeta {
  readonly resourceVersion: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

export type WatchEventType = 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
